//! Who is here: admission, the table of sessions, and their end (MED-10 to MED-18, MED-50, MED-51).
use anyhow::Result;
use moq_net::goaway::Goaway;
use moq_net::{Pattern, Patterns, cache, origin};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use url::form_urlencoded;

use crate::door::arrivals::{Access, Arrival};
use crate::door::aside::Aside;
use crate::door::codes::{
    GOAWAY, LEFT, MEMORY_LIMIT_EXCEEDED, PATH_INVALID, TOKEN_INVALID, TOO_MANY_BROADCASTS, TOO_MANY_SESSIONS,
    TOO_MANY_SUBSCRIPTIONS, error,
};
use crate::door::metrics::{Kind, Meter, Report, Traffic};
use crate::door::{Admission, Credential, Grant, Limits, Pass, Refusal, patterns};

/// Between two looks at who is still needed here while the relay drains.
const DRAIN_LOOK: Duration = Duration::from_millis(50);

/// The sessions that others opened.
pub(crate) struct Sessions {
    origin: origin::Producer,
    cache: cache::Pool,
    admission: Arc<dyn Admission>,
    limits: Limits,
    clients: AtomicUsize,
    ids: AtomicU64,
    live: Mutex<HashMap<u64, Arc<Live>>>,
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
    /// Bytes that came over WebSocket.
    came: Option<Arc<AtomicU64>>,
    /// Payload that it had brought at the last review.
    brought: AtomicU64,
    aside: Mutex<Aside>,
    ended: OnceLock<Refusal>,
}

impl Live {
    fn traffic(&self) -> Traffic {
        self.meter.read(self.session.stats())
    }

    fn wire_in(&self) -> u64 {
        let of_quic = || self.session.stats().bytes_received.unwrap_or_default();
        self.came.as_ref().map_or_else(of_quic, |came| came.load(Ordering::Relaxed))
    }

    /// How much it sent beside media.
    fn aside(&self, mut traffic: Traffic) -> u64 {
        if let Some(came) = &self.came {
            traffic.wire_in = came.load(Ordering::Relaxed);
        }
        self.aside.lock().level(traffic, Instant::now())
    }

    /// More came since the last review than it may send beside media.
    fn hurries(&self, most: u64) -> bool {
        self.wire_in() > self.aside.lock().seen() + most
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
            tracing::debug!(%error, "GOAWAY not sent");
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
            drain: Mutex::default(),
            past: Mutex::default(),
        }
    }

    /// Clients that are here.
    pub fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    /// Somebody was not let in.
    pub fn refused(&self, code: Refusal) {
        *self.past.lock().refused.entry(code).or_default() += 1;
    }

    /// Lets somebody in, or not, and stays with it to its end.
    pub async fn serve(&self, arrival: Arrival) {
        let admitted = self.admit(&arrival).and_then(|admitted| Ok((self.place(admitted.kind)?, admitted)));
        match admitted {
            Ok((_place, admitted)) => {
                if let Err(error) = self.carry(arrival, admitted).await {
                    tracing::debug!(%error, "session setup failed");
                }
            }
            Err(code) => {
                tracing::debug!(code, "session refused");
                self.refused(code);
                arrival.refuse(error(code));
            }
        }
    }

    fn admit(&self, arrival: &Arrival) -> Result<Admitted, Refusal> {
        if self.drain.lock().is_some() {
            return Err(GOAWAY);
        }
        if !arrival.path().is_empty() {
            return Err(PATH_INVALID);
        }
        let found = form_urlencoded::parse(arrival.query().as_bytes()).find(|(name, _)| name == "jwt" || name == "key");
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

    async fn carry(&self, arrival: Arrival, admitted: Admitted) -> Result<()> {
        let Admitted { pass, kind, publish, subscribe } = admitted;
        let link = kind == Kind::Link;
        let (meter, transport, query) = (Meter::new(), arrival.transport, arrival.query().to_owned());
        let came = arrival.came.clone();
        if link {
            arrival.is_link();
        }
        let readable = self.origin.scope("", &subscribe).ok();
        let writable = self.origin.scope("", &publish).ok();
        let access = Access {
            publisher: readable.map(|readable| readable.consume().with_hidden(link)),
            subscriber: writable.map(|writable| if link { writable.peer() } else { writable }),
            stats: meter.session(),
        };
        let (session, place) = arrival.begin(access).await?;
        // Other relays are few, and not counted for their addresses.
        let _place = (!link).then_some(place);
        let (brought, aside, ended) = Default::default();
        let live = Arc::new(Live { session, pass, kind, transport, query, meter, came, brought, aside, ended });
        let id = self.enter(live.clone());
        let error = live.session.closed().await;
        let told = if self.drain.lock().is_some() { GOAWAY } else { LEFT };
        let code = live.ended.get().copied().unwrap_or(told);
        tracing::debug!(id, code, %error, kind = kind.name(), "session ended");
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
        id
    }

    fn leave(&self, id: u64, live: &Live, code: Refusal) {
        self.live.lock().remove(&id);
        let mut past = self.past.lock();
        *past.ended.entry((live.kind, code)).or_default() += 1;
        past.traffic[live.kind as usize].add(live.traffic().over());
    }

    fn all(&self) -> Vec<Arc<Live>> {
        self.live.lock().values().cloned().collect()
    }

    /// Ends those whose pass is over (MED-15), who publish or watch too much (MED-17, MED-25), or send too much beside (MED-27).
    pub fn review(&self) {
        for live in self.all() {
            live.meter.prune();
            let traffic = live.traffic();
            live.brought.store(traffic.bytes_in, Ordering::Relaxed);
            let much = if live.kind == Kind::Client { self.too_much(&live, traffic) } else { None };
            if let Some(code) = live.pass.over().or(much) {
                live.end(code);
            }
        }
    }

    /// Ends, between two reviews, who sends too much beside media (MED-27).
    pub fn hold_back(&self) {
        let most = self.limits.control_bytes;
        for live in self.all() {
            if live.kind == Kind::Client && live.hurries(most) && live.aside(live.traffic()) > most {
                live.end(MEMORY_LIMIT_EXCEEDED);
            }
        }
    }

    /// Ends the client that brought the most since the last review, while too much is kept (MED-18): the newest group of each track
    /// stays in any case, so those who make it large have to go. What one brought is given back before another goes.
    pub fn relieve(&self) {
        if self.cache.used() <= self.limits.cache_bytes.saturating_mul(2) {
            return;
        }
        let brought = |live: &Arc<Live>| live.traffic().bytes_in.saturating_sub(live.brought.load(Ordering::Relaxed));
        let clients = self.all().into_iter().filter(|live| live.kind == Kind::Client);
        if let Some((1.., live)) = clients.map(|live| (brought(&live), live)).max_by_key(|(brought, _)| *brought) {
            live.end(MEMORY_LIMIT_EXCEEDED);
        }
    }

    fn too_much(&self, live: &Live, traffic: Traffic) -> Option<Refusal> {
        if traffic.broadcasts > self.limits.broadcasts as u64 {
            Some(TOO_MANY_BROADCASTS)
        } else if traffic.subscriptions > self.limits.subscriptions as u64 {
            Some(TOO_MANY_SUBSCRIPTIONS)
        } else if live.aside(traffic) > self.limits.control_bytes {
            Some(MEMORY_LIMIT_EXCEEDED)
        } else {
            None
        }
    }

    fn window(&self) -> Duration {
        Duration::from_millis(self.limits.drain_window.max(1))
    }

    /// Takes nobody any more and sends all elsewhere; ends when no client is here and no link has anything to carry, or when the time
    /// is over. `links` says how many tracks are watched over those that this relay dialled.
    pub async fn drain(&self, successor: Option<String>, links: impl Fn() -> u64) {
        let here = {
            let here = self.live.lock();
            *self.drain.lock() = Some(successor.clone());
            here.values().cloned().collect::<Vec<_>>()
        };
        for live in here {
            live.send_away(successor.as_deref(), self.window());
        }
        let needed = |live: &Arc<Live>| live.kind == Kind::Client || live.traffic().subscriptions > 0;
        let carried = async {
            while links() > 0 || self.all().iter().any(needed) {
                sleep(DRAIN_LOOK).await;
            }
        };
        let _ = timeout(self.window(), carried).await;
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
