//! The other pods of the region, or those of other regions: decides from their leases which links to dial and which to drop. No I/O, no clock.
//! Rules STR-90, STR-97 and STR-139.
use super::lease::Lease;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The known pods, each with its link. Dropping a link ends it.
#[derive(Debug)]
pub(crate) struct Peers<L> {
    own: Lease,
    lease_duration: Duration,
    max: Max,
    known: HashMap<String, Known<L>>,
    /// When this pod last received its own lease. Without that NATS is disconnected, and missing leases of other pods mean nothing.
    echoed: Option<Instant>,
}

/// The greatest numbers of known pods and regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Max {
    /// The pods of one region.
    pub pods: usize,
    /// The regions.
    pub regions: usize,
}

#[derive(Debug)]
struct Known<L> {
    region: Option<String>,
    epoch: u64,
    renewed: Instant,
    draining: bool,
    link: L,
}

/// The effect of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// It is the lease of this pod.
    Own,
    /// The pod was not known; it is dialled.
    New,
    /// It is a later run of a known pod; its link ended, and the pod is dialled again.
    Restarted,
    /// The lease of a known pod was renewed.
    Renewed,
    /// It is an earlier run of a known pod; ignored.
    Stale,
    /// The pod drains.
    Draining,
    /// Another pod has the name of this one; ignored, as one of the two is misconfigured.
    NameConflict,
    /// As many pods of the region, or as many regions, are known already; ignored.
    Full,
}

impl<L> Peers<L> {
    /// No known pods. A lease is valid for `lease_duration`.
    pub fn new(own: Lease, lease_duration: Duration, max: Max) -> Self {
        Self { own, lease_duration, max, known: HashMap::new(), echoed: None }
    }

    /// Processes a lease. `dial` is called for a new pod or a new run of a pod.
    pub fn observe(&mut self, lease: Lease, now: Instant, dial: impl FnOnce(Lease) -> L) -> Observed {
        if lease.pod == self.own.pod {
            if (lease.epoch, lease.certificate) != (self.own.epoch, self.own.certificate) {
                return Observed::NameConflict;
            }
            self.echoed = Some(now);
            return Observed::Own;
        }
        let (pod, epoch, region) = (lease.pod.clone(), lease.epoch, lease.reach.region.clone());
        if let Some(known) = self.known.get_mut(&pod) {
            if epoch < known.epoch {
                return Observed::Stale;
            }
            if lease.draining {
                known.draining = true;
                return Observed::Draining;
            }
            if epoch == known.epoch {
                (known.renewed, known.draining) = (now, false);
                return Observed::Renewed;
            }
            // The old link ends before the new one is dialled.
            self.known.remove(&pod);
            self.known.insert(pod, Known { region, epoch, renewed: now, draining: false, link: dial(lease) });
            return Observed::Restarted;
        }
        if lease.draining {
            return Observed::Draining;
        }
        if self.is_full(region.as_ref()) {
            return Observed::Full;
        }
        self.known.insert(pod, Known { region, epoch, renewed: now, draining: false, link: dial(lease) });
        Observed::New
    }

    fn is_full(&self, region: Option<&String>) -> bool {
        let regions: HashSet<_> = self.known.values().map(|known| known.region.as_ref()).collect();
        let pods = self.known.values().filter(|known| known.region.as_ref() == region).count();
        pods >= self.max.pods || (!regions.contains(&region) && regions.len() >= self.max.regions)
    }

    /// Forgets the pods whose lease expired, and returns their names. A pod with an open link is kept: leases serve only discovery.
    pub fn expire(&mut self, now: Instant, is_up: impl Fn(&L) -> bool) -> Vec<String> {
        let silent = |since: Instant| now.saturating_duration_since(since) > self.lease_duration;
        let is_disconnected = self.echoed.is_none_or(silent);
        let is_expired = |known: &Known<L>| known.draining || (!is_disconnected && silent(known.renewed));
        let expired: Vec<String> = self
            .known
            .iter()
            .filter(|(_, known)| is_expired(known) && !is_up(&known.link))
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in &expired {
            self.known.remove(pod);
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use crate::lease::Reach;

    const LEASE_DURATION: Duration = Duration::from_secs(3);

    fn lease(pod: &str, epoch: u64) -> Lease {
        let link = "127.0.0.1:1".parse().unwrap();
        Lease {
            pod: pod.into(),
            epoch,
            zone: String::new(),
            link,
            certificate: Hash::of(b"0"),
            draining: false,
            reach: Reach::default(),
            media: None,
        }
    }

    fn peers() -> Peers<u64> {
        Peers::new(lease("self", 7), LEASE_DURATION, Max { pods: 2, regions: 2 })
    }

    fn observe(peers: &mut Peers<u64>, lease: Lease, now: Instant) -> Observed {
        peers.observe(lease, now, |lease| lease.epoch)
    }

    #[test]
    fn str_90_a_pod_is_dialled_once_for_each_of_its_runs() {
        let (mut peers, now) = (peers(), Instant::now());
        let cases = [
            (5, Observed::New),
            (5, Observed::Renewed),
            (6, Observed::Restarted),
            (5, Observed::Stale),
            (6, Observed::Renewed),
        ];
        for (epoch, expected) in cases {
            assert_eq!(observe(&mut peers, lease("a", epoch), now), expected, "{epoch}");
        }
        assert_eq!(peers.known["a"].link, 6);
    }

    #[test]
    fn str_90_the_own_lease_and_a_lease_with_the_own_name_are_not_dialled() {
        let (mut peers, now) = (peers(), Instant::now());
        assert_eq!(observe(&mut peers, lease("self", 7), now), Observed::Own);
        assert_eq!(observe(&mut peers, lease("self", 8), now), Observed::NameConflict);
        // A pod that started in the same millisecond.
        assert_eq!(
            observe(&mut peers, Lease { certificate: Hash::of(b"1"), ..lease("self", 7) }, now),
            Observed::NameConflict
        );
        assert!(peers.known.is_empty());
    }

    #[test]
    fn str_90_at_most_link_peers_pods_are_known() {
        let (mut peers, now) = (peers(), Instant::now());
        let observed = ["a", "b", "c", "a"].map(|pod| observe(&mut peers, lease(pod, 1), now));
        assert_eq!(observed, [Observed::New, Observed::New, Observed::Full, Observed::Renewed]);
    }

    #[test]
    fn str_139_at_most_link_regions_other_regions_are_known_and_link_ocean_peers_pods_of_each() {
        let (mut peers, now) = (peers(), Instant::now());
        let abroad = |region: &str, pod: &str| lease(pod, 1).in_all_regions(region, lease(pod, 1).link);
        let observed = [("us", "a"), ("us", "b"), ("us", "c"), ("ap", "a"), ("sa", "a"), ("us", "a")]
            .map(|(region, pod)| observe(&mut peers, abroad(region, pod), now));
        use Observed::{Full, New, Renewed};
        assert_eq!(observed, [New, New, Full, New, Full, Renewed]);
        // A region that ends makes room.
        observe(&mut peers, lease("self", 7), now + LEASE_DURATION * 2);
        peers.expire(now + LEASE_DURATION * 2, |_| false);
        assert_eq!(observe(&mut peers, abroad("sa", "a"), now), New);
    }

    #[test]
    fn str_97_a_pod_whose_lease_expired_is_forgotten_once_its_link_is_down() {
        let (mut peers, began) = (peers(), Instant::now());
        observe(&mut peers, lease("a", 1), began);
        let later = began + LEASE_DURATION + Duration::from_secs(1);
        observe(&mut peers, lease("self", 7), later);
        assert!(peers.expire(later, |_| true).is_empty());
        assert_eq!(peers.expire(later, |_| false), ["a"]);
        assert_eq!(observe(&mut peers, lease("a", 1), later), Observed::New);
    }

    #[test]
    fn str_97_no_pod_is_forgotten_while_nats_is_disconnected() {
        let (mut peers, began) = (peers(), Instant::now());
        observe(&mut peers, lease("self", 7), began);
        observe(&mut peers, lease("a", 1), began);
        assert!(peers.expire(began + LEASE_DURATION * 100, |_| false).is_empty());
    }

    #[test]
    fn str_99_a_draining_pod_is_forgotten_as_soon_as_its_link_is_down() {
        let (mut peers, now) = (peers(), Instant::now());
        observe(&mut peers, lease("a", 1), now);
        assert_eq!(observe(&mut peers, Lease { draining: true, ..lease("a", 1) }, now), Observed::Draining);
        assert!(peers.expire(now, |_| true).is_empty());
        assert_eq!(peers.expire(now, |_| false), ["a"]);
        assert_eq!(observe(&mut peers, Lease { draining: true, ..lease("a", 1) }, now), Observed::Draining);
        assert!(peers.known.is_empty());
    }
}
