//! The tree of the media relays of a region; `regions` has the links between regions. Leaves subscribe at all origins, and origins at each other. A
//! session carries media in both directions, so of two origins only the one with the lesser name dials, and no relay dials a leaf. MoQ's own routing
//! selects the origin through which a broadcast arrives (ADR 12).
use parley_cluster::endpoint::{MediaEndpoint, Role};
use parley_cluster::lease::Lease;
use parley_cluster::lease::PeerLeases;
use parley_cluster::url::Url;

/// The cost of a link within a region; that of a link between regions is in `regions`.
pub(crate) const REGIONAL_LINK_COST: u64 = 1;

/// Returns the name of a relay, unique in all regions (MEDIA-18).
pub(crate) fn relay_name(region: &str, pod: &str) -> String {
    format!("{region}_{pod}")
}

/// Returns the relays that a relay dials.
pub(crate) fn peers_to_dial<'a>(own: &str, role: Role, others: &'a PeerLeases) -> Vec<(&'a Lease, &'a MediaEndpoint)> {
    let origins = media_relays(others).filter(|(_, place)| place.role == Role::Origin);
    origins.filter(|(lease, _)| role == Role::Leaf || *lease.pod > *own).collect()
}

/// Returns the number of living origins of the region with a lesser name.
pub(crate) fn rank(own: &str, others: &PeerLeases) -> u64 {
    let origins = media_relays(others).filter(|(_, place)| place.role == Role::Origin);
    origins.filter(|(lease, _)| *lease.pod < *own).count() as u64
}

/// Returns where a relay that drains redirects its clients: the relay of the same role with the most free capacity, at an allowed host.
pub fn successor(role: Role, others: &PeerLeases, allows: impl Fn(&Url) -> bool) -> Option<&Url> {
    let candidates =
        media_relays(others).filter(|(_, place)| place.role == role && place.available > 0 && allows(&place.url));
    candidates.max_by_key(|(_, place)| place.available).map(|(_, place)| &place.url)
}

fn media_relays(others: &PeerLeases) -> impl Iterator<Item = (&Lease, &MediaEndpoint)> {
    others.values().filter_map(|lease| lease.media.as_ref().map(|place| (lease, place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Leaf, Origin};
    use parley_cluster::hash::Hash;
    use parley_cluster::key::Key;

    fn others(pods: &[(&str, Role, u64)]) -> PeerLeases {
        let lease = |&(pod, role, available): &(&str, Role, u64)| {
            let address = "10.0.0.7:4443".parse().unwrap();
            let url = Url::try_from(format!("https://{pod}/")).unwrap();
            let media = Some(MediaEndpoint { role, address, url, hashes: vec![], key: Key::random(), available });
            let lease = Lease {
                pod: pod.into(),
                epoch: 1,
                zone: String::new(),
                link: address,
                certificate: Hash::of(pod.as_bytes()),
                draining: false,
                reach: Default::default(),
                media,
            };
            (pod.to_owned(), lease)
        };
        pods.iter().map(lease).collect()
    }

    fn names(own: &str, role: Role, others: &PeerLeases) -> Vec<String> {
        peers_to_dial(own, role, others).iter().map(|(lease, _)| lease.pod.clone()).collect()
    }

    #[test]
    fn leaves_dial_all_origins_one_of_two_origins_dials_and_no_relay_dials_a_leaf() {
        let all = others(&[("a", Origin, 1), ("b", Origin, 1), ("c", Origin, 1), ("x", Leaf, 1)]);
        assert_eq!(names("y", Leaf, &all), ["a", "b", "c"]);
        assert_eq!(names("aa", Origin, &all), ["b", "c"]);
        assert!(names("d", Origin, &all).is_empty());
    }

    #[test]
    fn media_19_the_rank_of_an_origin_is_its_position_among_the_origins_of_its_region() {
        let all = others(&[("a", Origin, 1), ("b", Origin, 1), ("aa", Leaf, 1)]);
        assert_eq!(["a", "ab", "c"].map(|own| rank(own, &all)), [0, 1, 2]);
    }

    #[test]
    fn a_pod_without_media_is_not_dialled() {
        let mut all = others(&[("b", Origin, 1)]);
        all.values_mut().for_each(|lease| lease.media = None);
        assert!(names("a", Leaf, &all).is_empty());
        assert_eq!(successor(Origin, &all, |_| true), None);
    }

    #[test]
    fn clients_are_redirected_to_the_relay_of_the_same_role_with_the_most_capacity() {
        let all = others(&[("a", Origin, 9), ("b", Origin, 0), ("x", Leaf, 2), ("y", Leaf, 3), ("z", Leaf, 0)]);
        assert_eq!(successor(Leaf, &all, |_| true).map(Url::host), Some("y"));
        assert_eq!(successor(Leaf, &all, |url| url.host() != "y").map(Url::host), Some("x"));
        assert_eq!(successor(Origin, &all, |_| true).map(Url::host), Some("a"));
        assert_eq!(successor(Leaf, &others(&[("a", Origin, 9), ("z", Leaf, 0)]), |_| true), None);
    }
}
