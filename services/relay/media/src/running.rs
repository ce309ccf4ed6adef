//! The running media server: its entry in the relay's lease, its lease for signaling, the relays that it dials, and its drain.
mod links;
mod mutes;

use super::directory::Directory;
use super::mutes::Mutes;
use super::regions::Observed;
use super::tree::{self, relay_name};
use super::{Certificates, Config, Guard, LinkKeys};
use crate::Limits;
use crate::server::{self, Server};
use anyhow::Context;
use links::Own;
use parking_lot::Mutex;
use parley_cluster::Shared;
use parley_cluster::bus::Bus;
use parley_cluster::endpoint::MediaEndpoint;
use parley_cluster::hash::Hash;
use parley_cluster::lease::{Lease, PeerLeases};
use parley_cluster::url::Url;
use parley_metrics::Families;
use parley_protocol::bounded::OutOfBounds;
use parley_protocol::media::MediaRelay;
use parley_protocol::subjects::media_relay_subject;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

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
    link_keys: Option<LinkKeys>,
    unreachable_keep: Duration,
    /// Until when a relay of another process counts as a namesake of this one.
    namesake: Mutex<Option<Instant>>,
    /// Leases of origins whose hosts are not allowed.
    refused_origins: AtomicU64,
    mutes: Arc<Mutes>,
    /// Participants that were muted above `media.mutes`.
    refused_mutes: AtomicU64,
    _directory: Option<Directory>,
}

impl Media {
    /// Starts the server. A port in use ends the process before it has done anything else.
    pub async fn open(config: &Config, guard: Guard, limits: Limits) -> anyhow::Result<Self> {
        let (link_keys, mutes) = (guard.link_keys.clone(), Arc::clone(&guard.mutes));
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
        Ok(Self {
            server,
            config: config.clone(),
            url,
            capacity,
            link_keys,
            unreachable_keep: Duration::from_millis(limits.unreachable_keep),
            namesake: Mutex::default(),
            refused_origins: AtomicU64::new(0),
            mutes,
            refused_mutes: AtomicU64::new(0),
            _directory: directory,
        })
    }

    /// Adds the metric families `parley_media_…`.
    pub fn collect(&self, out: &mut Families) {
        self.server.collect(out);
        let refused = self.refused_origins.load(Relaxed);
        out.counter("parley_media_origin_refusals_total", "Refused leases of origins of other regions", refused);
        out.gauge(
            "parley_media_mutes",
            "Participants whose mute is enforced, in the rooms of all regions",
            self.mutes.count(Instant::now()),
        );
        let refused = self.refused_mutes.load(Relaxed);
        out.counter(
            "parley_media_mute_refusals_total",
            "Participants whose mute is not enforced: media.mutes",
            refused,
        );
    }

    /// Whether another process publishes leases under the name of this relay (MEDIA-21).
    pub fn has_namesake(&self) -> bool {
        self.namesake.lock().is_some_and(|until| Instant::now() < until)
    }

    /// Logs the first lease of a namesake, as long as others follow it.
    fn saw_namesake(&self, relay: &str, seen: Instant, shared: &Shared) {
        if !self.has_namesake() {
            tracing::error!(relay, "another relay has the name of this one: set region or pod");
        }
        *self.namesake.lock() = Some(seen + Duration::from_millis(shared.limits.lease_duration));
    }

    /// Publishes leases and dials other relays until the pod drains; then publishes that it drains.
    pub async fn publish_leases(
        self: Arc<Self>,
        shared: Arc<Shared>,
        bus: Bus,
        region: String,
        mut drains: watch::Receiver<bool>,
    ) {
        let own = Own { region: &region, shared: &shared };
        let subject = media_relay_subject(&region, &shared.own.pod);
        let mut places = ticks(PLACE_INTERVAL);
        let mut leases = ticks(LEASE_INTERVAL);
        let mut origin_leases = ticks(Duration::from_millis(shared.limits.lease_interval));
        let mut others = shared.peers.subscribe();
        others.mark_changed();
        let mut connects = bus.connects();
        let mut namesakes = shared.namesake.subscribe();
        namesakes.mark_changed();
        let mut regions = self.join_regions(&own, &bus).await;
        loop {
            tokio::select! {
                _ = places.tick() => {
                    if self.update_place(&shared, self.available()) {
                        self.publish_origin(&own, regions.as_ref(), false).await;
                    }
                    if self.forget_origins(regions.as_mut()) {
                        self.dial(&own, regions.as_ref());
                    }
                }
                _ = leases.tick() => self.publish_lease(&bus, &subject, &shared.own, false).await,
                _ = origin_leases.tick() => self.publish_origin(&own, regions.as_ref(), false).await,
                // A lease that fell due while NATS was disconnected is published now.
                Ok(()) = connects.changed() => {
                    leases.reset_immediately();
                    origin_leases.reset_immediately();
                }
                Ok(()) = others.changed() => {
                    others.mark_unchanged();
                    self.dial(&own, regions.as_ref());
                }
                Ok(()) = namesakes.changed() => {
                    let seen = *namesakes.borrow_and_update();
                    if let Some(seen) = seen {
                        self.saw_namesake(&relay_name(&region, &shared.own.pod), seen, &shared);
                    }
                }
                (relay, observed) = self.next_origin(regions.as_mut()) => {
                    self.log_origin(&relay, observed);
                    if observed == Observed::Namesake {
                        self.saw_namesake(&relay, Instant::now(), &shared);
                    }
                    self.dial(&own, regions.as_ref());
                    if observed == Observed::New {
                        // The new origin discovers this one without waiting for the next tick.
                        self.publish_origin(&own, regions.as_ref(), false).await;
                    }
                }
                () = async { drop(drains.wait_for(|drains| *drains).await) } => break,
            }
        }
        self.update_place(&shared, 0);
        self.publish_lease(&bus, &subject, &shared.own, true).await;
        self.publish_origin(&own, regions.as_ref(), true).await;
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

    /// Updates the relay's lease, and returns whether its certificates changed: they are published immediately, as other relays need them to dial.
    fn update_place(&self, shared: &Shared, available: u64) -> bool {
        let Some(keys) = &self.link_keys else { return false };
        let address = self.config.advertise.unwrap_or(self.server.address);
        let now = MediaEndpoint {
            role: self.config.role,
            address,
            url: self.url.clone(),
            hashes: self.hashes(),
            key: keys.region.clone(),
            available,
        };
        shared.media.send_if_modified(|place| {
            let changed = place.as_ref().is_none_or(|place| place.hashes != now.hashes);
            *place = Some(now);
            changed
        })
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
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
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
