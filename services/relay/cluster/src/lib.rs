//! Pods of a region as one relay: they find each other through leases on NATS, and send each other what the other's clients read
//! over direct links. A code or a revocation of one holds on all. Rules STR-90 to STR-99 and STR-117 to STR-119.
//!
//! | module | what |
//! |---|---|
//! | [`lease`], [`bus`], [`roll`] | who is there: what a pod says of itself, where it says it, who is dialled and forgotten |
//! | [`codes`], [`revocations`], [`word`] | one-use codes and revocations that hold on every pod |
//! | [`tls`], [`stream`] | who is at the other end of a link, and its encrypted bytes |
//! | [`frames`] | the wire of a link: bytes in, requests or batches out |
//! | [`dial`] | the hearing end: says what is read here, hands what comes to readers here |
//! | [`serve`], [`served`], [`lanes`] | the sending end: who dialled, what each wants, what waits for it |
//! | [`place`], [`url`], [`hash`], [`key`] | what a lease says of media, and of certificates |
//! | [`pulse`], [`end`], [`counts`], [`metrics`] | whether a link lives, why it ended, what crossed |
pub mod bus;
pub mod codes;
pub mod counts;
pub mod dial;
pub mod end;
pub mod frames;
pub mod hash;
pub mod key;
pub mod lanes;
pub mod lease;
mod limits;
pub mod metrics;
pub mod place;
pub mod pulse;
pub mod revocations;
pub mod roll;
pub mod serve;
pub mod served;
pub mod stream;
pub mod tls;
pub mod url;
pub mod word;

pub use limits::Limits;

use anyhow::{Context, ensure};
use bus::{Bus, Leases, Nats};
use counts::Counts;
use dial::Dialler;
use hash::Hash;
use lease::Lease;
use parley_access::{self as access, Revoked};
use parley_net::size;
use parley_streams::{Clock, Counters, Interest, Topic, Topics};
use place::{Others, Place};
use roll::{Heard, Roll};
use served::Served;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tls::Identity;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How a pod takes part.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where leases are heard.
    pub nats: Nats,
    /// Its name; the address of its links where there is none.
    pub pod: Option<String>,
    /// Pods of one region link.
    pub region: String,
    /// Where in the region.
    pub zone: String,
    /// Where links are taken; no edge leads there.
    pub listen: SocketAddr,
    /// Where other pods reach that.
    pub advertise: Option<SocketAddr>,
}

/// The topics that links carry.
#[derive(Clone)]
pub struct Streams {
    /// Those of this pod.
    pub topics: Arc<Topics>,
    /// What is read here.
    pub interest: Arc<Interest<Topic>>,
    /// Where deliveries are counted.
    pub counters: Arc<Counters>,
    /// The time that they go by.
    pub clock: Clock,
}

/// What the links of a pod share.
pub struct Shared {
    /// The topics that links carry.
    pub streams: Streams,
    /// The limits in force.
    pub limits: Limits,
    /// What it says of itself.
    pub own: Lease,
    /// The certificate of its links.
    pub identity: Identity,
    /// Who dialled it.
    pub served: Arc<Served>,
    /// What crossed.
    pub counts: Arc<Counts>,
    /// Where its media is, if it carries any; said at once when whoever sets it notifies.
    pub place: watch::Sender<Option<Place>>,
    /// The leases of the others that are kept.
    pub others: watch::Sender<Others>,
    leaving: watch::Sender<bool>,
}

impl Shared {
    /// Whether the pod goes.
    pub fn is_leaving(&self) -> bool {
        *self.leaving.borrow()
    }

    fn lease(&self) -> Lease {
        Lease { media: self.place.borrow().clone(), ..self.own.clone() }
    }

    fn note(&self, lease: Lease) {
        self.others.send_if_modified(|others| {
            let is_news = others.get(&lease.pod) != Some(&lease);
            others.insert(lease.pod.clone(), lease);
            is_news
        });
    }

    fn forget(&self, pod: &str) {
        self.others.send_if_modified(|others| others.remove(pod).is_some());
    }

    /// Waits until the pod's lease has this certificate, and answers the pod's run.
    async fn holder(&self, pod: &str, certificate: Hash) -> u64 {
        let mut others = self.others.subscribe();
        loop {
            let lease = others.borrow_and_update().get(pod).filter(|lease| lease.certificate == certificate).cloned();
            match lease {
                Some(lease) => return lease.epoch,
                // The sender lives as long as `self`.
                None => drop(others.changed().await),
            }
        }
    }
}

/// A pod's part in its region.
pub struct Cluster {
    /// What its links share.
    pub shared: Arc<Shared>,
    /// Its region.
    pub region: String,
    accepting: AbortHandle,
    finding: parking_lot::Mutex<Option<JoinHandle<()>>>,
}

/// A pod that has its link port and its place on the bus, and takes no part yet.
pub struct Joined {
    /// The bus.
    pub bus: Bus,
    /// What it says of itself.
    pub own: Lease,
    listener: TcpListener,
    identity: Identity,
    region: String,
}

/// Binds the link port, so that one that is taken ends the process before anything else happened, and joins the bus.
pub async fn join(config: &Config) -> anyhow::Result<Joined> {
    let listener =
        TcpListener::bind(config.listen).await.with_context(|| format!("cannot take links on {}", config.listen))?;
    let link = config.advertise.unwrap_or(listener.local_addr()?);
    ensure!(!link.ip().is_unspecified(), "set link-advertise: others cannot reach {link}");
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

/// A pod that was given no name has that of its address.
fn name_of(link: SocketAddr) -> String {
    link.to_string().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

/// Codes and revocations that hold on every pod.
pub fn ports(bus: &Bus, pod: &str, limits: &Limits, counts: &Arc<Counts>) -> access::Ports {
    let revoked = Arc::new(Revoked::new(access::revocations::most(&limits.access)));
    let own = access::one_use::Memory::of(pod, &limits.access);
    access::Ports {
        codes: Box::new(codes::Spread::start(own, bus, Duration::from_millis(limits.code_timeout), counts)),
        revocations: Box::new(revocations::Spread::start(&revoked, bus, limits, counts)),
        revoked,
    }
}

/// Takes part.
pub async fn start(joined: Joined, streams: Streams, limits: Limits, counts: Arc<Counts>) -> anyhow::Result<Cluster> {
    let Joined { bus, listener, own, identity, region } = joined;
    let leases = Leases::hear(bus.clone(), &region, &own, Arc::clone(&counts)).await?;
    let address = listener.local_addr()?;
    tracing::info!(%address, advertised = %own.link, pod = own.pod, region, "accepting links");
    let shared = Arc::new(Shared {
        streams,
        own,
        identity,
        served: Arc::new(Served::new(size(limits.link_peers))),
        limits,
        counts,
        place: watch::Sender::default(),
        others: watch::Sender::default(),
        leaving: watch::Sender::new(false),
    });
    let accepting = tokio::spawn(serve::accept(listener, Arc::clone(&shared))).abort_handle();
    let finding = tokio::spawn(find(bus, leases, Arc::clone(&shared)));
    Ok(Cluster { shared, region, accepting, finding: parking_lot::Mutex::new(Some(finding)) })
}

impl Cluster {
    /// Gives up the lease, sends what waits for other pods, and ends the links: a second each at most. Rule STR-99.
    pub async fn leave(&self) {
        self.shared.leaving.send_replace(true);
        let finding = self.finding.lock().take();
        if let Some(finding) = finding {
            let _ = timeout(Duration::from_secs(1), finding).await;
        }
        self.accepting.abort();
        self.shared.served.finish();
        let ended = async {
            while self.shared.served.count() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let all = timeout(serve::GOODBYE, ended).await.is_ok();
        tracing::info!(all, "links closed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.accepting.abort();
        if let Some(finding) = self.finding.get_mut() {
            finding.abort();
        }
    }
}

/// Says the lease, hears the others', and dials; at the end says that the pod goes.
async fn find(bus: Bus, mut leases: Leases, shared: Arc<Shared>) {
    let limits = &shared.limits;
    let mut roll = Roll::new(shared.own.clone(), Duration::from_millis(limits.lease_duration), size(limits.link_peers));
    let mut ticks = interval(Duration::from_millis(limits.lease_interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut leaving = shared.leaving.subscribe();
    let mut place = shared.place.subscribe();
    let mut connects = bus.connects();
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                leases.say(&shared.lease()).await;
                shared.counts.bus.set(u64::from(bus.is_connected()));
                for pod in roll.lapse(Instant::now(), Dialler::is_up) {
                    tracing::info!(pod, "pod lost");
                    shared.forget(&pod);
                }
            }
            lease = leases.next() => {
                let (pod, epoch) = (lease.pod.clone(), lease.epoch);
                match roll.heard(lease.clone(), Instant::now(), |lease| Dialler::start(lease, &shared)) {
                    Heard::New | Heard::Restarted => {
                        tracing::info!(pod, epoch, "pod discovered");
                        shared.note(lease);
                        // It need not wait for the next tick to find this one.
                        leases.say(&shared.lease()).await;
                    }
                    Heard::Known => shared.note(lease),
                    Heard::Gone => shared.forget(&pod),
                    Heard::Twin => tracing::warn!(pod, epoch, "another pod has the name of this pod: set pod"),
                    Heard::Full => tracing::warn!(pod, "pod not linked: link.peers reached"),
                    Heard::Own | Heard::Late => {}
                }
            }
            // What was to be said while the server was away is said now.
            Ok(()) = connects.changed() => ticks.reset_immediately(),
            Ok(()) = place.changed() => leases.say(&shared.lease()).await,
            _ = leaving.changed() => break,
        }
    }
    leases.say(&Lease { draining: true, ..shared.own.clone() }).await;
    bus.flush().await;
}
