//! The door itself: what opens in which order, and how it closes.
use anyhow::{Context, Result};
use moq_net::{cache, origin};
use moq_tokio::{listen, quic, server, websocket};
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::certificates::{Pinned, Schedule};
use crate::links::Links;
use crate::metrics::Report;
use crate::sessions::Sessions;
use crate::{Admission, Boxed, Certificates, Clock, Config, Limits, Peer, State};

/// Between two looks at passes and certificates.
const REVIEW: Duration = Duration::from_secs(1);

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
    // Another part of the process may have installed one before.
    let _ = moq_tokio::crypto::install_default();
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
    let mut listening = listen::Config::default();
    listening.bind = Some(listen::Bind::Addr(config.listen));
    listening.tls.cert = vec![certificate];
    listening.tls.key = vec![key];
    let mut setup = server::Config::default();
    setup.listen = listening;
    setup.quic = timing(&limits);
    setup.websocket = Some(
        websocket::Listener::bind(config.websocket)
            .await
            .with_context(|| format!("cannot listen on {} for media over WebSocket", config.websocket))?,
    );
    let listener =
        setup.init().with_context(|| format!("cannot listen on {} (UDP) for media", config.listen))?.listen().await?;
    let address = listener.local_addr()?;
    let websocket = listener.websocket_local_addr().context("WebSocket has no address")?;

    let (origin, cache) = origin(&limits)?;
    let links = Links::new(origin.clone(), &limits);
    let sessions = Sessions::new(origin, cache, admission, limits);
    let inside = Arc::new(Inside { sessions, links, pinned: Mutex::new(pinned), clock });
    let (close, closed) = watch::channel(false);
    let serving = tokio::spawn(serve(inside.clone(), listener, closed));
    Ok(Door { address, websocket, inside, close, serving: Mutex::new(Some(serving)) })
}

/// Three pings fit into the time after which a client is gone.
fn timing(limits: &Limits) -> quic::Config {
    let mut timing = quic::Config::default();
    timing.idle_timeout = Duration::from_millis(limits.idle_time);
    timing.keep_alive = timing.idle_timeout / 3;
    timing
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
async fn serve(inside: Arc<Inside>, mut listener: server::Listener, mut closed: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    let reviewed = inside.clone();
    tasks.spawn(async move { reviewed.review().await });
    loop {
        tokio::select! {
            request = listener.accept() => {
                let Some(request) = request else { break };
                let inside = inside.clone();
                tasks.spawn(async move { inside.sessions.serve(request).await });
            }
            _ = tasks.join_next() => {}
            _ = closed.wait_for(|closed| *closed) => break,
        }
    }
    listener.close().await;
}

impl Inside {
    async fn review(&self) {
        let mut interval = tokio::time::interval(REVIEW);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.sessions.review();
            self.links.review();
            if let Some(pinned) = &mut *self.pinned.lock()
                && let Err(error) = pinned.settle((self.clock)())
            {
                tracing::error!(%error, "the certificate was not rotated");
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

    /// Prometheus text: `parley_media_…`.
    pub fn metrics(&self) -> String {
        let mut report = Report::default();
        self.inside.sessions.report(&mut report);
        self.inside.links.report(&mut report);
        report.text()
    }

    /// Takes nobody any more, sends clients to `successor` (the address of another relay) and links elsewhere, and ends when all are
    /// gone or `drain_window` is over.
    pub fn drain(&self, successor: Option<String>) -> Boxed<'_, ()> {
        Box::pin(async move {
            self.inside.sessions.drain(successor).await;
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
