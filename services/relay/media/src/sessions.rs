//! Who is here: admission, the table of sessions, and their end (MED-10 to MED-18, MED-50, MED-51).
use anyhow::Result;
use moq_net::goaway::Goaway;
use moq_net::{Error, Pattern, Patterns, cache, origin};
use moq_tokio::server::{Reject, Request};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
use url::form_urlencoded;

use crate::metrics::{Kind, Meter, Report, Traffic};
use crate::{Admission, Credential, Grant, Limits, Pass, Refusal, patterns};

/// The relay is about to end.
const GO_ELSEWHERE: Refusal = "GO_ELSEWHERE";
/// Names of broadcasts begin at the root, so the address has no path.
const PATH_INVALID: Refusal = "PATH_INVALID";
/// The token's patterns are none.
const TOKEN_INVALID: Refusal = "TOKEN_INVALID";
/// More is kept than twice `media.cacheBytes`, and this client brings the most.
const POD_MEMORY: Refusal = "POD_MEMORY";
const TOO_MANY_BROADCASTS: Refusal = "TOO_MANY_BROADCASTS";
const TOO_MANY_SESSIONS: Refusal = "TOO_MANY_SESSIONS";
/// The other end left, or was not heard for too long.
const LEFT: Refusal = "LEFT";

/// The sessions that others opened.
pub(crate) struct Sessions {
    origin: origin::Producer,
    cache: cache::Pool,
    admission: Arc<dyn Admission>,
    limits: Limits,
    clients: AtomicUsize,
    ids: AtomicU64,
    live: Mutex<HashMap<u64, Arc<Live>>>,
    count: watch::Sender<usize>,
    /// Where clients are sent, once it drains.
    drain: Mutex<Option<Option<String>>>,
    past: Mutex<Past>,
}

/// What is over.
#[derive(Default)]
struct Past {
    refused: BTreeMap<Refusal, u64>,
    ended: BTreeMap<(Kind, Refusal), u64>,
    traffic: [Traffic; 2],
}

struct Live {
    session: moq_net::Session,
    pass: Box<dyn Pass>,
    kind: Kind,
    transport: &'static str,
    /// What stood in the address, to be taken along.
    query: String,
    meter: Meter,
    /// Payload that it had brought at the last review.
    brought: AtomicU64,
    ended: OnceLock<Refusal>,
}

impl Live {
    fn traffic(&self) -> Traffic {
        self.meter.read(self.session.stats())
    }

    fn end(&self, code: Refusal) {
        if self.ended.set(code).is_ok() {
            self.session.abort(error(code));
        }
    }

    /// Sends it elsewhere (MED-50, MED-51).
    fn send_away(&self, successor: Option<&str>, window: Duration) {
        let address = successor.filter(|_| self.kind == Kind::Client).and_then(|successor| self.taken_to(successor));
        let goaway = address.map_or_else(Goaway::new, Goaway::redirect).with_timeout(window);
        if let Err(error) = self.session.drain().send(goaway) {
            tracing::debug!(%error, "a session was not told to leave");
        }
    }

    fn taken_to(&self, successor: &str) -> Option<String> {
        let mut address = url::Url::parse(successor).ok()?;
        address.set_query(Some(&self.query));
        Some(address.into())
    }
}

/// Whoever may come in.
struct Admitted {
    pass: Box<dyn Pass>,
    kind: Kind,
    publish: Patterns,
    subscribe: Patterns,
}

/// A client's place among `media.sessions`, until dropped.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Sessions {
    pub fn new(origin: origin::Producer, cache: cache::Pool, admission: Arc<dyn Admission>, limits: Limits) -> Self {
        Self {
            origin,
            cache,
            admission,
            limits,
            clients: AtomicUsize::default(),
            ids: AtomicU64::default(),
            live: Mutex::default(),
            count: watch::Sender::default(),
            drain: Mutex::default(),
            past: Mutex::default(),
        }
    }

    /// Clients that are here.
    pub fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    /// Lets somebody in, or not, and stays with it to its end.
    pub async fn serve(&self, request: Request) {
        let admitted = self.admit(&request).and_then(|admitted| Ok((self.place(admitted.kind)?, admitted)));
        match admitted {
            Ok((_place, admitted)) => {
                if let Err(error) = self.carry(request, admitted).await {
                    tracing::debug!(%error, "a session did not begin");
                }
            }
            Err(code) => {
                tracing::debug!(code, remote = ?request.remote_addr(), "a session was refused");
                *self.past.lock().refused.entry(code).or_default() += 1;
                let _ = request.reject(reject(code)).await;
            }
        }
    }

    fn admit(&self, request: &Request) -> Result<Admitted, Refusal> {
        if self.drain.lock().is_some() {
            return Err(GO_ELSEWHERE);
        }
        if !request.path().is_empty() {
            return Err(PATH_INVALID);
        }
        let query = request.query().unwrap_or_default();
        let found = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "jwt" || name == "key");
        let pass = self.admission.judge(match &found {
            Some((name, token)) if name == "jwt" => Credential::Token(token),
            Some((_, key)) => Credential::Key(key),
            None => Credential::None,
        })?;
        let (kind, publish, subscribe) = match pass.grant() {
            Grant::Link => (Kind::Link, Pattern::all().into(), Pattern::all().into()),
            Grant::Client { publish, subscribe } => {
                let scope = |list: &[String]| patterns::scope(list).map_err(|_| TOKEN_INVALID);
                (Kind::Client, scope(&publish)?, scope(&subscribe)?)
            }
        };
        Ok(Admitted { pass, kind, publish, subscribe })
    }

    fn place(&self, kind: Kind) -> Result<Option<Place<'_>>, Refusal> {
        if kind == Kind::Link {
            return Ok(None);
        }
        let more = |count: usize| (count < self.limits.sessions).then_some(count + 1);
        match self.clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Some(Place(&self.clients))),
            Err(_) => Err(TOO_MANY_SESSIONS),
        }
    }

    async fn carry(&self, request: Request, admitted: Admitted) -> Result<()> {
        let Admitted { pass, kind, publish, subscribe } = admitted;
        let link = kind == Kind::Link;
        let meter = Meter::new();
        let transport = request.transport().as_str();
        let query = request.query().unwrap_or_default().to_owned();
        let mut request = request.with_stats(meter.session());
        if let Ok(readable) = self.origin.scope("", &subscribe) {
            request = request.with_publisher(readable.consume().with_hidden(link));
        }
        if let Ok(writable) = self.origin.scope("", &publish) {
            request = request.with_subscriber(if link { writable.peer() } else { writable });
        }
        let session = request.ok().await?;
        let (brought, ended) = (AtomicU64::default(), OnceLock::new());
        let live = Arc::new(Live { session, pass, kind, transport, query, meter, brought, ended });
        let id = self.enter(live.clone());
        let error = live.session.closed().await;
        let told = if self.drain.lock().is_some() { GO_ELSEWHERE } else { LEFT };
        let code = live.ended.get().copied().unwrap_or(told);
        tracing::debug!(id, code, %error, kind = kind.name(), "a session ended");
        self.leave(id, &live, code);
        Ok(())
    }

    fn enter(&self, live: Arc<Live>) -> u64 {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut all = self.live.lock();
        if let Some(successor) = &*self.drain.lock() {
            live.send_away(successor.as_deref(), self.window());
        }
        all.insert(id, live);
        self.count.send_replace(all.len());
        id
    }

    fn leave(&self, id: u64, live: &Live, code: Refusal) {
        {
            let mut all = self.live.lock();
            all.remove(&id);
            self.count.send_replace(all.len());
        }
        let mut past = self.past.lock();
        *past.ended.entry((live.kind, code)).or_default() += 1;
        past.traffic[live.kind as usize].add(live.traffic().over());
    }

    fn all(&self) -> Vec<Arc<Live>> {
        self.live.lock().values().cloned().collect()
    }

    /// Ends those whose pass is over (MED-15) and who publish too much (MED-17, MED-18).
    pub fn review(&self) {
        let all = self.all();
        let mut most = None;
        for live in &all {
            live.meter.prune();
            let traffic = live.traffic();
            let brought = traffic.bytes_in.saturating_sub(live.brought.swap(traffic.bytes_in, Ordering::Relaxed));
            if live.kind == Kind::Client && most.is_none_or(|(other, _)| brought > other) {
                most = Some((brought, live));
            }
            let many = live.kind == Kind::Client && traffic.broadcasts > self.limits.broadcasts as u64;
            if let Some(code) = live.pass.over().or(many.then_some(TOO_MANY_BROADCASTS)) {
                live.end(code);
            }
        }
        // The newest group of each track stays in any case, so those who make it large have to go.
        if let Some((1.., live)) = most
            && self.cache.used() > self.limits.cache_bytes.saturating_mul(2)
        {
            live.end(POD_MEMORY);
        }
    }

    fn window(&self) -> Duration {
        Duration::from_millis(self.limits.drain_window.max(1))
    }

    /// Takes nobody any more and sends all elsewhere; ends when all are gone or the time is over.
    pub async fn drain(&self, successor: Option<String>) {
        let here = {
            let here = self.live.lock();
            *self.drain.lock() = Some(successor.clone());
            here.values().cloned().collect::<Vec<_>>()
        };
        for live in here {
            live.send_away(successor.as_deref(), self.window());
        }
        let mut count = self.count.subscribe();
        let _ = tokio::time::timeout(self.window(), count.wait_for(|count| *count == 0)).await;
    }

    pub fn report(&self, report: &mut Report) {
        for live in self.all() {
            *report.sessions.entry((live.kind.name(), live.transport)).or_default() += 1;
            report.traffic(live.kind).add(live.traffic());
            if live.kind == Kind::Client {
                report.client_rtts.extend(live.session.stats().rtt);
            }
        }
        let past = self.past.lock();
        report.refused.clone_from(&past.refused);
        report.ended.clone_from(&past.ended);
        for kind in Kind::ALL {
            report.traffic(kind).add(past.traffic[kind as usize]);
        }
        report.cache_bytes = self.cache.used();
        report.draining = self.drain.lock().is_some();
    }
}

/// The number of a code in `CONNECTION_CLOSE`; those of tokens have the protocol's own.
fn number(code: Refusal) -> Option<u16> {
    match code {
        PATH_INVALID => Some(404),
        TOO_MANY_BROADCASTS => Some(429),
        GO_ELSEWHERE | POD_MEMORY | TOO_MANY_SESSIONS | "NOT_READY" => Some(503),
        _ => None,
    }
}

fn reject(code: Refusal) -> Reject {
    number(code).map_or(Reject::Unauthorized, Reject::App)
}

fn error(code: Refusal) -> Error {
    number(code).map_or(Error::Unauthorized, Error::App)
}
