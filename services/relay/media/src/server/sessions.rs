//! The sessions that peers opened: authentication, limits, and their end (MED-10 to MED-18, MED-50, MED-51).
use anyhow::Result;
use moq_net::{Pattern, Patterns, cache, origin};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use url::form_urlencoded;

use crate::server::accept::{PendingSession, Scope};
use crate::server::codes::{
    GOAWAY, LEFT, MEMORY_LIMIT_EXCEEDED, PATH_INVALID, TOKEN_INVALID, TOO_MANY_BROADCASTS, TOO_MANY_SESSIONS,
    TOO_MANY_SUBSCRIPTIONS, error,
};
use crate::server::counted::Received;
use crate::server::fanout::{Audience, FanOut, sounds};
use crate::server::limiter::Permit;
use crate::server::metrics::{Kind, Meter, Report, Traffic};
use crate::server::session::LiveSession;
use crate::server::traces::{SessionSpan, Traces};
use crate::server::{Admission, Authorization, Credential, Grant, Limits, Refusal, patterns};

/// The interval of checks whether a session still needs this relay while it drains.
const DRAIN_POLL: Duration = Duration::from_millis(50);

/// The table of sessions that peers opened.
pub(crate) struct Sessions {
    origin: origin::Producer,
    fan_out: Arc<FanOut>,
    cache: cache::Pool,
    admission: Arc<dyn Admission>,
    limits: Limits,
    clients: Arc<AtomicUsize>,
    /// What all sockets have received, now and at the last review.
    received: Received,
    received_at_review: AtomicU64,
    ids: AtomicU64,
    live: Mutex<HashMap<u64, Arc<LiveSession>>>,
    /// `Some` while the relay drains: the URL to which clients are redirected, if there is one.
    drain: Mutex<Option<Option<String>>>,
    past: Mutex<Past>,
    traces: Traces,
}

/// The counts of refused and ended sessions.
#[derive(Default)]
struct Past {
    refused: BTreeMap<Refusal, u64>,
    ended: BTreeMap<(Kind, Refusal), u64>,
    traffic: [Traffic; Kind::ALL.len()],
}

/// An authenticated session.
struct Admitted {
    authorization: Box<dyn Authorization>,
    kind: Kind,
    publish: Patterns,
    subscribe: Patterns,
    /// Whether the token is for a room.
    is_of_room: bool,
}

/// A session that has begun, with its shares of the limits.
pub(crate) struct Entered {
    id: u64,
    live: Arc<LiveSession>,
    _client: Option<SessionPermit>,
    _permit: Option<Permit>,
}

/// A client's share of `media.sessions`, until dropped.
struct SessionPermit(Arc<AtomicUsize>);

impl Drop for SessionPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Sessions {
    /// `received` counts what all sockets receive.
    pub fn new(
        origin: origin::Producer,
        cache: cache::Pool,
        admission: Arc<dyn Admission>,
        limits: Limits,
        received: Received,
    ) -> Self {
        Self {
            fan_out: FanOut::new(origin.consume(), Duration::from_millis(limits.hold), admission.clone()),
            traces: Traces::new(limits.traces),
            origin,
            cache,
            admission,
            limits,
            clients: Arc::default(),
            received,
            received_at_review: AtomicU64::default(),
            ids: AtomicU64::default(),
            live: Mutex::default(),
            drain: Mutex::default(),
            past: Mutex::default(),
        }
    }

    /// Returns the number of clients.
    pub fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    /// Counts a refusal.
    pub fn refused(&self, code: Refusal) {
        *self.past.lock().refused.entry(code).or_default() += 1;
    }

    /// Authenticates and begins a session; `None` if it was refused or its setup failed.
    pub async fn enter(&self, pending: PendingSession) -> Option<Entered> {
        let admitted = self.admit(&pending).and_then(|admitted| Ok((self.reserve(admitted.kind)?, admitted)));
        match admitted {
            Ok((permit, admitted)) => {
                let span = self.traces.start(admitted.authorization.trace(), pending.began(&self.limits));
                let begun = self.begin(pending, admitted, permit, span).await;
                begun.inspect_err(|error| tracing::debug!(%error, "session setup failed")).ok()
            }
            Err(code) => {
                tracing::debug!(code, "session refused");
                self.refused(code);
                pending.refuse(error(code));
                None
            }
        }
    }

    fn admit(&self, pending: &PendingSession) -> Result<Admitted, Refusal> {
        if self.drain.lock().is_some() {
            return Err(GOAWAY);
        }
        if !pending.path().is_empty() {
            return Err(PATH_INVALID);
        }
        let found = form_urlencoded::parse(pending.query().as_bytes()).find(|(name, _)| name == "jwt" || name == "key");
        let authorization = self.admission.authenticate(match &found {
            Some((name, token)) if name == "jwt" => Credential::Token(token),
            Some((_, key)) => Credential::Key(key),
            None => Credential::None,
        })?;
        let all = || Pattern::all().into();
        let (kind, publish, subscribe, is_of_room) = match authorization.grant() {
            Grant::Link => (Kind::Link, all(), all(), false),
            Grant::RegionLink => (Kind::RegionLink, all(), all(), false),
            Grant::Client { publish, subscribe } => {
                let scope = |list: &[String]| patterns::scope(list).map_err(|_| TOKEN_INVALID);
                (Kind::Client, scope(&publish)?, scope(&subscribe)?, sounds::is_of_room(&subscribe))
            }
        };
        Ok(Admitted { authorization, kind, publish, subscribe, is_of_room })
    }

    fn reserve(&self, kind: Kind) -> Result<Option<SessionPermit>, Refusal> {
        if kind.is_link() {
            return Ok(None);
        }
        let more = |count: usize| (count < self.limits.sessions).then_some(count + 1);
        match self.clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Some(SessionPermit(self.clients.clone()))),
            Err(_) => Err(TOO_MANY_SESSIONS),
        }
    }

    async fn begin(
        &self,
        pending: PendingSession,
        admitted: Admitted,
        client: Option<SessionPermit>,
        span: Option<SessionSpan>,
    ) -> Result<Entered> {
        let Admitted { authorization, kind, publish, subscribe, is_of_room } = admitted;
        let link = kind.is_link();
        let (meter, network, query) = (Meter::new(), pending.network(), pending.query().to_owned());
        if link {
            pending.apply_link_limits();
        }
        let readable = self.origin.scope("", &subscribe).ok();
        let writable = self.origin.scope("", &publish).ok();
        let (fan_out, allowed) = (self.fan_out.clone(), subscribe);
        let audience = (!link).then(|| Audience { fan_out, allowed, is_of_room, meter: meter.clone() });
        let access = Scope {
            audience,
            publisher: readable.map(|readable| readable.consume().with_hidden(link)),
            subscriber: writable.map(|writable| if link { writable.peer() } else { writable }),
            stats: meter.session(),
        };
        let begun = pending.begin(access).await;
        match (span, &begun) {
            (Some(span), Ok(_)) => span.opened(network.transport()),
            (Some(span), Err(_)) => span.failed("handshake failed"),
            (None, _) => {}
        }
        let (session, permit) = begun?;
        // Links do not count for the limit of their network.
        let permit = (!link).then_some(permit);
        let (media_at_review, control_bytes, ended) = Default::default();
        let live = Arc::new(LiveSession {
            session,
            authorization,
            kind,
            network,
            query,
            meter,
            media_at_review,
            control_bytes,
            ended,
        });
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut all = self.live.lock();
        if let Some(successor) = &*self.drain.lock() {
            live.send_goaway(successor.as_deref(), self.window());
        }
        all.insert(id, live.clone());
        Ok(Entered { id, live, _client: client, _permit: permit })
    }

    /// Returns when the session has ended.
    pub async fn serve(&self, Entered { id, live, .. }: Entered) {
        let error = live.session.closed().await;
        let default = if self.drain.lock().is_some() { GOAWAY } else { LEFT };
        let code = live.ended.get().copied().unwrap_or(default);
        tracing::debug!(id, code, %error, kind = live.kind.name(), "session ended");
        self.leave(id, &live, code);
    }

    fn leave(&self, id: u64, live: &LiveSession, code: Refusal) {
        self.live.lock().remove(&id);
        let mut past = self.past.lock();
        *past.ended.entry((live.kind, code)).or_default() += 1;
        past.traffic[live.kind as usize].add(live.traffic().over());
    }

    fn all(&self) -> Vec<Arc<LiveSession>> {
        self.live.lock().values().cloned().collect()
    }

    /// Ends sessions whose authorization has ended (MED-15).
    pub fn end_unauthorized(&self) {
        for live in self.all() {
            if let Some(code) = live.authorization.ended() {
                live.end(code);
            }
        }
    }

    /// Ends sessions that exceed a limit of broadcasts, subscriptions or bytes other than media (MED-17, MED-25, MED-27).
    pub fn review(&self) {
        // Before what each session has received is read, which then is no less.
        self.received_at_review.store(self.received.bytes(), Ordering::Relaxed);
        for live in self.all() {
            live.meter.prune();
            let traffic = live.traffic();
            live.media_at_review.store(traffic.bytes_in, Ordering::Relaxed);
            if live.kind == Kind::Client
                && let Some(code) = self.exceeded_limit(&live, traffic)
            {
                live.end(code);
            }
        }
    }

    /// Ends, between two reviews, sessions that exceed the limit of bytes other than media (MED-27). While all sessions together have received no more, none
    /// is looked at.
    pub fn limit_control_bytes(&self) {
        let max = self.limits.control_bytes;
        if self.received.bytes() - self.received_at_review.load(Ordering::Relaxed) <= max {
            return;
        }
        for live in self.all() {
            if live.kind == Kind::Client && live.may_exceed(max) && live.control_bytes(live.traffic()) > max {
                live.end(MEMORY_LIMIT_EXCEEDED);
            }
        }
    }

    /// While the cache is too large, ends the session of the client that sent the most media since the last review (MED-18). The newest group of each
    /// track is always kept, so the publishers of large groups have to end. One session ends per call, so that its memory is freed before the next.
    pub fn limit_cache(&self) {
        if self.cache.used() <= self.limits.cache_bytes.saturating_mul(2) {
            return;
        }
        let media = |live: &Arc<LiveSession>| {
            live.traffic().bytes_in.saturating_sub(live.media_at_review.load(Ordering::Relaxed))
        };
        let clients = self.all().into_iter().filter(|live| live.kind == Kind::Client);
        if let Some((1.., live)) = clients.map(|live| (media(&live), live)).max_by_key(|(media, _)| *media) {
            live.end(MEMORY_LIMIT_EXCEEDED);
        }
    }

    fn exceeded_limit(&self, live: &LiveSession, traffic: Traffic) -> Option<Refusal> {
        if traffic.broadcasts > self.limits.broadcasts as u64 {
            Some(TOO_MANY_BROADCASTS)
        } else if traffic.subscriptions > self.limits.subscriptions as u64 {
            Some(TOO_MANY_SUBSCRIPTIONS)
        } else if live.control_bytes(traffic) > self.limits.control_bytes {
            Some(MEMORY_LIMIT_EXCEEDED)
        } else {
            None
        }
    }

    fn window(&self) -> Duration {
        Duration::from_millis(self.limits.drain_window.max(1))
    }

    /// Accepts no new sessions and sends GOAWAY to all. Returns when no client is left and no link has a subscription, or when the drain window has
    /// passed. `links` returns the number of subscriptions over the links that this relay dialled.
    pub async fn drain(&self, successor: Option<String>, links: impl Fn() -> u64) {
        let live = {
            let live = self.live.lock();
            *self.drain.lock() = Some(successor.clone());
            live.values().cloned().collect::<Vec<_>>()
        };
        for live in live {
            live.send_goaway(successor.as_deref(), self.window());
        }
        let needed = |live: &Arc<LiveSession>| live.kind == Kind::Client || live.traffic().subscriptions > 0;
        let finished = async {
            while links() > 0 || self.all().iter().any(needed) {
                sleep(DRAIN_POLL).await;
            }
        };
        let _ = timeout(self.window(), finished).await;
    }

    pub fn report(&self, report: &mut Report) {
        for live in self.all() {
            *report.sessions.entry((live.kind.name(), live.network.transport())).or_default() += 1;
            report.traffic(live.kind).add(live.traffic());
            if live.kind == Kind::Client {
                report.client_rtts.extend(live.network.stats().rtt);
            }
        }
        let past = self.past.lock();
        report.refused.clone_from(&past.refused);
        report.ended.clone_from(&past.ended);
        for kind in Kind::ALL {
            report.traffic(kind).add(past.traffic[kind as usize]);
        }
        report.cache_bytes = self.cache.used();
        report.watched_tracks = self.fan_out.tracks() as u64;
        report.draining = self.drain.lock().is_some();
    }
}
