//! The relay as a whole: what its parts share, and the order they start in.
use crate::config::Settings;
use crate::limits::Limits;
use crate::server::{accept, ops, sweep};
use crate::stats::{Answers, Clients};
use anyhow::Context;
use parking_lot::Mutex;
use parley_access::{Access, Ports};
use parley_cluster::key::Key;
use parley_cluster::{self as cluster, Cluster, Joined};
use parley_media::{self as media, Guard, Media};
use parley_net::addresses::Addresses;
use parley_net::network::Shares;
use parley_net::size;
use parley_streams::queue::{Backlog, Bounds};
use parley_streams::{Clock, Counters, Interest, Topic, Topics};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What every part of a pod shares.
pub struct Relay {
    /// The settings in force.
    pub settings: Settings,
    /// The limits in force.
    pub limits: Limits,
    /// The topics.
    pub topics: Arc<Topics>,
    /// The clients on them.
    pub clients: Arc<Clients>,
    /// The door, where tokens are asked for.
    pub access: Option<Access>,
    /// The TCP connections.
    pub addresses: Arc<Addresses>,
    /// The readers' queues, taken together.
    pub backlog: Arc<Backlog>,
    /// Incomplete messages, taken together.
    pub assembly: Assembly,
    /// Numbers that only grow.
    pub counters: Arc<Counters>,
    /// What crosses to and from other pods.
    pub links: Arc<cluster::counts::Counts>,
    /// The second door, if there is one.
    pub media: Option<Arc<Media>>,
    /// What `/ws` was answered last.
    pub answers: Answers,
    /// Sockets on `/ws`.
    pub stats_sockets: AtomicU64,
    /// The pod's clock.
    pub clock: Clock,
    last_id: AtomicU64,
    drains: watch::Sender<bool>,
}

/// Memory that holds incomplete messages. Rules STR-15 and STR-131.
#[derive(Debug)]
pub struct Assembly {
    bytes: AtomicU64,
    limit: u64,
    shares: Shares,
}

impl Assembly {
    /// Bytes now.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// What one socket of a network holds changed. False: it grew, and its network or all together are over the limit.
    pub fn change(&self, network: IpAddr, before: usize, now: usize) -> bool {
        let (before, now) = (before as u64, now as u64);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
        let all = self.bytes.fetch_add(now, Ordering::Relaxed) + now;
        let network_fits = self.shares.change(network, before, now);
        network_fits && (now <= before || all <= self.limit)
    }
}

/// A relay that takes connections.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it answers operators, if apart.
    pub ops: Option<SocketAddr>,
    /// Its parts.
    pub relay: Arc<Relay>,
    /// Its part among other pods, if it has one.
    pub cluster: Option<Cluster>,
    /// Ends when no more connections are taken.
    pub accepting: JoinHandle<()>,
    sweeping: JoinHandle<()>,
    answering: Option<JoinHandle<()>>,
    /// Ends when it was said that the pod's media goes.
    pub telling: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.accepting.abort();
        self.sweeping.abort();
        for task in self.answering.iter().chain(self.telling.get_mut().iter()) {
            task.abort();
        }
    }
}

/// Connections that wait to be accepted while a herd arrives.
const BACKLOG: u32 = 4096;

/// Starts a relay: binds first, so that a port that is taken ends it before anything else happened.
pub async fn start(settings: Settings) -> anyhow::Result<Running> {
    media::choose_cryptography();
    let listener = listen(settings.listen).with_context(|| format!("cannot listen on {}", settings.listen))?;
    let address = listener.local_addr()?;
    let for_operators = settings.ops_listen.map(|ops| listen(ops).with_context(|| format!("cannot listen on {ops}")));
    let for_operators = for_operators.transpose()?;
    let ops = for_operators.as_ref().map(TcpListener::local_addr).transpose()?;
    let joined = match &settings.cluster {
        Some(config) => Some(cluster::join(config).await?),
        None => None,
    };
    let interest = joined.as_ref().map(|_| Arc::new(Interest::default()));
    let links = Arc::default();
    let ports = ports(&settings, joined.as_ref(), &links);
    let media = open_media(&settings, joined.as_ref(), ports.as_ref()).await?;
    let relay = Arc::new(Relay::new(settings, interest.clone(), ports, links, media));
    let accepting = tokio::spawn(accept::run(listener, Arc::clone(&relay)));
    let sweeping = tokio::spawn(sweep::run(Arc::clone(&relay)));
    let answering = for_operators.map(|listener| tokio::spawn(ops::run(listener, Arc::clone(&relay))));
    tracing::info!(%address, threads = relay.settings.threads, "listening");
    if let Some(address) = ops {
        tracing::info!(%address, "listening for operations");
    }
    let bus = joined.as_ref().map(|joined| joined.bus.clone());
    let cluster = match joined.zip(interest) {
        Some((joined, interest)) => {
            let streams = relay.streams(interest);
            Some(cluster::start(joined, streams, relay.limits.cluster(), Arc::clone(&relay.links)).await?)
        }
        None => None,
    };
    let telling = relay.media.clone().zip(cluster.as_ref().zip(bus)).map(|(media, (cluster, bus))| {
        let region = cluster.region.clone();
        tokio::spawn(media.tell(Arc::clone(&cluster.shared), bus, region, relay.drains.subscribe()))
    });
    let telling = Mutex::new(telling);
    Ok(Running { address, ops, relay, cluster, accepting, sweeping, answering, telling })
}

/// What both doors ask about tokens, if one of them does.
fn ports(settings: &Settings, joined: Option<&Joined>, links: &Arc<cluster::counts::Counts>) -> Option<Arc<Ports>> {
    let media = settings.media.as_ref().and_then(|media| media.keys.as_ref());
    let asks = settings.access.is_some() || media.is_some();
    let limits = &settings.limits;
    let among = |joined: &Joined| cluster::ports(&joined.bus, &joined.own.pod, &limits.cluster(), links);
    asks.then(|| Arc::new(joined.map_or_else(|| Ports::alone(&limits.access()), among)))
}

async fn open_media(
    settings: &Settings,
    joined: Option<&Joined>,
    ports: Option<&Arc<Ports>>,
) -> anyhow::Result<Option<Arc<Media>>> {
    let Some(config) = &settings.media else { return Ok(None) };
    let guard = Guard {
        tokens: config.keys.clone().zip(ports.cloned()),
        key: joined.map(|_| Key::random()),
        origins: settings.origins.clone(),
        trusted_proxies: settings.trusted_proxies,
        limits: settings.limits.access(),
        token_age: settings.limits.media_token_max_age,
    };
    Media::open(config, guard, settings.limits.media()).await.map(|media| Some(Arc::new(media)))
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Relay {
    fn new(
        settings: Settings,
        interest: Option<Arc<Interest<Topic>>>,
        ports: Option<Arc<Ports>>,
        links: Arc<cluster::counts::Counts>,
        media: Option<Arc<Media>>,
    ) -> Self {
        let limits = settings.limits.clone();
        let access =
            settings.access.clone().zip(ports).map(|(rules, ports)| Access::new(rules, &limits.access(), ports));
        let kept = Arc::new(Backlog::new(limits.pod_replay_bytes));
        let (most, replay_bytes) = (size(limits.pod_topics), size(limits.replay_bytes));
        let topics = Topics::new(most, settings.replay.clone(), replay_bytes, kept, interest);
        Self {
            topics: Arc::new(topics),
            clients: Arc::default(),
            access,
            addresses: Arc::new(Addresses::new(limits.pod_sockets, limits.address_sockets)),
            backlog: Arc::new(Backlog::new(limits.pod_queued_bytes)),
            assembly: Assembly {
                bytes: AtomicU64::new(0),
                limit: limits.pod_reassembly_bytes,
                shares: Shares::new(limits.address_reassembly_bytes),
            },
            counters: Arc::default(),
            links,
            media,
            answers: Answers::default(),
            stats_sockets: AtomicU64::new(0),
            clock: Clock::start(),
            last_id: AtomicU64::new(0),
            drains: watch::Sender::new(false),
            settings,
            limits,
        }
    }

    /// What links carry.
    fn streams(&self, interest: Arc<Interest<Topic>>) -> cluster::Streams {
        let (topics, counters) = (Arc::clone(&self.topics), Arc::clone(&self.counters));
        cluster::Streams { topics, interest, counters, clock: self.clock }
    }

    /// Milliseconds of the pod's clock; never 0, which stands for never.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// A number no other client of the pod has.
    pub fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The bounds of every reader's queue.
    pub fn bounds(&self) -> Bounds {
        Bounds { messages: size(self.limits.reader_messages), bytes: size(self.limits.reader_bytes) }
    }

    /// Whether the pod takes nobody any more.
    pub fn is_draining(&self) -> bool {
        *self.drains.borrow()
    }

    /// Takes nobody from now on.
    pub fn begin_drain(&self) {
        self.drains.send_replace(true);
    }

    /// Waits until the pod drains.
    pub async fn drain_begins(&self) {
        let _ = self.drains.subscribe().wait_for(|drains| *drains).await;
    }
}
