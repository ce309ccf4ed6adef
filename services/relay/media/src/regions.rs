//! The origins of other regions: which of them are dialled, at which cost, and when they are forgotten. No I/O, no clock. Rules MEDIA-18 to
//! MEDIA-20 of the protocol's `SPEC.md`.
use super::origin_lease::OriginLease;
use parley_cluster::url::Url;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The cost of the link between the first origins of two regions. It exceeds the cost of all links within a region, so that a broadcast enters a
/// region once.
const REGION_LINK_COST: u64 = 100;
/// The cost of each rank of either end. It exceeds the two links within the regions that lead to a link of lesser rank, so that one pair of origins
/// carries all broadcasts between two regions.
const RANK_COST: u64 = 10;

/// The limits of what is known of other regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// How long a lease is valid while its region is reachable.
    pub lease_duration: Duration,
    /// How long an origin is kept after its last lease and the end of its link.
    pub unreachable_keep: Duration,
    /// The number of origins.
    pub origins: usize,
}

/// The known origins of other regions.
#[derive(Debug)]
pub(crate) struct Origins {
    own: OriginLease,
    region: String,
    bounds: Bounds,
    known: BTreeMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    region: String,
    lease: OriginLease,
    /// When its last lease arrived, or the first one of its region after a silence.
    renewed: Instant,
    /// When its last lease arrived, or its link was last seen up.
    alive: Instant,
}

/// The effect of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// The origin was not known.
    New,
    /// The lease of a known origin changed.
    Changed,
    /// The lease of a known origin was renewed.
    Renewed,
    /// It is of this region or of an earlier run, or of an unknown origin that drains; ignored.
    Ignored,
    /// Another relay has the name of this one.
    Namesake,
    /// As many origins as allowed are known; ignored.
    Full,
    /// The host of its URL is not allowed; ignored.
    Refused,
}

impl Origins {
    /// No known origins. `own`: any lease of this relay, whose name, epoch and key never change.
    pub fn new(own: OriginLease, region: String, bounds: Bounds) -> Self {
        Self { own, region, bounds, known: BTreeMap::new() }
    }

    /// Processes the lease of an origin of `region`. `allows`: whether an origin at this URL may be dialled (MEDIA-17).
    pub fn observe(
        &mut self,
        region: String,
        lease: OriginLease,
        now: Instant,
        allows: impl FnOnce(&Url) -> bool,
    ) -> Observed {
        if lease.relay == self.own.relay {
            let is_own = lease.epoch == self.own.epoch && lease.key == self.own.key;
            return if is_own { Observed::Ignored } else { Observed::Namesake };
        }
        if region == self.region {
            return Observed::Ignored;
        }
        if !allows(&lease.url) {
            return Observed::Refused;
        }
        if self.known.get(&lease.relay).is_some_and(|known| lease.epoch < known.lease.epoch) {
            return Observed::Ignored;
        }
        self.greet(&region, now);
        if let Some(known) = self.known.get_mut(&lease.relay) {
            let is_changed = known.lease != lease;
            (known.lease, known.renewed, known.alive) = (lease, now, now);
            return if is_changed { Observed::Changed } else { Observed::Renewed };
        }
        if lease.draining {
            return Observed::Ignored;
        }
        if self.known.len() >= self.bounds.origins {
            return Observed::Full;
        }
        self.known.insert(lease.relay.clone(), Known { region, lease, renewed: now, alive: now });
        Observed::New
    }

    /// Gives each origin of a region whose leases arrive again, after none did, the time for its own lease.
    fn greet(&mut self, region: &str, now: Instant) {
        let of_region = self.known.values_mut().filter(|known| known.region == region);
        let origins: Vec<&mut Known> = of_region.collect();
        let is_silent = |known: &&mut Known| now.saturating_duration_since(known.renewed) > self.bounds.lease_duration;
        if origins.iter().all(is_silent) {
            origins.into_iter().for_each(|known| known.renewed = now);
        }
    }

    /// Forgets origins, and returns their names. An origin whose link is up is kept. Another one is forgotten when it drains; when it is silent while
    /// its region is reachable; and when nothing has been known of it for `unreachable_keep`. A region that is silent is cut off and not dead.
    pub fn expire(&mut self, now: Instant, is_up: impl Fn(&str) -> bool) -> Vec<String> {
        let mut renewals: BTreeMap<String, Instant> = BTreeMap::new();
        for known in self.known.values_mut() {
            if is_up(&known.lease.relay) {
                known.alive = now;
            }
            let last = renewals.entry(known.region.clone()).or_insert(known.renewed);
            *last = known.renewed.max(*last);
        }
        let Bounds { lease_duration, unreachable_keep, .. } = self.bounds;
        let is_dead = |known: &Known| {
            let region_renewed = renewals.get(&known.region).copied().unwrap_or(known.renewed);
            let is_silent = region_renewed.saturating_duration_since(known.renewed) > lease_duration;
            known.lease.draining || is_silent || now.saturating_duration_since(known.alive) > unreachable_keep
        };
        let is_expired = |known: &Known| !is_up(&known.lease.relay) && is_dead(known);
        let expired = self.known.values().filter(|known| is_expired(known)).map(|known| known.lease.relay.clone());
        let expired: Vec<String> = expired.collect();
        for relay in &expired {
            self.known.remove(relay);
        }
        expired
    }

    /// Returns the origins that this relay dials, each with the cost of the link. Of two origins the one with the lesser name dials. `own_rank` is
    /// the number of living origins of this region with a lesser name.
    pub fn to_dial(&self, own_rank: u64) -> impl Iterator<Item = (&OriginLease, u64)> {
        let dialled = self.known.values().filter(|known| known.lease.relay > self.own.relay);
        dialled.map(move |known| (&known.lease, REGION_LINK_COST + RANK_COST * (own_rank + self.rank(known))))
    }

    /// Returns the number of living origins of the same region with a lesser name.
    fn rank(&self, of: &Known) -> u64 {
        let lesser = self.known.range::<String, _>(..&of.lease.relay);
        lesser.filter(|(_, known)| known.region == of.region && !known.lease.draining).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::relay_name;
    use super::*;
    use parley_cluster::key::Key;

    const SECOND: Duration = Duration::from_secs(1);
    const BOUNDS: Bounds =
        Bounds { lease_duration: Duration::from_millis(3500), unreachable_keep: Duration::from_secs(60), origins: 4 };

    fn lease(region: &str, pod: &str, epoch: u64) -> OriginLease {
        let url = Url::try_from(format!("https://{pod}.{region}.example/")).unwrap();
        OriginLease { relay: relay_name(region, pod), epoch, url, hashes: vec![], key: Key([1; 32]), draining: false }
    }

    /// What the origin `o1` of the region `eu` knows.
    fn origins() -> Origins {
        Origins::new(lease("eu", "o1", 5), "eu".into(), BOUNDS)
    }

    fn observe(origins: &mut Origins, region: &str, pod: &str, now: Instant) -> Observed {
        origins.observe(region.into(), lease(region, pod, 5), now, |_| true)
    }

    fn dialled(origins: &Origins, own_rank: u64) -> Vec<(String, u64)> {
        origins.to_dial(own_rank).map(|(lease, cost)| (lease.relay.clone(), cost)).collect()
    }

    #[test]
    fn media_19_of_two_origins_the_one_with_the_lesser_name_dials_and_the_cost_grows_with_both_ranks() {
        let (mut origins, now) = (origins(), Instant::now());
        for (region, pod) in [("us", "o1"), ("us", "o0"), ("ap", "o0"), ("eu", "o9")] {
            observe(&mut origins, region, pod, now);
        }
        assert_eq!(dialled(&origins, 0), [("us_o0".into(), 100), ("us_o1".into(), 110)]);
        assert_eq!(dialled(&origins, 1), [("us_o0".into(), 110), ("us_o1".into(), 120)]);
    }

    #[test]
    fn media_19_an_origin_that_drains_has_no_part_in_the_ranks() {
        let (mut origins, now) = (origins(), Instant::now());
        for pod in ["o0", "o1"] {
            observe(&mut origins, "us", pod, now);
        }
        let draining = OriginLease { draining: true, ..lease("us", "o0", 5) };
        assert_eq!(origins.observe("us".into(), draining.clone(), now, |_| true), Observed::Changed);
        assert_eq!(dialled(&origins, 0), [("us_o0".into(), 100), ("us_o1".into(), 100)]);
        assert!(origins.expire(now, |_| true).is_empty());
        assert_eq!(origins.expire(now, |_| false), ["us_o0"]);
        assert_eq!(origins.observe("us".into(), draining, now, |_| true), Observed::Ignored);
    }

    #[test]
    fn media_18_a_later_run_replaces_an_earlier_one() {
        let (mut origins, now) = (origins(), Instant::now());
        let cases = [
            (5, Observed::New),
            (5, Observed::Renewed),
            (6, Observed::Changed),
            (5, Observed::Ignored),
            (6, Observed::Renewed),
        ];
        for (epoch, expected) in cases {
            assert_eq!(origins.observe("us".into(), lease("us", "o0", epoch), now, |_| true), expected, "{epoch}");
        }
        assert_eq!(origins.known["us_o0"].lease.epoch, 6);
    }

    #[test]
    fn media_21_a_lease_of_the_own_name_from_another_process_is_a_namesake() {
        let (mut origins, now) = (origins(), Instant::now());
        assert_eq!(observe(&mut origins, "eu", "o1", now), Observed::Ignored);
        assert_eq!(origins.observe("eu".into(), lease("eu", "o1", 6), now, |_| false), Observed::Namesake);
        let same_epoch = OriginLease { key: Key([2; 32]), ..lease("eu", "o1", 5) };
        assert_eq!(origins.observe("eu".into(), same_epoch, now, |_| false), Observed::Namesake);
        assert!(origins.known.is_empty());
    }

    #[test]
    fn media_18_an_origin_whose_host_is_not_allowed_is_refused_and_those_of_this_region_are_not_judged() {
        let (mut origins, now) = (origins(), Instant::now());
        assert_eq!(origins.observe("us".into(), lease("us", "o0", 5), now, |_| false), Observed::Refused);
        assert_eq!(origins.observe("eu".into(), lease("eu", "o0", 5), now, |_| false), Observed::Ignored);
        assert!(origins.known.is_empty());
    }

    #[test]
    fn media_20_at_most_link_peers_origins_are_known() {
        let (mut origins, now) = (origins(), Instant::now());
        let observed = ["o0", "o1", "o2", "o3", "o4", "o0"].map(|pod| observe(&mut origins, "us", pod, now));
        use Observed::{Full, New, Renewed};
        assert_eq!(observed, [New, New, New, New, Full, Renewed]);
    }

    #[test]
    fn media_20_an_origin_that_is_silent_while_its_region_is_reachable_is_forgotten_once_its_link_is_down() {
        let (mut origins, began) = (origins(), Instant::now());
        observe(&mut origins, "us", "o0", began);
        observe(&mut origins, "us", "o1", began + 3 * SECOND);
        assert!(origins.expire(began + 4 * SECOND, |_| false).is_empty());
        observe(&mut origins, "us", "o1", began + 4 * SECOND);
        assert!(origins.expire(began + 4 * SECOND, |relay| relay == "us_o0").is_empty());
        assert_eq!(origins.expire(began + 4 * SECOND, |_| false), ["us_o0"]);
    }

    #[test]
    fn media_20_after_a_cut_each_origin_of_a_region_has_the_time_of_a_lease_to_renew_its_own() {
        let (mut origins, began) = (origins(), Instant::now());
        for pod in ["o0", "o1", "o2"] {
            observe(&mut origins, "us", pod, began);
        }
        let healed = began + 45 * SECOND;
        observe(&mut origins, "us", "o1", healed);
        assert!(origins.expire(healed, |_| false).is_empty());
        assert_eq!(dialled(&origins, 0), [("us_o0".into(), 100), ("us_o1".into(), 110), ("us_o2".into(), 120)]);
        observe(&mut origins, "us", "o0", healed + SECOND);
        observe(&mut origins, "us", "o1", healed + 4 * SECOND);
        assert_eq!(origins.expire(healed + 4 * SECOND, |_| false), ["us_o2"]);
    }

    #[test]
    fn media_20_an_origin_of_a_region_that_is_cut_off_is_kept_until_its_time_is_over() {
        let (mut origins, began) = (origins(), Instant::now());
        for pod in ["o0", "o1"] {
            observe(&mut origins, "us", pod, began);
        }
        observe(&mut origins, "ap", "o0", began + 60 * SECOND);
        assert!(origins.expire(began + 60 * SECOND, |_| false).is_empty());
        // The link of `us_o1` is up, without a lease.
        assert_eq!(origins.expire(began + 61 * SECOND, |relay| relay == "us_o1"), ["us_o0"]);
        assert!(origins.expire(began + 120 * SECOND, |_| false).is_empty());
        assert_eq!(origins.expire(began + 122 * SECOND, |_| false), ["ap_o0", "us_o1"]);
    }
}
