//! A door that is open: what the relay says of it, to other relays in its lease and to signaling, whom it dials, and how it drains.
use super::admission::in_address;
use super::directory::Directory;
use super::tree;
use super::{Certificates, Config, Guard};
use crate::Limits;
use crate::door::{self, Door, Peer};
use anyhow::Context;
use parley_cluster::Shared;
use parley_cluster::bus::Bus;
use parley_cluster::endpoint::MediaEndpoint;
use parley_cluster::hash::Hash;
use parley_cluster::key::Key;
use parley_cluster::lease::{Lease, PeerLeases};
use parley_cluster::url::Url;
use parley_protocol::bounded::OutOfBounds;
use parley_protocol::media::MediaRelay;
use parley_protocol::subjects::media_relay_subject;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// Between two words to signaling: MEDIA-1.
const WORDS: Duration = Duration::from_secs(2);
/// A certificate that was announced is in the lease within this.
const LOOK: Duration = Duration::from_millis(250);

/// The second door of a pod.
pub struct Media {
    door: Door,
    config: Config,
    url: Url,
    capacity: NonZeroU64,
    /// `None`: there are no other relays.
    key: Option<Key>,
    _directory: Option<Directory>,
}

impl Media {
    /// Opens it, so that a port that is taken ends the process before anything else happened.
    pub async fn open(config: &Config, guard: Guard, limits: Limits) -> anyhow::Result<Self> {
        let key = guard.key.clone();
        let (certificates, directory) = certificates(config).context("cannot use media-certificate-dir")?;
        let opened = door::Config {
            listen: config.listen,
            websocket: config.websocket,
            proxied: guard.trusted_proxies > 0,
            certificates,
            limits: limits.clone(),
        };
        let door = door::open(opened, Arc::new(guard)).await;
        let door = door.with_context(|| format!("cannot carry media on {} and {}", config.listen, config.websocket))?;
        let url = config.url.clone().unwrap_or_else(|| Url::of(door.address));
        let (address, websocket, shown) = (door.address, door.websocket, String::from(url.clone()));
        tracing::info!(%address, %websocket, url = shown, role = ?config.role, tokens = config.keys.is_some(), "serving media");
        let capacity = NonZeroU64::new(limits.sessions as u64).unwrap_or(NonZeroU64::MIN);
        Ok(Self { door, config: config.clone(), url, capacity, key, _directory: directory })
    }

    /// Its metrics in Prometheus' text format.
    pub fn metrics(&self) -> String {
        self.door.metrics()
    }

    /// Says what it is and dials whom it should, until the pod drains; then says that it goes.
    pub async fn tell(
        self: Arc<Self>,
        shared: Arc<Shared>,
        bus: Bus,
        region: String,
        mut drains: watch::Receiver<bool>,
    ) {
        let subject = media_relay_subject(&region, &shared.own.pod);
        let (mut looks, mut words) = (interval(LOOK), interval(WORDS));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        words.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut others = shared.peers.subscribe();
        others.mark_changed();
        let mut connects = bus.connects();
        loop {
            tokio::select! {
                _ = looks.tick() => self.place(&shared, self.available()),
                _ = words.tick() => self.say(&bus, &subject, &shared.own, false).await,
                // What was to be said while the server was away is said now.
                Ok(()) = connects.changed() => words.reset_immediately(),
                Ok(()) = others.changed() => {
                    let peers = self.peers(&shared.own.pod, &others.borrow_and_update());
                    self.door.dial(peers);
                }
                () = async { drop(drains.wait_for(|drains| *drains).await) } => break,
            }
        }
        self.place(&shared, 0);
        self.say(&bus, &subject, &shared.own, true).await;
        bus.flush().await;
    }

    /// Sends everybody elsewhere, within `drain.window`.
    pub async fn drain(&self, others: &PeerLeases) {
        let allows = |url: &Url| self.config.hosts.allow(url, &self.url);
        let successor = tree::successor(self.config.role, others, allows).cloned().map(String::from);
        tracing::info!(sessions = self.door.state().sessions, successor, "draining media");
        self.door.drain(successor).await;
    }

    fn hashes(&self) -> Vec<Hash> {
        let hashes = self.door.state().certificate_hashes;
        hashes.into_iter().filter_map(|hash| Hash::try_from(hash).ok()).collect()
    }

    fn available(&self) -> u64 {
        self.capacity.get().saturating_sub(self.door.state().sessions as u64)
    }

    /// Puts it into the lease; other certificates are said at once, as nobody could dial without.
    fn place(&self, shared: &Shared, available: u64) {
        let Some(key) = self.key.clone() else { return };
        let address = self.config.advertise.unwrap_or(self.door.address);
        let now = MediaEndpoint {
            role: self.config.role,
            address,
            url: self.url.clone(),
            hashes: self.hashes(),
            key,
            available,
        };
        shared.media.send_if_modified(|place| {
            let others = place.as_ref().is_none_or(|place| place.hashes != now.hashes);
            *place = Some(now);
            others
        });
    }

    /// Publishes what signaling reads of it (MEDIA-1).
    async fn say(&self, bus: &Bus, subject: &str, own: &Lease, draining: bool) {
        match self.lease(own, draining) {
            Ok(lease) => drop(bus.publish(subject, parley_protocol::encode(&lease)).await),
            // Settings have bounds of their own, which are the same.
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
            sessions: self.door.state().sessions as u64,
            capacity: self.capacity,
            draining: draining.then_some(true),
        })
    }

    fn peers(&self, own: &str, others: &PeerLeases) -> Vec<Peer> {
        tree::dialled(own, self.config.role, others).into_iter().map(|(lease, place)| peer(lease, place)).collect()
    }
}

fn peer(lease: &Lease, place: &MediaEndpoint) -> Peer {
    Peer {
        name: lease.pod.clone(),
        address: place.address,
        key: in_address(&place.key),
        certificate_hashes: place.hashes.iter().copied().map(String::from).collect(),
        host: place.url.host().to_owned(),
        cost: tree::WITHIN_A_REGION,
    }
}

fn certificates(config: &Config) -> std::io::Result<(door::Certificates, Option<Directory>)> {
    match &config.certificates {
        Certificates::Public { certificate, key } => {
            Ok((door::Certificates::Public { certificate: certificate.clone(), key: key.clone() }, None))
        }
        Certificates::Pinned(given) => {
            let directory = Directory::open(given.as_deref())?;
            let names = names(config.url.as_ref(), config.listen);
            Ok((door::Certificates::Pinned { directory: directory.path().to_owned(), names }, Some(directory)))
        }
    }
}

/// The names in its own certificates.
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
