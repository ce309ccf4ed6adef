//! Who is there: from leases to links that are kept or dropped. No I/O, no clock. Rules STR-90 and STR-97.
use super::lease::Lease;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The pods this one knows, each with its link; dropping a link ends it.
#[derive(Debug)]
pub struct Roll<L> {
    own: Lease,
    time: Duration,
    most: usize,
    known: HashMap<String, Known<L>>,
    /// When our own lease last came back: without it the bus is away, and silence says nothing about others.
    echoed: Option<Instant>,
}

#[derive(Debug)]
struct Known<L> {
    epoch: u64,
    heard: Instant,
    gone: bool,
    link: L,
}

/// What a lease meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Our own came back.
    Own,
    /// A pod that was not known: it is dialled.
    New,
    /// A later run of a pod that was: its link ended, and it is dialled again.
    Restarted,
    /// A pod that is known, and still there.
    Known,
    /// An earlier run of a pod that is known: late, and skipped.
    Late,
    /// A pod that goes.
    Gone,
    /// A pod with this one's name: it is skipped, as one of the two is set up wrong.
    Twin,
    /// One more than `link.peers`: it is skipped.
    Full,
}

impl<L> Roll<L> {
    /// Nobody is known yet. A lease holds for `time`; at most `most` are kept.
    pub fn new(own: Lease, time: Duration, most: usize) -> Self {
        Self { own, time, most, known: HashMap::new(), echoed: None }
    }

    /// A lease came.
    pub fn heard(&mut self, lease: Lease, now: Instant, dial: impl FnOnce(Lease) -> L) -> Heard {
        if lease.pod == self.own.pod {
            if (lease.epoch, lease.certificate) != (self.own.epoch, self.own.certificate) {
                return Heard::Twin;
            }
            self.echoed = Some(now);
            return Heard::Own;
        }
        let (pod, epoch) = (lease.pod.clone(), lease.epoch);
        if let Some(known) = self.known.get_mut(&pod) {
            if epoch < known.epoch {
                return Heard::Late;
            }
            if lease.draining {
                known.gone = true;
                return Heard::Gone;
            }
            if epoch == known.epoch {
                (known.heard, known.gone) = (now, false);
                return Heard::Known;
            }
            // The old link ends before the new one is dialled.
            self.known.remove(&pod);
            self.known.insert(pod, Known { epoch, heard: now, gone: false, link: dial(lease) });
            return Heard::Restarted;
        }
        if lease.draining {
            return Heard::Gone;
        }
        if self.known.len() >= self.most {
            return Heard::Full;
        }
        self.known.insert(pod, Known { epoch, heard: now, gone: false, link: dial(lease) });
        Heard::New
    }

    /// Forgets pods whose lease lapsed, and answers their names. A link that is up is kept: a lease is only for finding.
    pub fn lapse(&mut self, now: Instant, is_up: impl Fn(&L) -> bool) -> Vec<String> {
        let silent = |since: Instant| now.saturating_duration_since(since) > self.time;
        let bus_is_away = self.echoed.is_none_or(silent);
        let lapsed = |known: &Known<L>| known.gone || (!bus_is_away && silent(known.heard));
        let ended: Vec<String> = self
            .known
            .iter()
            .filter(|(_, known)| lapsed(known) && !is_up(&known.link))
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in &ended {
            self.known.remove(pod);
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;

    const TIME: Duration = Duration::from_secs(3);

    fn lease(pod: &str, epoch: u64) -> Lease {
        let link = "127.0.0.1:1".parse().unwrap();
        Lease {
            pod: pod.into(),
            epoch,
            zone: String::new(),
            link,
            certificate: Hash::of(b"0"),
            draining: false,
            media: None,
        }
    }

    fn roll() -> Roll<u64> {
        Roll::new(lease("self", 7), TIME, 2)
    }

    fn hear(roll: &mut Roll<u64>, lease: Lease, now: Instant) -> Heard {
        roll.heard(lease, now, |lease| lease.epoch)
    }

    #[test]
    fn str_90_a_pod_is_dialled_once_for_each_of_its_runs() {
        let (mut roll, now) = (roll(), Instant::now());
        let cases = [(5, Heard::New), (5, Heard::Known), (6, Heard::Restarted), (5, Heard::Late), (6, Heard::Known)];
        for (epoch, expected) in cases {
            assert_eq!(hear(&mut roll, lease("a", epoch), now), expected, "{epoch}");
        }
        assert_eq!(roll.known["a"].link, 6);
    }

    #[test]
    fn str_90_our_own_lease_and_a_twins_are_not_dialled() {
        let (mut roll, now) = (roll(), Instant::now());
        assert_eq!(hear(&mut roll, lease("self", 7), now), Heard::Own);
        assert_eq!(hear(&mut roll, lease("self", 8), now), Heard::Twin);
        // Started in the same millisecond.
        assert_eq!(hear(&mut roll, Lease { certificate: Hash::of(b"1"), ..lease("self", 7) }, now), Heard::Twin);
        assert!(roll.known.is_empty());
    }

    #[test]
    fn str_90_no_more_than_link_peers_are_kept() {
        let (mut roll, now) = (roll(), Instant::now());
        let heard = ["a", "b", "c", "a"].map(|pod| hear(&mut roll, lease(pod, 1), now));
        assert_eq!(heard, [Heard::New, Heard::New, Heard::Full, Heard::Known]);
    }

    #[test]
    fn str_97_a_pod_whose_lease_lapsed_is_forgotten_once_its_link_is_down() {
        let (mut roll, began) = (roll(), Instant::now());
        hear(&mut roll, lease("a", 1), began);
        let later = began + TIME + Duration::from_secs(1);
        hear(&mut roll, lease("self", 7), later);
        assert!(roll.lapse(later, |_| true).is_empty());
        assert_eq!(roll.lapse(later, |_| false), ["a"]);
        assert_eq!(hear(&mut roll, lease("a", 1), later), Heard::New);
    }

    #[test]
    fn str_97_silence_says_nothing_while_the_bus_is_away() {
        let (mut roll, began) = (roll(), Instant::now());
        hear(&mut roll, lease("self", 7), began);
        hear(&mut roll, lease("a", 1), began);
        assert!(roll.lapse(began + TIME * 100, |_| false).is_empty());
    }

    #[test]
    fn str_99_a_pod_that_said_it_goes_is_forgotten_at_once_when_its_link_is_down() {
        let (mut roll, now) = (roll(), Instant::now());
        hear(&mut roll, lease("a", 1), now);
        assert_eq!(hear(&mut roll, Lease { draining: true, ..lease("a", 1) }, now), Heard::Gone);
        assert!(roll.lapse(now, |_| true).is_empty());
        assert_eq!(roll.lapse(now, |_| false), ["a"]);
        assert_eq!(hear(&mut roll, Lease { draining: true, ..lease("a", 1) }, now), Heard::Gone);
        assert!(roll.known.is_empty());
    }
}
