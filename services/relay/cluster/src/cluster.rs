//! Starts and ends the participation of a pod in its region.
use crate::bus::{Bus, Leases, Nats};
use crate::counts::Counts;
use crate::lease::Lease;
use crate::shared::{Shared, Streams};
use crate::tls::Identity;
use crate::{Limits, codes, discovery, revocations, serve};
use anyhow::{Context, ensure};
use parley_access::{self as access, Revoked};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

/// The configuration of a pod of several.
#[derive(Clone, Debug)]
pub struct Config {
    /// The NATS servers on which leases are exchanged.
    pub nats: Nats,
    /// The name of the pod; by default derived from the address of its links.
    pub pod: Option<String>,
    /// The region; pods of one region link to each other.
    pub region: String,
    /// The zone within the region.
    pub zone: String,
    /// The address on which links are accepted; the edge does not route to it.
    pub listen: SocketAddr,
    /// The address at which other pods reach `listen`.
    pub advertise: Option<SocketAddr>,
}

/// The participation of a pod in its region.
pub struct Cluster {
    /// The state that its links share.
    pub shared: Arc<Shared>,
    /// Its region.
    pub region: String,
    accepting: AbortHandle,
    discovery: parking_lot::Mutex<Option<JoinHandle<()>>>,
}

/// A pod that has bound its link port and connects to NATS, but exchanges no leases yet.
pub struct Joined {
    /// The connection to NATS.
    pub bus: Bus,
    /// The lease of this pod.
    pub own: Lease,
    listener: TcpListener,
    identity: Identity,
    region: String,
}

/// Binds the link port first, so that a port in use ends the process before any other effect, and connects to NATS.
pub async fn join(config: &Config) -> anyhow::Result<Joined> {
    let listener =
        TcpListener::bind(config.listen).await.with_context(|| format!("cannot accept links on {}", config.listen))?;
    let link = config.advertise.unwrap_or(listener.local_addr()?);
    ensure!(!link.ip().is_unspecified(), "set link-advertise: other pods cannot reach {link}");
    let identity = Identity::new()?;
    let own = Lease {
        pod: config.pod.clone().unwrap_or_else(|| name_of(link)),
        epoch: u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?,
        zone: config.zone.clone(),
        link,
        certificate: identity.certificate,
        draining: false,
        media: None,
    };
    let bus = Bus::join(&config.nats, &own.pod).await?;
    Ok(Joined { bus, listener, own, identity, region: config.region.clone() })
}

/// The name of a pod without a configured name: its address.
fn name_of(link: SocketAddr) -> String {
    link.to_string().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

/// The stores of codes and revocations that are valid on every pod.
pub fn ports(bus: &Bus, pod: &str, limits: &Limits, counts: &Arc<Counts>) -> access::Ports {
    let revoked = Arc::new(Revoked::new(access::revocations::capacity(&limits.access)));
    let own = access::one_use::Memory::of(pod, &limits.access);
    access::Ports {
        codes: Box::new(codes::ClusterCodes::start(own, bus, Duration::from_millis(limits.code_timeout), counts)),
        revocations: Box::new(revocations::ClusterRevocations::start(&revoked, bus, limits, counts)),
        revoked,
    }
}

/// Starts to accept links and to exchange leases.
pub async fn start(joined: Joined, streams: Streams, limits: Limits, counts: Arc<Counts>) -> anyhow::Result<Cluster> {
    let Joined { bus, listener, own, identity, region } = joined;
    let leases = Leases::subscribe(bus.clone(), &region, &own, Arc::clone(&counts)).await?;
    let address = listener.local_addr()?;
    tracing::info!(%address, advertised = %own.link, pod = own.pod, region, "accepting links");
    let shared = Arc::new(Shared::new(streams, limits, own, identity, counts));
    let accepting = tokio::spawn(serve::accept(listener, Arc::clone(&shared))).abort_handle();
    let discovery = tokio::spawn(discovery::run(bus, leases, Arc::clone(&shared)));
    Ok(Cluster { shared, region, accepting, discovery: parking_lot::Mutex::new(Some(discovery)) })
}

impl Cluster {
    /// Publishes the last lease, sends what waits for other pods, and ends the links; each step takes at most a second. Rule STR-99.
    pub async fn leave(&self) {
        self.shared.begin_drain();
        let discovery = self.discovery.lock().take();
        if let Some(discovery) = discovery {
            let _ = timeout(Duration::from_secs(1), discovery).await;
        }
        self.accepting.abort();
        self.shared.accepted.finish();
        let ended = async {
            while self.shared.accepted.count() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let all = timeout(serve::CLOSE_TIMEOUT, ended).await.is_ok();
        tracing::info!(all, "links closed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.accepting.abort();
        if let Some(discovery) = self.discovery.get_mut() {
            discovery.abort();
        }
    }
}
