//! A histogram of durations.
use crate::Counter;
use std::time::Duration;

/// Upper bounds in microseconds: from a write on the same machine to a link that is about to time out.
pub const BOUNDS: [u64; 13] =
    [100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

/// Counts durations in buckets, in the sense of Prometheus.
#[derive(Debug, Default)]
pub struct Histogram {
    within: [Counter; BOUNDS.len()],
    count: Counter,
    microseconds: Counter,
}

impl Histogram {
    /// Counts `times` observations of the same duration: one call per batch.
    pub fn observe(&self, took: Duration, times: u64) {
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = BOUNDS.iter().position(|bound| microseconds <= *bound) {
            self.within[bucket].add(times);
        }
        self.count.add(times);
        self.microseconds.add(microseconds.saturating_mul(times));
    }

    /// Returns each bound in microseconds with the number of observations at or below it.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut sum = 0;
        BOUNDS.iter().zip(&self.within).map(move |(bound, within)| {
            sum += within.get();
            (*bound, sum)
        })
    }

    /// Returns the number of observations and the sum of their microseconds.
    pub fn sum(&self) -> (u64, u64) {
        (self.count.get(), self.microseconds.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_98_a_bucket_counts_all_observations_at_or_below_its_bound() {
        let histogram = Histogram::default();
        histogram.observe(Duration::from_micros(100), 2);
        histogram.observe(Duration::from_micros(101), 3);
        histogram.observe(Duration::from_secs(60), 1);
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!((buckets[0], buckets[1], buckets[12]), ((100, 2), (250, 5), (5_000_000, 5)));
        assert_eq!(histogram.sum(), (6, 60_000_503));
    }
}
