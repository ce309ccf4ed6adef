//! The running media server: its entry in the relay's lease, its lease for signaling, the relays that it dials, and its drain.
use super::admission::url_encoded;
use super::directory::Directory;
use super::tree;
use super::{Certificates, Config, Guard};
use crate::Limits;
use crate::server::{self, Peer, Server};
use anyhow::Context;
use parley_cluster::Shared;
use parley_cluster::bus::Bus;
use parley_cluster::endpoint::MediaEndpoint;
use parley_cluster::hash::Hash;
use parley_cluster::key::Key;
use parley_cluster::lease::{Lease, PeerLeases};
use parley_cluster::url::Url;
use parley_metrics::Families;
use parley_protocol::bounded::OutOfBounds;
use parley_protocol::media::MediaRelay;
use parley_protocol::subjects::media_relay_subject;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// The interval of leases for signaling: MEDIA-1.
const LEASE_INTERVAL: Duration = Duration::from_secs(2);
/// The interval at which the relay's lease is updated, so that it has a new certificate within this time.
const PLACE_INTERVAL: Duration = Duration::from_millis(250);

/// Media of a pod.
pub struct Media {
    server: Server,
    config: Config,
    url: Url,
    capacity: NonZeroU64,
    /// `None`: the pod is alone.
    key: Option<Key>,
    _directory: Option<Directory>,
}

impl Media {
    /// Starts the server. A port in use ends the process before it has done anything else.
    pub async fn open(config: &Config, guard: Guard, limits: Limits) -> anyhow::Result<Self> {
        let key = guard.key.clone();
        let (certificates, directory) = certificates(config).context("cannot use media-certificate-dir")?;
        let opened = server::Config {
            listen: config.listen,
            websocket: config.websocket,
            proxied: guard.trusted_proxies > 0,
            certificates,
            limits: limits.clone(),
        };
        let server = server::open(opened, Arc::new(guard)).await;
        let server =
            server.with_context(|| format!("cannot carry media on {} and {}", config.listen, config.websocket))?;
        let url = config.url.clone().unwrap_or_else(|| Url::of(server.address));
        let (address, websocket, shown) = (server.address, server.websocket, String::from(url.clone()));
        tracing::info!(%address, %websocket, url = shown, role = ?config.role, tokens = config.keys.is_some(), "serving media");
        let capacity = NonZeroU64::new(limits.sessions as u64).unwrap_or(NonZeroU64::MIN);
        Ok(Self { server, config: config.clone(), url, capacity, key, _directory: directory })
    }

    /// Adds the metric families `parley_media_…`.
    pub fn collect(&self, out: &mut Families) {
        self.server.collect(out);
    }

    /// Publishes leases and dials other relays until the pod drains; then publishes that it drains.
    pub async fn publish_leases(
        self: Arc<Self>,
        shared: Arc<Shared>,
        bus: Bus,
        region: String,
        mut drains: watch::Receiver<bool>,
    ) {
        let subject = media_relay_subject(&region, &shared.own.pod);
        let (mut places, mut leases) = (interval(PLACE_INTERVAL), interval(LEASE_INTERVAL));
        places.set_missed_tick_behavior(MissedTickBehavior::Delay);
        leases.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut others = shared.peers.subscribe();
        others.mark_changed();
        let mut connects = bus.connects();
        loop {
            tokio::select! {
                _ = places.tick() => self.update_place(&shared, self.available()),
                _ = leases.tick() => self.publish_lease(&bus, &subject, &shared.own, false).await,
                // A lease that fell due while NATS was disconnected is published now.
                Ok(()) = connects.changed() => leases.reset_immediately(),
                Ok(()) = others.changed() => {
                    let peers = self.peers(&shared.own.pod, &others.borrow_and_update());
                    self.server.dial(peers);
                }
                () = async { drop(drains.wait_for(|drains| *drains).await) } => break,
            }
        }
        self.update_place(&shared, 0);
        self.publish_lease(&bus, &subject, &shared.own, true).await;
        bus.flush().await;
    }

    /// Redirects all sessions, within `drain.window`.
    pub async fn drain(&self, others: &PeerLeases) {
        let allows = |url: &Url| self.config.hosts.allow(url, &self.url);
        let successor = tree::successor(self.config.role, others, allows).cloned().map(String::from);
        tracing::info!(sessions = self.server.state().sessions, successor, "draining media");
        self.server.drain(successor).await;
    }

    fn hashes(&self) -> Vec<Hash> {
        let hashes = self.server.state().certificate_hashes;
        hashes.into_iter().filter_map(|hash| Hash::try_from(hash).ok()).collect()
    }

    fn available(&self) -> u64 {
        self.capacity.get().saturating_sub(self.server.state().sessions as u64)
    }

    /// Updates the relay's lease. New certificates are published immediately, as other relays need them to dial.
    fn update_place(&self, shared: &Shared, available: u64) {
        let Some(key) = self.key.clone() else { return };
        let address = self.config.advertise.unwrap_or(self.server.address);
        let now = MediaEndpoint {
            role: self.config.role,
            address,
            url: self.url.clone(),
            hashes: self.hashes(),
            key,
            available,
        };
        shared.media.send_if_modified(|place| {
            let changed = place.as_ref().is_none_or(|place| place.hashes != now.hashes);
            *place = Some(now);
            changed
        });
    }

    /// Publishes the lease for signaling (MEDIA-1).
    async fn publish_lease(&self, bus: &Bus, subject: &str, own: &Lease, draining: bool) {
        match self.lease(own, draining) {
            Ok(lease) => drop(bus.publish(subject, parley_protocol::encode(&lease)).await),
            // Settings have the same bounds, so this is a defect.
            Err(why) => tracing::error!(%why, "the lease of the relay's media"),
        }
    }

    fn lease(&self, own: &Lease, draining: bool) -> Result<MediaRelay, OutOfBounds> {
        let hashes = self.hashes().into_iter().map(|hash| String::from(hash).try_into());
        Ok(MediaRelay {
            relay: own.pod.clone().try_into()?,
            epoch: own.epoch.try_into().map_err(|_| OutOfBounds)?,
            role: self.config.role,
            url: String::from(self.url.clone()).try_into()?,
            certificate_hashes: hashes.collect::<Result<Vec<_>, _>>()?.try_into()?,
            sessions: self.server.state().sessions as u64,
            capacity: self.capacity,
            draining: draining.then_some(true),
        })
    }

    fn peers(&self, own: &str, others: &PeerLeases) -> Vec<Peer> {
        tree::peers_to_dial(own, self.config.role, others)
            .into_iter()
            .map(|(lease, place)| peer(lease, place))
            .collect()
    }
}

fn peer(lease: &Lease, place: &MediaEndpoint) -> Peer {
    Peer {
        name: lease.pod.clone(),
        address: place.address,
        key: url_encoded(&place.key),
        certificate_hashes: place.hashes.iter().copied().map(String::from).collect(),
        host: place.url.host().to_owned(),
        cost: tree::REGIONAL_LINK_COST,
    }
}

fn certificates(config: &Config) -> std::io::Result<(server::Certificates, Option<Directory>)> {
    match &config.certificates {
        Certificates::Public { certificate, key } => {
            Ok((server::Certificates::Public { certificate: certificate.clone(), key: key.clone() }, None))
        }
        Certificates::Pinned(given) => {
            let directory = Directory::open(given.as_deref())?;
            let names = names(config.url.as_ref(), config.listen);
            Ok((server::Certificates::Pinned { directory: directory.path().to_owned(), names }, Some(directory)))
        }
    }
}

/// Returns the names for the relay's own certificates.
fn names(url: Option<&Url>, listen: SocketAddr) -> Vec<String> {
    let mut names: Vec<String> = url.map(|url| url.host().to_owned()).into_iter().collect();
    if listen.ip().is_loopback() {
        names.extend(["localhost".to_owned(), listen.ip().to_string()]);
    }
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_for_the_host_that_clients_and_links_dial() {
        let url = Url::try_from("https://relay.example:443/".to_owned()).unwrap();
        assert_eq!(names(Some(&url), "0.0.0.0:443".parse().unwrap()), ["relay.example"]);
        assert_eq!(names(None, "127.0.0.1:0".parse().unwrap()), ["127.0.0.1", "localhost"]);
        assert_eq!(
            names(Some(&Url::of("127.0.0.1:1".parse().unwrap())), "127.0.0.1:1".parse().unwrap()),
            ["127.0.0.1", "localhost"]
        );
    }
}
