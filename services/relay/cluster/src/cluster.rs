//! Starts and ends the participation of a pod in its region, and in the links between regions.
use crate::bus::{Bus, Leases, Nats};
use crate::counts::Counts;
use crate::lease::{Lease, Reach, name_in_all_regions};
use crate::shared::{Scope, Shared, Streams};
use crate::tls::Identity;
use crate::{Limits, codes, discovery, revocations, serve};
use anyhow::{Context, ensure};
use parley_access::{self as access, Revoked};
use parley_streams::crossing::Own;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::{TcpListener, lookup_host};
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
    /// The links to other regions; `None`: the pod takes no part in them.
    pub public: Option<Public>,
}

/// Where pods of other regions reach this one.
#[derive(Clone, Debug)]
pub struct Public {
    /// The address on which their links are accepted.
    pub listen: SocketAddr,
    /// The address at which they reach `listen`: `HOST:PORT`; a name is resolved at the start, to IPv4 where it has both families.
    pub advertise: Option<String>,
}

/// The counters of links.
#[derive(Clone, Default)]
pub struct LinkCounts {
    /// Of links within the region.
    pub region: Arc<Counts>,
    /// Of links to other regions.
    pub ocean: Arc<Counts>,
}

/// The participation of a pod in its region.
pub struct Cluster {
    /// The state that its links share.
    pub shared: Arc<Shared>,
    /// Its region.
    pub region: String,
    ocean: Option<Arc<Shared>>,
    accepting: Vec<AbortHandle>,
    discovery: parking_lot::Mutex<Vec<JoinHandle<()>>>,
}

/// A pod that has bound its link port and connects to NATS, but exchanges no leases yet.
pub struct Joined {
    /// The connection to NATS.
    pub bus: Bus,
    /// The lease of this pod.
    pub own: Lease,
    listener: TcpListener,
    /// The listener for other regions, and the address at which they reach it.
    public: Option<(TcpListener, SocketAddr)>,
    identity: Arc<Identity>,
    region: String,
}

/// Binds the link port first, so that a port in use ends the process before any other effect, and connects to NATS.
pub async fn join(config: &Config) -> anyhow::Result<Joined> {
    let listener =
        TcpListener::bind(config.listen).await.with_context(|| format!("cannot accept links on {}", config.listen))?;
    let link = config.advertise.unwrap_or(listener.local_addr()?);
    ensure!(!link.ip().is_unspecified(), "set link-advertise: other pods cannot reach {link}");
    let public = match &config.public {
        Some(public) => Some(open_public(public).await?),
        None => None,
    };
    let identity = Arc::new(Identity::new()?);
    let own = Lease {
        pod: config.pod.clone().unwrap_or_else(|| name_of(link)),
        epoch: u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?,
        zone: config.zone.clone(),
        link,
        certificate: identity.certificate,
        draining: false,
        reach: Reach { hops: true, ocean: public.is_some(), region: None },
        media: None,
    };
    let bus = Bus::join(&config.nats, &own.pod).await?;
    Ok(Joined { bus, listener, public, own, identity, region: config.region.clone() })
}

async fn open_public(public: &Public) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(public.listen)
        .await
        .with_context(|| format!("cannot accept links of other regions on {}", public.listen))?;
    let address = match &public.advertise {
        Some(name) => {
            // Every region has IPv4 where one has both families.
            let found = lookup_host(name).await.ok().and_then(|addresses| addresses.min_by_key(SocketAddr::is_ipv6));
            found.with_context(|| format!("link-advertise-public has no address: {name}"))?
        }
        None => listener.local_addr()?,
    };
    ensure!(!address.ip().is_unspecified(), "set link-advertise-public: other regions cannot reach {address}");
    Ok((listener, address))
}

impl Joined {
    /// This pod, as the choice of ports sees it.
    pub fn own(&self) -> Own {
        Own {
            name: name_in_all_regions(&self.region, &self.own.pod).into(),
            origin: self.own.certificate.number(),
            is_port: self.public.is_some(),
        }
    }
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
pub async fn start(joined: Joined, streams: Streams, limits: Limits, counts: LinkCounts) -> anyhow::Result<Cluster> {
    let Joined { bus, listener, public, own, identity, region } = joined;
    let mut cluster = Start { accepting: Vec::new(), discovery: Vec::new(), bus };
    let leases = Leases::of_region(cluster.bus.clone(), &region, &own, Arc::clone(&counts.region)).await?;
    tracing::info!(address = %listener.local_addr()?, advertised = %own.link, pod = own.pod, region, "accepting links");
    let shared = Shared::new(
        Scope::Region,
        region.clone(),
        own.clone(),
        streams.clone(),
        limits.clone(),
        Arc::clone(&identity),
        counts.region,
    );
    let shared = cluster.run(shared, listener, leases);
    let ocean = match public {
        Some((listener, address)) => {
            let public = own.in_all_regions(&region, address);
            let (bus, refusals) = (cluster.bus.clone(), Arc::clone(&counts.ocean));
            let leases = Leases::of_all_regions(bus, &region, &own.pod, &public, refusals).await?;
            let address = listener.local_addr()?;
            tracing::info!(%address, advertised = %public.link, pod = public.pod, "accepting links of other regions");
            let shared = Shared::new(Scope::Ocean, region.clone(), public, streams, limits, identity, counts.ocean);
            Some(cluster.run(shared, listener, leases))
        }
        None => None,
    };
    let Start { accepting, discovery, .. } = cluster;
    Ok(Cluster { shared, region, ocean, accepting, discovery: parking_lot::Mutex::new(discovery) })
}

/// The tasks that were started.
struct Start {
    accepting: Vec<AbortHandle>,
    discovery: Vec<JoinHandle<()>>,
    bus: Bus,
}

impl Start {
    /// Accepts and dials the links of one scope.
    fn run(&mut self, shared: Shared, listener: TcpListener, leases: Leases) -> Arc<Shared> {
        let shared = Arc::new(shared);
        self.accepting.push(tokio::spawn(serve::accept(listener, Arc::clone(&shared))).abort_handle());
        self.discovery.push(tokio::spawn(discovery::run(self.bus.clone(), leases, Arc::clone(&shared))));
        shared
    }
}

impl Cluster {
    /// Publishes the last lease, sends what waits for other pods, and ends the links; each step takes at most a second. Rule STR-99.
    pub async fn leave(&self) {
        let scopes = || [&self.shared].into_iter().chain(&self.ocean);
        scopes().for_each(|shared| shared.begin_drain());
        let discovery = std::mem::take(&mut *self.discovery.lock());
        for task in discovery {
            let _ = timeout(Duration::from_secs(1), task).await;
        }
        self.accepting.iter().for_each(AbortHandle::abort);
        scopes().for_each(|shared| shared.accepted.finish());
        let ended = async {
            while scopes().any(|shared| shared.accepted.count() > 0) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let all = timeout(serve::CLOSE_TIMEOUT, ended).await.is_ok();
        tracing::info!(all, "links closed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.accepting.iter().for_each(AbortHandle::abort);
        self.discovery.get_mut().iter().for_each(JoinHandle::abort);
    }
}
