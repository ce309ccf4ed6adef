//! Starts the parts of a pod, in order: sockets, NATS, media, the shared state, the servers, links.
use crate::config::Settings;
use crate::key_files;
use crate::relay::{Parts, Relay};
use crate::server::{accept, ops, sweep};
use anyhow::Context;
use parking_lot::Mutex;
use parley_access::Ports;
use parley_cluster::{self as cluster, Cluster, Joined, LinkCounts};
use parley_media::mutes::Mutes;
use parley_media::{self as media, Guard, LinkKeys, Media};
use parley_net::size;
use parley_streams::Interest;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

/// A relay that accepts connections. Dropping it aborts its tasks.
pub struct Running {
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The address of `ops-listen`, if configured.
    pub ops: Option<SocketAddr>,
    /// The shared state.
    pub relay: Arc<Relay>,
    /// The participation in the region, if there is one.
    pub cluster: Option<Cluster>,
    /// Ends when the pod drains and accepts no more connections.
    pub accepting: JoinHandle<()>,
    sweeping: JoinHandle<()>,
    following: JoinHandle<()>,
    answering: Option<JoinHandle<()>>,
    /// Follows whom owners muted.
    muting: Option<JoinHandle<()>>,
    /// Announces the media server. Ends when the announcement that it drains was published.
    pub announcing: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.accepting.abort();
        self.sweeping.abort();
        self.following.abort();
        for task in self.answering.iter().chain(&self.muting).chain(self.announcing.get_mut().iter()) {
            task.abort();
        }
    }
}

/// The accept queue of a listening socket, for many clients that connect at the same time.
const ACCEPT_QUEUE: u32 = 4096;

/// Starts a relay. Binds its ports first, so that a port in use ends the process before any other effect.
pub async fn relay(settings: Settings) -> anyhow::Result<Running> {
    media::choose_cryptography();
    let listener = listen(settings.listen)?;
    let address = listener.local_addr()?;
    let ops_listener = settings.ops_listen.map(listen).transpose()?;
    let ops = ops_listener.as_ref().map(TcpListener::local_addr).transpose()?;
    let joined = match &settings.cluster {
        Some(config) => Some(cluster::join(config).await?),
        None => None,
    };
    let interest = joined.as_ref().map(|joined| Arc::new(Interest::new(joined.own())));
    let links = LinkCounts::default();
    let ports = ports(&settings, joined.as_ref(), &links);
    let following = tokio::spawn(key_files::follow(settings.key_files.clone(), key_files::READ_INTERVAL));
    let media = open_media(&settings, joined.as_ref(), ports.as_ref()).await?;
    let relay = Arc::new(Relay::new(settings, Parts { interest: interest.clone(), ports, links, media }));
    let accepting = tokio::spawn(accept::run(listener, Arc::clone(&relay)));
    let sweeping = tokio::spawn(sweep::run(Arc::clone(&relay)));
    let answering = ops_listener.map(|listener| tokio::spawn(ops::run(listener, Arc::clone(&relay))));
    tracing::info!(%address, threads = relay.settings.threads, "listening");
    if let Some(address) = ops {
        tracing::info!(%address, "listening for operations");
    }
    let bus = joined.as_ref().map(|joined| joined.bus.clone());
    let cluster = match joined.zip(interest) {
        Some((joined, interest)) => {
            let streams = relay.streams(interest);
            Some(cluster::start(joined, streams, relay.limits.cluster(), relay.links.clone()).await?)
        }
        None => None,
    };
    let muting = relay.media.clone().zip(bus.clone()).map(|(media, bus)| tokio::spawn(media.follow_mutes(bus)));
    let announcing = relay.media.clone().zip(cluster.as_ref().zip(bus)).map(|(media, (cluster, bus))| {
        let region = cluster.region.clone();
        tokio::spawn(media.publish_leases(Arc::clone(&cluster.shared), bus, region, relay.drains()))
    });
    let announcing = Mutex::new(announcing);
    Ok(Running { address, ops, relay, cluster, accepting, sweeping, following, answering, muting, announcing })
}

/// The stores of codes and revocations, if topics or media require tokens.
fn ports(settings: &Settings, joined: Option<&Joined>, links: &LinkCounts) -> Option<Arc<Ports>> {
    let media = settings.media.as_ref().and_then(|media| media.keys.as_ref());
    let is_required = settings.access.is_some() || media.is_some();
    let limits = &settings.limits;
    let shared = |joined: &Joined| cluster::ports(&joined.bus, &joined.own.pod, &limits.cluster(), &links.region);
    is_required.then(|| Arc::new(joined.map_or_else(|| Ports::in_memory(&limits.access()), shared)))
}

async fn open_media(
    settings: &Settings,
    joined: Option<&Joined>,
    ports: Option<&Arc<Ports>>,
) -> anyhow::Result<Option<Arc<Media>>> {
    let Some(config) = &settings.media else { return Ok(None) };
    let guard = Guard {
        tokens: config.keys.clone().zip(ports.cloned()),
        link_keys: joined.map(|_| LinkKeys::random()),
        mutes: Arc::new(Mutes::new(size(settings.limits.media_mutes))),
        origins: settings.origins.clone(),
        trusted_proxies: settings.trusted_proxies,
        limits: settings.limits.access(),
        token_age: settings.limits.media_token_max_age,
    };
    Media::open(config, guard, settings.limits.media()).await.map(|media| Some(Arc::new(media)))
}

fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    bind(address).with_context(|| format!("cannot listen on {address}"))
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ACCEPT_QUEUE)
}
