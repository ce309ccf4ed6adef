//! Links that this relay dials (MED-40 to MED-43).
use anyhow::Result;
use moq_net::origin;
use moq_tokio::{Connection, connect, quic};
use parking_lot::Mutex;
use rand::RngExt as _;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::server::metrics::{self, Kind, Meter, Report, Traffic};
use crate::server::{Limits, Peer, certificates};

/// The longest attempt to connect.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);
/// The first and the longest pause between attempts: a relay that is back is connected within two seconds.
const MIN_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(2);

/// The links that this relay dials.
pub(crate) struct Links {
    origin: origin::Producer,
    timing: quic::Config,
    /// The runtime of the links, as `dial` can be called from another.
    runtime: Handle,
    live: Mutex<BTreeMap<String, Link>>,
    /// The traffic of links that were removed.
    past: Mutex<Traffic>,
}

struct Link {
    wanted: watch::Sender<Peer>,
    state: Arc<State>,
    task: AbortHandle,
}

/// The state of a link.
struct State {
    meter: Meter,
    connection: Mutex<Option<Connection>>,
    /// The packets of connections that ended.
    past: Mutex<Traffic>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
        self.state.connection.lock().take();
    }
}

impl Links {
    pub fn new(origin: origin::Producer, limits: &Limits) -> Self {
        let mut timing = quic::Config::default();
        timing.idle_timeout = Duration::from_millis(limits.link_idle_time);
        timing.keep_alive = Duration::from_millis(limits.link_ping);
        Self { origin, timing, runtime: Handle::current(), live: Mutex::default(), past: Mutex::default() }
    }

    /// Keeps links to exactly these relays. A new address, key or cost replaces the link; a new certificate applies to the next attempt.
    pub fn dial(&self, peers: Vec<Peer>) {
        let mut live = self.live.lock();
        let mut before = std::mem::take(&mut *live);
        for peer in peers {
            let same = |link: &Link| {
                let wanted = link.wanted.borrow();
                wanted.address == peer.address && wanted.key == peer.key && wanted.cost == peer.cost
            };
            let link = if before.get(&peer.name).is_some_and(same) { before.remove(&peer.name) } else { None };
            if let Some(link) = &link {
                link.wanted.send_if_modified(|wanted| {
                    let changed = *wanted != peer;
                    *wanted = peer.clone();
                    changed
                });
            }
            let link = link.unwrap_or_else(|| self.begin(peer.clone()));
            live.insert(peer.name, link);
        }
        for link in before.values() {
            self.past.lock().add(link.state.traffic().over());
        }
    }

    fn begin(&self, peer: Peer) -> Link {
        let (wanted, peers) = watch::channel(peer);
        let state = Arc::new(State { meter: Meter::new(), connection: Mutex::default(), past: Mutex::default() });
        let task = self.runtime.spawn(keep_link(self.origin.clone().peer(), self.timing.clone(), peers, state.clone()));
        Link { wanted, state, task: task.abort_handle() }
    }

    /// Removes the counters of ended broadcasts.
    pub fn review(&self) {
        for link in self.live.lock().values() {
            link.state.meter.prune();
        }
    }

    /// Returns the number of subscriptions to tracks over all links.
    pub fn subscriptions(&self) -> u64 {
        self.live.lock().values().map(|link| link.state.traffic().subscriptions).sum()
    }

    pub fn report(&self, report: &mut Report) {
        for (name, link) in &*self.live.lock() {
            let up = link.state.connection.lock().as_ref().map(|up| up.monitor().stats().and_then(|stats| stats.rtt));
            report.peers.push(metrics::Peer { name: name.clone(), up });
            report.traffic(Kind::Link).add(link.state.traffic());
        }
        report.traffic(Kind::Link).add(*self.past.lock());
    }
}

impl State {
    fn traffic(&self) -> Traffic {
        let now = self.connection.lock().as_ref().and_then(|up| up.monitor().stats());
        let mut traffic = self.meter.read(now.unwrap_or_default());
        traffic.add(*self.past.lock());
        traffic
    }

    fn down(&self) {
        if let Some(stats) = self.connection.lock().take().and_then(|ended| ended.monitor().stats()) {
            self.past.lock().add(Traffic::packets(stats));
        }
    }
}

/// Keeps a link to one relay: dials it again whenever the link ends, with its current lease.
async fn keep_link(
    origin: origin::Producer,
    timing: quic::Config,
    mut wanted: watch::Receiver<Peer>,
    state: Arc<State>,
) {
    let mut pause = MIN_BACKOFF;
    loop {
        let peer = wanted.borrow_and_update().clone();
        let began = Instant::now();
        if let Err(error) = run_link(&origin, &timing, &peer, &state).await {
            tracing::debug!(peer = peer.name, %error, "link down");
        }
        if began.elapsed() > DIAL_TIMEOUT + MAX_BACKOFF {
            pause = MIN_BACKOFF;
        }
        tokio::select! {
            () = tokio::time::sleep(pause.mul_f64(rand::rng().random_range(0.5..=1.0))) => {}
            _ = wanted.changed() => {}
        }
        pause = (pause * 2).min(MAX_BACKOFF);
    }
}

/// Dials a relay once, and returns when the link ends.
async fn run_link(origin: &origin::Producer, timing: &quic::Config, peer: &Peer, state: &State) -> Result<()> {
    let connection = connect_to(origin, timing, peer, &state.meter)?.established().await?;
    tracing::info!(peer = peer.name, address = %peer.address, "link up");
    *state.connection.lock() = Some(connection.clone());
    let ended = connection.closed().await;
    state.down();
    Ok(ended?)
}

fn connect_to(origin: &origin::Producer, timing: &quic::Config, peer: &Peer, meter: &Meter) -> Result<Connection> {
    let mut config = connect::Config::default();
    config.bind = Some(match peer.address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    });
    config.timeout = DIAL_TIMEOUT;
    // `keep_link` reconnects, with the newest certificate; and after a GOAWAY the link stays until the peer closes it (MED-50).
    config.once = Some(true);
    config.websocket.enabled = Some(false);
    if peer.certificate_hashes.is_empty() {
        config.tls.system_roots = Some(true);
    }
    for hash in &peer.certificate_hashes {
        config.tls.fingerprint.push(certificates::hex(hash)?);
    }
    let client = config
        .init(timing.clone())?
        .with_publisher(origin.consume().with_hidden(true))
        .with_subscriber(origin.clone())
        .with_stats(meter.session())
        .with_cost(peer.cost);
    let host = peer.host.parse::<Ipv6Addr>().map_or_else(|_| peer.host.clone(), |address| format!("[{address}]"));
    let mut address = url::Url::parse(&format!("https://{host}:{}/", peer.address.port()))?;
    address.query_pairs_mut().append_pair("key", &peer.key);
    Ok(client.connect(connect::Addr::pinned(address, [peer.address])?))
}
