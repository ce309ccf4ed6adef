//! The server: the order in which its parts start, its loops, and its end.
use anyhow::{Context, Result};
use moq_net::{cache, origin};
use moq_tokio::accept::Health;
use parking_lot::Mutex;
use parley_metrics::Families;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::server::accept::{Acceptor, HandshakeResult, Handshakes};
use crate::server::certificates::{Pinned, Schedule};
use crate::server::counted::Received;
use crate::server::limiter::Limiter;
use crate::server::links::Links;
use crate::server::metrics::Report;
use crate::server::quic::Endpoint;
use crate::server::sessions::Sessions;
use crate::server::{Admission, Boxed, Certificates, Clock, Config, Limits, Peer, State};

/// The interval of reviews of limits and certificates.
const REVIEW: Duration = Duration::from_secs(1);
/// The interval of reviews of authorizations: a participant that was removed is heard for no longer.
const AUTHORIZATION_REVIEW: Duration = Duration::from_millis(250);
/// The interval of reviews of the cache: 31 MB at 10 Gbit/s.
const CACHE_REVIEW: Duration = Duration::from_millis(25);

/// Relays that a broadcast may pass: more than a tree needs (leaf, origin, origin, leaf), and few enough to end a loop.
const MAX_HOPS: usize = 8;

/// A running server. It ends when dropped.
pub struct Server {
    /// The address of QUIC.
    pub address: SocketAddr,
    /// The address of WebSocket.
    pub websocket: SocketAddr,
    shared: Arc<Shared>,
    close: watch::Sender<bool>,
    serving: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    sessions: Sessions,
    links: Links,
    /// `None` with certificates of a public CA.
    pinned: Mutex<Option<Pinned>>,
    clock: Clock,
}

pub(crate) async fn open(config: Config, admission: Arc<dyn Admission>, clock: Clock) -> Result<Server> {
    crate::server::choose_cryptography();
    let limits = config.limits;
    let mut pinned = None;
    let (certificate, key) = match config.certificates {
        Certificates::Public { certificate, key } => (certificate, key),
        Certificates::Pinned { directory, names } => {
            let schedule = Schedule {
                life: Duration::from_millis(limits.certificate_life),
                rotation: Duration::from_millis(limits.certificate_rotation),
            };
            let opened = pinned.insert(Pinned::open(directory, names, schedule, clock())?);
            (opened.file(), opened.file())
        }
    };
    let received = Received::default();
    let endpoint = Endpoint::open(config.listen, (certificate, key), &limits, received.clone())
        .with_context(|| format!("cannot listen on {} (UDP) for media", config.listen))?;
    let socket = TcpListener::bind(config.websocket)
        .await
        .with_context(|| format!("cannot listen on {} for media over WebSocket", config.websocket))?;
    let (address, websocket) = (endpoint.noq.local_addr()?, socket.local_addr()?);
    let handshakes = Handshakes {
        limiter: Limiter::new(&limits),
        admission: admission.clone(),
        limits: limits.clone(),
        proxied: config.proxied,
        received: received.clone(),
    };
    let acceptor = Acceptor { endpoint, socket, health: Health::new("websocket"), handshakes: Arc::new(handshakes) };

    let (origin, cache) = origin(&limits)?;
    let links = Links::new(origin.clone(), &limits);
    let sessions = Sessions::new(origin, cache, admission, limits, received);
    let shared = Arc::new(Shared { sessions, links, pinned: Mutex::new(pinned), clock });
    let (close, closed) = watch::channel(false);
    let serving = tokio::spawn(serve(shared.clone(), acceptor, closed));
    Ok(Server { address, websocket, shared, close, serving: Mutex::new(Some(serving)) })
}

fn origin(limits: &Limits) -> Result<(origin::Producer, cache::Pool)> {
    let time = Duration::from_millis(limits.cache_time);
    let mut config = origin::Config::default();
    config.pool = cache::Pool::new(cache::Config::default().with_capacity(limits.cache_bytes).with_expiry(time));
    config.cache_duration = time;
    config.max_hops = origin::HopLimit::new(MAX_HOPS).context("invalid number of hops")?;
    let cache = config.pool.clone();
    Ok((moq_tokio::origin::spawn_config(config), cache))
}

/// Accepts sessions until the server is closed. Tasks that still run then end with it.
async fn serve(shared: Arc<Shared>, acceptor: Acceptor, mut closed: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    let reviewed = shared.clone();
    tasks.spawn(async move { reviewed.review().await });
    loop {
        let (shared, handshakes) = (shared.clone(), acceptor.handshakes.clone());
        tokio::select! {
            next = acceptor.next_quic() => match next {
                Some(Ok((incoming, permit))) => {
                    tasks.spawn(shared.serve(async move { handshakes.handshake_quic(incoming, permit).await }));
                }
                Some(Err(code)) => shared.sessions.refused(code),
                None => break,
            },
            next = acceptor.next_socket() => match next {
                Ok((stream, remote, permit)) => {
                    let handshake = async move { handshakes.handshake_websocket(stream, remote, permit).await };
                    tasks.spawn(shared.serve(handshake));
                }
                Err(code) => shared.sessions.refused(code),
            },
            _ = tasks.join_next() => {}
            _ = closed.wait_for(|closed| *closed) => break,
        }
    }
    acceptor.endpoint.noq.close(0u8.into(), b"the relay ends");
    acceptor.endpoint.noq.wait_all_draining().await;
}

impl Shared {
    /// Serves a session from its handshake to its end.
    fn serve(
        self: Arc<Self>,
        handshake: impl Future<Output = HandshakeResult> + Send + 'static,
    ) -> impl Future<Output = ()> + Send {
        let shared = self.clone();
        // A box, as the state of a handshake is larger than that of a session, which lasts.
        let entering = Box::pin(async move {
            match handshake.await {
                Ok(Ok(pending)) => return shared.sessions.enter(pending).await,
                Ok(Err(code)) => shared.sessions.refused(code),
                Err(error) => tracing::debug!(%error, "handshake failed"),
            }
            None
        });
        async move {
            if let Some(entered) = entering.await {
                self.sessions.serve(entered).await;
            }
        }
    }

    async fn review(&self) {
        let mut interval = tokio::time::interval(REVIEW);
        let mut authorization_review = tokio::time::interval(AUTHORIZATION_REVIEW);
        let mut cache_review = tokio::time::interval(CACHE_REVIEW);
        for interval in [&mut interval, &mut authorization_review, &mut cache_review] {
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        loop {
            tokio::select! {
                _ = interval.tick() => {}
                _ = authorization_review.tick() => {
                    self.sessions.end_unauthorized();
                    continue;
                }
                _ = cache_review.tick() => {
                    self.sessions.limit_control_bytes();
                    self.sessions.limit_cache();
                    continue;
                }
            }
            self.sessions.review();
            self.links.review();
            if let Some(pinned) = &mut *self.pinned.lock()
                && let Err(error) = pinned.rotate_if_due((self.clock)())
            {
                tracing::error!(%error, "certificate rotation failed");
            }
        }
    }
}

impl Server {
    /// Returns the state that leases announce.
    pub fn state(&self) -> State {
        State {
            certificate_hashes: self.shared.pinned.lock().as_ref().map(Pinned::hashes).unwrap_or_default(),
            sessions: self.shared.sessions.clients(),
        }
    }

    /// Keeps links to exactly these relays.
    pub fn dial(&self, peers: Vec<Peer>) {
        self.shared.links.dial(peers);
    }

    /// Reports whether the link that this relay dialled to the relay of this name is up.
    pub fn is_linked(&self, name: &str) -> bool {
        self.shared.links.is_up(name)
    }

    /// Adds the metric families `parley_media_…`.
    pub fn collect(&self, out: &mut Families) {
        let mut report = Report::default();
        self.shared.sessions.report(&mut report);
        self.shared.links.report(&mut report);
        report.collect(out);
    }

    /// Accepts no new sessions, redirects clients to `successor` (the URL of another relay), sends GOAWAY to links, and ends when no session needs
    /// this relay or `drain_window` has passed.
    pub fn drain(&self, successor: Option<String>) -> Boxed<'_, ()> {
        Box::pin(async move {
            self.shared.sessions.drain(successor, || self.shared.links.subscriptions()).await;
            self.shared.links.dial(Vec::new());
            self.close.send_replace(true);
            let serving = self.serving.lock().take();
            if let Some(serving) = serving {
                let _ = serving.await;
            }
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.links.dial(Vec::new());
        if let Some(serving) = self.serving.lock().take() {
            serving.abort();
        }
    }
}
