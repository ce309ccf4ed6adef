//! The links of the running server: its lease for the origins of other regions, theirs, and the relays that it dials. Rules MEDIA-18 to MEDIA-21 of
//! the protocol's `SPEC.md`.
use super::Media;
use crate::admission::url_encoded;
use crate::origin_lease::OriginLease;
use crate::other_regions::OtherRegions;
use crate::regions::{Bounds, Observed, Origins};
use crate::server::Peer;
use crate::tree::{self, relay_name};
use parley_cluster::Shared;
use parley_cluster::bus::Bus;
use parley_cluster::endpoint::{MediaEndpoint, Role};
use parley_cluster::lease::{Lease, PeerLeases};
use parley_cluster::url::Url;
use parley_net::size;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// This relay among others.
pub(super) struct Own<'a> {
    pub region: &'a str,
    pub shared: &'a Shared,
}

impl Media {
    /// Subscribes to the leases of the origins of other regions. `None` on a leaf, which receives none.
    pub(super) async fn join_regions(&self, own: &Own<'_>, bus: &Bus) -> Option<OtherRegions> {
        let lease = self.origin_lease(own, false)?;
        let limits = &own.shared.limits;
        let bounds = Bounds {
            lease_duration: Duration::from_millis(limits.lease_duration),
            unreachable_keep: self.unreachable_keep,
            origins: size(limits.link_peers),
        };
        let joined = OtherRegions::join(bus.clone(), own.region, &own.shared.own.pod, lease, bounds).await;
        joined.inspect_err(|error| tracing::error!(%error, "origins of other regions are not discovered")).ok()
    }

    /// Waits for a lease of another region; on a leaf for ever.
    pub(super) async fn next_origin(&self, regions: Option<&mut OtherRegions>) -> (String, Observed) {
        match regions {
            Some(regions) => regions.next(|url| self.allows(url)).await,
            None => std::future::pending().await,
        }
    }

    /// Whether an origin at this URL may be dialled (MEDIA-17). Others are counted.
    fn allows(&self, url: &Url) -> bool {
        let allowed = self.config.hosts.allow(url, &self.url);
        self.refused_origins.fetch_add(u64::from(!allowed), Relaxed);
        allowed
    }

    pub(super) async fn publish_origin(&self, own: &Own<'_>, regions: Option<&OtherRegions>, draining: bool) {
        if let (Some(regions), Some(lease)) = (regions, self.origin_lease(own, draining)) {
            regions.publish(&lease).await;
        }
    }

    /// Returns the lease for the origins of other regions; `None` on a leaf.
    fn origin_lease(&self, own: &Own<'_>, draining: bool) -> Option<OriginLease> {
        let keys = self.link_keys.as_ref().filter(|_| self.config.role == Role::Origin)?;
        Some(OriginLease {
            relay: relay_name(own.region, &own.shared.own.pod),
            epoch: own.shared.own.epoch,
            url: self.url.clone(),
            hashes: self.hashes(),
            key: keys.other_regions.clone(),
            draining,
        })
    }

    /// Returns whether an origin of another region was forgotten.
    pub(super) fn forget_origins(&self, regions: Option<&mut OtherRegions>) -> bool {
        let Some(regions) = regions else { return false };
        let forgotten = regions.origins.expire(Instant::now(), |relay| self.server.is_linked(relay));
        for relay in &forgotten {
            tracing::info!(relay, "origin of another region lost");
        }
        !forgotten.is_empty()
    }

    pub(super) fn log_origin(&self, relay: &str, observed: Observed) {
        match observed {
            Observed::New => tracing::info!(relay, "origin of another region discovered"),
            Observed::Full => tracing::warn!(relay, "origin of another region not linked: link.peers reached"),
            Observed::Refused => tracing::warn!(relay, "origin of another region refused: host not in media-hosts"),
            Observed::Namesake | Observed::Changed | Observed::Renewed | Observed::Ignored => {}
        }
    }

    /// Keeps links to the relays of the region and of other regions that this relay dials.
    pub(super) fn dial(&self, own: &Own<'_>, regions: Option<&OtherRegions>) {
        let others = own.shared.peers.borrow().clone();
        let pod = &own.shared.own.pod;
        let of_region = tree::peers_to_dial(pod, self.config.role, &others);
        let mut peers: Vec<Peer> = of_region.into_iter().map(|(lease, place)| peer(own.region, lease, place)).collect();
        if let Some(regions) = regions {
            peers.extend(peers_of_other_regions(pod, &others, &regions.origins));
        }
        self.server.dial(peers);
    }
}

/// Returns the origins of other regions that the origin `pod` dials, each with the cost of its link.
fn peers_of_other_regions<'a>(
    pod: &str,
    others: &PeerLeases,
    origins: &'a Origins,
) -> impl Iterator<Item = Peer> + use<'a> {
    origins.to_dial(tree::rank(pod, others)).map(|(lease, cost)| peer_of_other_region(lease, cost))
}

fn peer(region: &str, lease: &Lease, place: &MediaEndpoint) -> Peer {
    Peer {
        name: relay_name(region, &lease.pod),
        address: Some(place.address),
        port: place.address.port(),
        key: url_encoded(&place.key),
        certificate_hashes: place.hashes.iter().copied().map(String::from).collect(),
        host: place.url.host().to_owned(),
        cost: tree::REGIONAL_LINK_COST,
        in_other_region: false,
    }
}

fn peer_of_other_region(lease: &OriginLease, cost: u64) -> Peer {
    Peer {
        name: lease.relay.clone(),
        address: None,
        port: lease.url.port(),
        key: url_encoded(&lease.key),
        certificate_hashes: lease.hashes.iter().copied().map(String::from).collect(),
        host: lease.url.host().to_owned(),
        cost,
        in_other_region: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_cluster::hash::Hash;
    use parley_cluster::key::Key;

    fn origin_lease(region: &str, pod: &str) -> OriginLease {
        let url = Url::try_from(format!("https://{pod}.{region}.example:4443/")).unwrap();
        OriginLease {
            relay: relay_name(region, pod),
            epoch: 1,
            url,
            hashes: vec![],
            key: Key([1; 32]),
            draining: false,
        }
    }

    /// The lease of an origin within the region.
    fn lease(pod: &str) -> Lease {
        let address = "10.0.0.7:4443".parse().unwrap();
        let url = Url::of(address);
        let key = Key([1; 32]);
        let media = Some(MediaEndpoint { role: Role::Origin, address, url, hashes: vec![], key, available: 1 });
        let (pod, certificate) = (pod.to_owned(), Hash::of(b"a"));
        Lease {
            pod,
            epoch: 1,
            zone: String::new(),
            link: address,
            certificate,
            draining: false,
            media,
            reach: Default::default(),
        }
    }

    #[test]
    fn media_19_the_cost_of_a_link_that_is_dialled_grows_with_the_ranks_of_both_ends() {
        let second = Duration::from_secs(1);
        let bounds = Bounds { lease_duration: second, unreachable_keep: second, origins: 4 };
        let mut origins = Origins::new(origin_lease("eu", "o1"), "eu".into(), bounds);
        for pod in ["o0", "o1"] {
            origins.observe("us".into(), origin_lease("us", pod), Instant::now(), |_| true);
        }
        let costs = |others: &[&str]| -> Vec<(String, u64)> {
            let others = others.iter().map(|&pod| (pod.to_owned(), lease(pod))).collect();
            let peers = peers_of_other_regions("o1", &others, &origins);
            peers.map(|peer| (peer.host, peer.cost)).collect()
        };
        let dialled = |first, second| vec![("o0.us.example".to_owned(), first), ("o1.us.example".to_owned(), second)];
        assert_eq!(costs(&[]), dialled(100, 110));
        assert_eq!(costs(&["o0", "o2"]), dialled(110, 120));
    }
}
