//! Dials another relay until a link is up (MED-42).
use anyhow::{Context, Result};
use moq_net::origin;
use moq_tokio::{Connection, connect, quic};
use rand::RngExt as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::lookup_host;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::server::lookup::Lookups;
use crate::server::metrics::Meter;
use crate::server::{Peer, certificates};

/// The longest attempt to connect: four round trips of 300 ms, some of them twice.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);
/// The first and the longest pause between attempts. With the time of a handshake, a relay that is reachable again is connected within two seconds.
const MIN_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// Dials relays.
pub(crate) struct Dialler {
    origin: origin::Producer,
    timing: quic::Config,
    lookups: Arc<Lookups>,
}

/// The pause before the next attempt, which grows with each failure.
pub(crate) struct Backoff {
    next: Duration,
    /// When the last attempt began.
    began: Option<Instant>,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: MIN_BACKOFF, began: None }
    }
}

impl Backoff {
    /// Returns a random pause.
    pub fn pause(&mut self) -> Duration {
        let pause = jitter(self.next);
        self.next = (self.next * 2).min(MAX_BACKOFF);
        pause
    }

    /// Waits until an attempt may begin: `MIN_BACKOFF` after the last one, however often the lease changes.
    async fn attempt(&mut self) {
        if let Some(began) = self.began {
            sleep_until(began + MIN_BACKOFF).await;
        }
        self.began = Some(Instant::now());
    }

    /// The pauses begin again after a link that lasted; one that a relay closes at once is a failure.
    pub fn link_lasted(&mut self, time: Duration) {
        if time > DIAL_TIMEOUT {
            self.next = MIN_BACKOFF;
        }
    }
}

fn jitter(pause: Duration) -> Duration {
    pause.mul_f64(rand::rng().random_range(0.5..=1.0))
}

impl Dialler {
    pub fn new(origin: origin::Producer, timing: quic::Config) -> Self {
        Self { origin, timing, lookups: Arc::default() }
    }

    /// Returns a dialler for one link.
    pub fn for_link(&self) -> Self {
        Self::new(self.origin.clone().peer(), self.timing.clone())
    }

    /// Dials a relay until a link is up, and returns the relay and the link. An attempt without an answer does not delay the next one: the first
    /// packet after a cut is sent within `MAX_BACKOFF`. A changed lease ends the attempts with the earlier one.
    pub async fn dial(
        &self,
        wanted: &mut watch::Receiver<Peer>,
        backoff: &mut Backoff,
        meter: &Meter,
    ) -> (Peer, Connection) {
        let mut attempts = JoinSet::new();
        loop {
            backoff.attempt().await;
            let peer = wanted.borrow_and_update().clone();
            attempts.spawn(attempt(
                self.origin.clone(),
                self.timing.clone(),
                self.lookups.clone(),
                peer.clone(),
                meter.session(),
            ));
            let next = sleep(jitter(MAX_BACKOFF));
            tokio::pin!(next);
            loop {
                tokio::select! {
                    Some(ended) = attempts.join_next() => match ended {
                        Ok(Ok(connection)) => return (peer, connection),
                        Ok(Err(error)) => {
                            tracing::debug!(peer = peer.name, %error, "dial failed");
                            if attempts.is_empty() {
                                next.as_mut().reset(Instant::now() + backoff.pause());
                            }
                        }
                        Err(_) => {}
                    },
                    () = &mut next => break,
                    Ok(()) = wanted.changed() => {
                        attempts.shutdown().await;
                        break;
                    }
                }
            }
        }
    }
}

/// Dials a relay once.
async fn attempt(
    origin: origin::Producer,
    timing: quic::Config,
    lookups: Arc<Lookups>,
    peer: Peer,
    stats: moq_net::stats::Session,
) -> Result<Connection> {
    let addresses = addresses(&peer, &lookups).await?;
    let first = *addresses.first().context("the host has no address")?;
    let mut config = connect::Config::default();
    config.bind = Some(match first {
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
        .init(timing)?
        .with_publisher(origin.consume().with_hidden(true))
        .with_subscriber(origin)
        .with_stats(stats)
        .with_cost(peer.cost);
    let host = peer.host.parse::<Ipv6Addr>().map_or_else(|_| peer.host.clone(), |address| format!("[{address}]"));
    let mut url = url::Url::parse(&format!("https://{host}:{}/", peer.port))?;
    url.query_pairs_mut().append_pair("key", &peer.key);
    let same_family = addresses.into_iter().filter(|address| address.is_ipv4() == first.is_ipv4());
    Ok(client.connect(connect::Addr::pinned(url, same_family)?).established().await?)
}

async fn addresses(peer: &Peer, lookups: &Lookups) -> Result<Vec<SocketAddr>> {
    let (host, port) = (peer.host.clone(), peer.port);
    match peer.address {
        Some(address) => Ok(vec![address]),
        None => lookups.addresses(&peer.host, async move { Ok(lookup_host((host, port)).await?.collect()) }).await,
    }
}
