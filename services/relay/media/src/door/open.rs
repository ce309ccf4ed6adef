//! The door itself: what opens in which order, and how it closes.
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

use crate::door::arrivals::{Arrivals, Desk, Outcome};
use crate::door::certificates::{Pinned, Schedule};
use crate::door::gate::Gate;
use crate::door::links::Links;
use crate::door::metrics::Report;
use crate::door::quic::Endpoint;
use crate::door::sessions::Sessions;
use crate::door::{Admission, Boxed, Certificates, Clock, Config, Limits, Peer, State};

/// Between two looks at passes and certificates.
const REVIEW: Duration = Duration::from_secs(1);
/// Between two looks at the memory of media: 10 Gbit/s bring 31 MB meanwhile.
const RELIEF: Duration = Duration::from_millis(25);

/// Relays that a broadcast may pass: far more than a tree needs (leaf, origin, origin, leaf), so that a mistake ends.
const HOPS: usize = 8;

/// A door that is open. Closed when dropped.
pub struct Door {
    /// Where QUIC is.
    pub address: SocketAddr,
    /// Where WebSocket is.
    pub websocket: SocketAddr,
    inside: Arc<Inside>,
    close: watch::Sender<bool>,
    serving: Mutex<Option<JoinHandle<()>>>,
}

struct Inside {
    sessions: Sessions,
    links: Links,
    /// None with certificates of a public CA.
    pinned: Mutex<Option<Pinned>>,
    clock: Clock,
}

pub(crate) async fn open(config: Config, admission: Arc<dyn Admission>, clock: Clock) -> Result<Door> {
    crate::door::choose_cryptography();
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
    let endpoint = Endpoint::open(config.listen, certificate, key, &limits)
        .with_context(|| format!("cannot listen on {} (UDP) for media", config.listen))?;
    let socket = TcpListener::bind(config.websocket)
        .await
        .with_context(|| format!("cannot listen on {} for media over WebSocket", config.websocket))?;
    let (address, websocket) = (endpoint.noq.local_addr()?, socket.local_addr()?);
    let desk = Desk {
        gate: Gate::new(&limits),
        admission: admission.clone(),
        limits: limits.clone(),
        proxied: config.proxied,
    };
    let arrivals = Arrivals { endpoint, socket, health: Health::new("websocket"), desk: Arc::new(desk) };

    let (origin, cache) = origin(&limits)?;
    let links = Links::new(origin.clone(), &limits);
    let sessions = Sessions::new(origin, cache, admission, limits);
    let inside = Arc::new(Inside { sessions, links, pinned: Mutex::new(pinned), clock });
    let (close, closed) = watch::channel(false);
    let serving = tokio::spawn(serve(inside.clone(), arrivals, closed));
    Ok(Door { address, websocket, inside, close, serving: Mutex::new(Some(serving)) })
}

fn origin(limits: &Limits) -> Result<(origin::Producer, cache::Pool)> {
    let time = Duration::from_millis(limits.cache_time);
    let mut config = origin::Config::default();
    config.pool = cache::Pool::new(cache::Config::default().with_capacity(limits.cache_bytes).with_expiry(time));
    config.cache_duration = time;
    config.max_hops = origin::HopLimit::new(HOPS).context("no number of relays")?;
    let cache = config.pool.clone();
    Ok((moq_tokio::origin::spawn_config(config), cache))
}

/// Takes who comes, until closed; whatever still runs then ends with it.
async fn serve(inside: Arc<Inside>, arrivals: Arrivals, mut closed: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    let reviewed = inside.clone();
    tasks.spawn(async move { reviewed.review().await });
    loop {
        let (inside, desk) = (inside.clone(), arrivals.desk.clone());
        tokio::select! {
            next = arrivals.next_quic() => match next {
                Some(Ok((incoming, place))) => {
                    tasks.spawn(async move { inside.settle(desk.take_quic(incoming, place).await).await });
                }
                Some(Err(code)) => inside.sessions.refused(code),
                None => break,
            },
            next = arrivals.next_socket() => match next {
                Ok((stream, remote, place)) => {
                    tasks.spawn(async move { inside.settle(desk.take_socket(stream, remote, place).await).await });
                }
                Err(code) => inside.sessions.refused(code),
            },
            _ = tasks.join_next() => {}
            _ = closed.wait_for(|closed| *closed) => break,
        }
    }
    arrivals.endpoint.noq.close(0u8.into(), b"the relay ends");
    arrivals.endpoint.noq.wait_all_draining().await;
}

impl Inside {
    async fn settle(&self, outcome: Outcome) {
        match outcome {
            Ok(Ok(arrival)) => self.sessions.serve(arrival).await,
            Ok(Err(code)) => self.sessions.refused(code),
            Err(error) => tracing::debug!(%error, "handshake failed"),
        }
    }

    async fn review(&self) {
        let mut interval = tokio::time::interval(REVIEW);
        let mut relief = tokio::time::interval(RELIEF);
        for interval in [&mut interval, &mut relief] {
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        loop {
            tokio::select! {
                _ = interval.tick() => {}
                _ = relief.tick() => {
                    self.sessions.hold_back();
                    self.sessions.relieve();
                    continue;
                }
            }
            self.sessions.review();
            self.links.review();
            if let Some(pinned) = &mut *self.pinned.lock()
                && let Err(error) = pinned.settle((self.clock)())
            {
                tracing::error!(%error, "certificate rotation failed");
            }
        }
    }
}

impl Door {
    /// What it says of itself now.
    pub fn state(&self) -> State {
        State {
            certificate_hashes: self.inside.pinned.lock().as_ref().map(Pinned::hashes).unwrap_or_default(),
            sessions: self.inside.sessions.clients(),
        }
    }

    /// Dials exactly these from now on.
    pub fn dial(&self, peers: Vec<Peer>) {
        self.inside.links.dial(peers);
    }

    /// Adds the metric families `parley_media_…`.
    pub fn collect(&self, out: &mut Families) {
        let mut report = Report::default();
        self.inside.sessions.report(&mut report);
        self.inside.links.report(&mut report);
        report.collect(out);
    }

    /// Takes nobody any more, sends clients to `successor` (the address of another relay) and links elsewhere, and ends when nobody
    /// is left that needs it or `drain_window` is over.
    pub fn drain(&self, successor: Option<String>) -> Boxed<'_, ()> {
        Box::pin(async move {
            self.inside.sessions.drain(successor, || self.inside.links.subscriptions()).await;
            self.inside.links.dial(Vec::new());
            self.close.send_replace(true);
            let serving = self.serving.lock().take();
            if let Some(serving) = serving {
                let _ = serving.await;
            }
        })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.inside.links.dial(Vec::new());
        if let Some(serving) = self.serving.lock().take() {
            serving.abort();
        }
    }
}
