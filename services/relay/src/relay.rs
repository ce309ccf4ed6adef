//! The state that all parts of a pod share. It starts nothing and knows nothing of the servers that use it.
pub mod cached;
pub mod clients;
pub mod reassembly;

use crate::config::Settings;
use crate::limits::Limits;
use cached::Cached;
use clients::Clients;
use parley_access::{Access, Ports};
use parley_cluster::{self as cluster, LinkCounts};
use parley_media::Media;
use parley_net::addresses::Addresses;
use parley_net::size;
use parley_streams::queue::{Backlog, Bounds};
use parley_streams::{Clock, Counters, Interest, Topic, Topics};
use reassembly::Reassembly;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// The shared state of a pod.
pub struct Relay {
    /// The settings in force.
    pub settings: Settings,
    /// The limits in force.
    pub limits: Limits,
    /// The topics.
    pub topics: Arc<Topics>,
    /// Their clients.
    pub clients: Arc<Clients>,
    /// Authorizes clients; `None` if the relay requires no tokens.
    pub access: Option<Access>,
    /// The TCP connections.
    pub addresses: Arc<Addresses>,
    /// The messages in the queues of all readers.
    pub backlog: Arc<Backlog>,
    /// The memory of incomplete messages.
    pub reassembly: Reassembly,
    /// The counters of topics.
    pub counters: Arc<Counters>,
    /// The counters of links.
    pub links: LinkCounts,
    /// The media server, if the pod carries media.
    pub media: Option<Arc<Media>>,
    /// The last answers on `/ws`.
    pub(crate) stats_cache: StatsCache,
    /// The open sockets on `/ws`.
    pub stats_sockets: AtomicU64,
    /// The clock of the pod.
    pub clock: Clock,
    last_id: AtomicU64,
    draining: watch::Sender<bool>,
}

/// The last answers on `/ws`, encoded.
#[derive(Debug, Default)]
pub(crate) struct StatsCache {
    /// The messages about each client.
    pub clients: Cached,
    /// The message about the whole pod.
    pub pod: Cached,
}

/// The parts that are created before the state.
#[derive(Default)]
pub(crate) struct Parts {
    /// The topics to subscribe to at other pods; `None` if the pod is alone.
    pub interest: Option<Arc<Interest<Topic>>>,
    /// The stores of codes and revocations, if the relay requires tokens.
    pub ports: Option<Arc<Ports>>,
    /// The counters of links.
    pub links: LinkCounts,
    /// The media server.
    pub media: Option<Arc<Media>>,
}

impl Relay {
    /// Creates the state of a pod.
    pub(crate) fn new(settings: Settings, parts: Parts) -> Self {
        let Parts { interest, ports, links, media } = parts;
        let limits = settings.limits.clone();
        let access =
            settings.access.clone().zip(ports).map(|(rules, ports)| Access::new(rules, &limits.access(), ports));
        let kept = Arc::new(Backlog::new(limits.pod_replay_bytes));
        let (max_topics, replay_bytes) = (size(limits.pod_topics), size(limits.replay_bytes));
        let topics = Topics::new(max_topics, settings.replay.clone(), replay_bytes, kept, interest);
        Self {
            topics: Arc::new(topics),
            clients: Arc::default(),
            access,
            addresses: Arc::new(Addresses::new(limits.pod_sockets, limits.address_sockets)),
            backlog: Arc::new(Backlog::new(limits.pod_queued_bytes)),
            reassembly: Reassembly::new(limits.pod_reassembly_bytes, limits.address_reassembly_bytes),
            counters: Arc::default(),
            links,
            media,
            stats_cache: StatsCache::default(),
            stats_sockets: AtomicU64::new(0),
            clock: Clock::start(),
            last_id: AtomicU64::new(0),
            draining: watch::Sender::new(false),
            settings,
            limits,
        }
    }

    /// The topics whose messages links carry.
    pub fn streams(&self, interest: Arc<Interest<Topic>>) -> cluster::Streams {
        let (topics, counters) = (Arc::clone(&self.topics), Arc::clone(&self.counters));
        cluster::Streams { topics, interest, counters, clock: self.clock }
    }

    /// Milliseconds of the pod's clock; never 0, which stands for never.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// A number that no other client of the pod has.
    pub(crate) fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The bounds of the queue of each reader.
    pub fn bounds(&self) -> Bounds {
        Bounds { messages: size(self.limits.reader_messages), bytes: size(self.limits.reader_bytes) }
    }

    /// Whether the pod drains.
    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Begins to drain: the pod accepts no more clients.
    pub fn begin_drain(&self) {
        self.draining.send_replace(true);
    }

    /// Becomes true when the pod begins to drain.
    pub fn drains(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    /// Waits until the pod begins to drain.
    pub(crate) async fn drain_begins(&self) {
        let _ = self.draining.subscribe().wait_for(|draining| *draining).await;
    }
}
