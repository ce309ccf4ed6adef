//! Links that this relay dials (MED-40 to MED-44).
use moq_net::origin;
use moq_tokio::{Connection, quic};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::server::dial::{Backoff, Dialler};
use crate::server::metrics::{self, Kind, Meter, Report, Traffic};
use crate::server::{Limits, Peer};

/// How long a link stays after the link that replaces it is up: the routes of the new one are known by then, over an ocean too.
const REPLACEMENT_OVERLAP: Duration = Duration::from_secs(2);

/// The links that this relay dials.
pub(crate) struct Links {
    dialler: Dialler,
    /// The runtime of the links, as `dial` can be called from another.
    runtime: Handle,
    live: Mutex<BTreeMap<String, Link>>,
    /// The traffic of links that were removed.
    past: Mutex<[Traffic; Kind::ALL.len()]>,
}

struct Link {
    wanted: watch::Sender<Peer>,
    state: Arc<State>,
    task: AbortHandle,
}

/// The state of a link.
struct State {
    kind: Kind,
    meter: Meter,
    connection: Mutex<Option<Connection>>,
    /// The link to the same relay at another cost, until this one is up. It is up, and replaces none itself.
    replaced: Mutex<Option<Link>>,
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
        timing.mtu_discovery = Some(true);
        let dialler = Dialler::new(origin, timing);
        Self { dialler, runtime: Handle::current(), live: Mutex::default(), past: Mutex::default() }
    }

    /// Keeps links to exactly these relays. While a link is up, a new address or key replaces it, and a new cost replaces it once the new link is up.
    /// All else applies to the next attempt.
    pub fn dial(&self, peers: Vec<Peer>) {
        let mut live = self.live.lock();
        let mut before = std::mem::take(&mut *live);
        for peer in peers {
            let link = match before.remove(&peer.name) {
                Some(known) if known.update(&peer) => known,
                Some(known) if leads_to(&known.wanted.borrow(), &peer) => {
                    known.state.end_replaced();
                    self.begin(peer.clone(), Some(known))
                }
                known => {
                    known.iter().for_each(|known| self.count_ended(known));
                    self.begin(peer.clone(), None)
                }
            };
            live.insert(peer.name, link);
        }
        before.values().for_each(|link| self.count_ended(link));
    }

    /// Keeps the sums of the traffic of a link that ends.
    fn count_ended(&self, link: &Link) {
        self.past.lock()[link.state.kind as usize].add(link.state.traffic().over());
    }

    fn begin(&self, peer: Peer, replaced: Option<Link>) -> Link {
        let kind = kind(&peer);
        let (wanted, peers) = watch::channel(peer);
        let state = Arc::new(State {
            kind,
            meter: Meter::new(),
            connection: Mutex::default(),
            replaced: Mutex::new(replaced),
            past: Mutex::default(),
        });
        let task = self.runtime.spawn(keep_link(self.dialler.for_link(), peers, state.clone()));
        Link { wanted, state, task: task.abort_handle() }
    }

    /// Reports whether the link to the relay of this name is up.
    pub fn is_up(&self, name: &str) -> bool {
        self.live.lock().get(name).is_some_and(|link| link.state.is_up())
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
            report.peers.push(metrics::Peer { name: name.clone(), up: link.state.round_trip() });
            report.traffic(link.state.kind).add(link.state.traffic());
        }
        for kind in Kind::ALL {
            report.traffic(kind).add(self.past.lock()[kind as usize]);
        }
    }
}

impl Link {
    /// Sets what the next attempt dials. Returns `false`, without effect, if the link is up to another address or at another cost, or is of another
    /// kind, so that another link has to replace it.
    fn update(&self, peer: &Peer) -> bool {
        let connection = self.state.connection.lock();
        let same_end = leads_to(&self.wanted.borrow(), peer);
        let is_same = same_end && self.wanted.borrow().cost == peer.cost;
        if (connection.is_some() && !is_same) || self.state.kind != kind(peer) {
            return false;
        }
        self.wanted.send_if_modified(|wanted| {
            let changed = wanted != peer;
            *wanted = peer.clone();
            changed
        });
        if !same_end {
            self.state.end_replaced();
        }
        true
    }
}

fn kind(peer: &Peer) -> Kind {
    if peer.in_other_region { Kind::RegionLink } else { Kind::Link }
}

/// Reports whether both have the same address and key.
fn leads_to(one: &Peer, other: &Peer) -> bool {
    let endpoint = |peer: &Peer| (peer.address, peer.port, peer.host.clone(), peer.key.clone());
    endpoint(one) == endpoint(other)
}

impl State {
    fn is_up(&self) -> bool {
        self.connection.lock().is_some() || self.replaced.lock().as_ref().is_some_and(|link| link.state.is_up())
    }

    /// The round-trip time while the link, or the one that it replaces, is up: the inner `None` until it is measured.
    fn round_trip(&self) -> Option<Option<Duration>> {
        let own = self.connection.lock().as_ref().map(|up| up.monitor().stats().and_then(|stats| stats.rtt));
        own.or_else(|| self.replaced.lock().as_ref()?.state.round_trip())
    }

    fn traffic(&self) -> Traffic {
        let now = self.connection.lock().as_ref().and_then(|up| up.monitor().stats());
        let mut traffic = self.meter.read(now.unwrap_or_default());
        traffic.add(*self.past.lock());
        if let Some(replaced) = &*self.replaced.lock() {
            traffic.add(replaced.state.traffic());
        }
        traffic
    }

    /// Keeps a new connection, unless another one is wanted by now.
    fn up(&self, connection: &Connection, dialled: &Peer, wanted: &watch::Receiver<Peer>) -> bool {
        let mut up = self.connection.lock();
        let wanted = wanted.borrow();
        let is_wanted = leads_to(&wanted, dialled) && wanted.cost == dialled.cost;
        *up = is_wanted.then(|| connection.clone());
        is_wanted
    }

    fn down(&self) {
        if let Some(stats) = self.connection.lock().take().and_then(|ended| ended.monitor().stats()) {
            self.past.lock().add(Traffic::packets(stats));
        }
    }

    /// Ends the link that this one replaces, and keeps the sums of its traffic.
    fn end_replaced(&self) {
        let replaced = self.replaced.lock().take();
        if let Some(replaced) = replaced {
            self.past.lock().add(replaced.state.traffic().over());
        }
    }
}

/// Keeps a link to one relay: dials it again whenever the link ends, with its current lease.
async fn keep_link(dialler: Dialler, mut wanted: watch::Receiver<Peer>, state: Arc<State>) {
    let mut backoff = Backoff::default();
    loop {
        let (peer, connection) = dialler.dial(&mut wanted, &mut backoff, &state.meter).await;
        if !state.up(&connection, &peer, &wanted) {
            continue;
        }
        let peer = peer.name;
        tracing::info!(peer, "link up");
        let began = Instant::now();
        let ended = tokio::select! {
            ended = connection.closed() => ended,
            () = async { sleep(REPLACEMENT_OVERLAP).await; state.end_replaced(); std::future::pending().await } => Ok(()),
        };
        state.down();
        tracing::info!(peer, error = ended.err().map(|error| error.to_string()), "link down");
        backoff.link_lasted(began.elapsed());
        tokio::select! {
            () = sleep(backoff.pause()) => {}
            _ = wanted.changed() => {}
        }
    }
}
