//! What crosses between pods, in numbers. Rule STR-98.
use super::end::End;
use crate::stats::counters::Counter;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The numbers of all links of a pod.
#[derive(Debug, Default)]
pub struct Counts {
    /// 1 while NATS is there.
    pub bus: Gauge,
    /// Messages on NATS that no pod would send.
    pub broken: Counter,
    /// Leases that came on another pod's subject.
    pub foreign: Counter,
    /// Leases with an address that no pod of the region has.
    pub unreachable: Counter,
    /// Revocations of other pods over `pod.revocations` or `pod.departures`.
    pub overfull: Counter,
    /// Links over which this pod hears others.
    pub hears: Gauge,
    /// Links over which this pod sends to others.
    pub sends: Gauge,
    /// Topics that others want, once for each pod that does.
    pub asked: Gauge,
    /// Wants over `link.wants`.
    pub refused: Counter,
    /// Messages handed to links.
    pub sent: Counter,
    /// Bytes of them on the wire, with headers.
    pub sent_bytes: Counter,
    /// Messages that came over links.
    pub received: Counter,
    /// Bytes of them on the wire, with headers.
    pub received_bytes: Counter,
    /// Messages that came after nobody wanted them any more.
    pub late: Counter,
    /// Messages dropped as a link was too slow, or ended.
    pub dropped: Counter,
    /// Messages that wait for links.
    pub queued: Gauge,
    /// Their bytes.
    pub queued_bytes: Gauge,
    /// From a publisher to the next pod.
    pub hop: Histogram,
    /// How long answers to upgrades were held.
    pub held: Histogram,
    /// Of those: answered when `link.wantTime` had passed.
    pub overdue: Counter,
    ended: [Counter; End::ALL.len()],
}

impl Counts {
    /// Counts a link that ended, or was not let in.
    pub fn end(&self, end: End) {
        if let Some(counter) = self.ended.get(end as usize) {
            counter.add(1);
        }
    }

    /// Every reason with its number.
    pub fn ends(&self) -> impl Iterator<Item = (End, u64)> + '_ {
        End::ALL.iter().copied().zip(self.ended.iter().map(Counter::get))
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Adds.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Takes away.
    pub fn sub(&self, less: u64) {
        self.0.fetch_sub(less, Relaxed);
    }

    /// Is this from now on.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Reads.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Upper bounds in microseconds: from a write on the same machine to a link that is about to be dead.
pub const BOUNDS: [u64; 13] =
    [100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

/// How long something took, as Prometheus counts it.
#[derive(Debug, Default)]
pub struct Histogram {
    within: [Counter; BOUNDS.len()],
    count: Counter,
    microseconds: Counter,
}

impl Histogram {
    /// Counts `times` that took so long.
    pub fn observe(&self, took: Duration, times: u64) {
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = BOUNDS.iter().position(|bound| microseconds <= *bound) {
            self.within[bucket].add(times);
        }
        self.count.add(times);
        self.microseconds.add(microseconds.saturating_mul(times));
    }

    /// Every bound in microseconds, and how many took no longer.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut sum = 0;
        BOUNDS.iter().zip(&self.within).map(move |(bound, within)| {
            sum += within.get();
            (*bound, sum)
        })
    }

    /// How many were counted, and their microseconds together.
    pub fn sum(&self) -> (u64, u64) {
        (self.count.get(), self.microseconds.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_98_a_bucket_counts_everything_that_took_no_longer() {
        let histogram = Histogram::default();
        histogram.observe(Duration::from_micros(100), 2);
        histogram.observe(Duration::from_micros(101), 3);
        histogram.observe(Duration::from_secs(60), 1);
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!((buckets[0], buckets[1], buckets[12]), ((100, 2), (250, 5), (5_000_000, 5)));
        assert_eq!(histogram.sum(), (6, 60_000_503));
    }
}
