//! The delays of the frames of a track, or of several.
use hdrhistogram::Histogram;

/// From making to arrival, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Delays {
    histogram: Histogram<u64>,
    total: u64,
    last: Option<u64>,
    /// The sum of the differences between the delays of consecutive frames, and their count.
    changes: (u64, u64),
}

impl Delays {
    /// Without a frame.
    pub fn new() -> anyhow::Result<Self> {
        let histogram = Histogram::new_with_bounds(1_000, 60_000_000_000, 2)?;
        Ok(Self { histogram, total: 0, last: None, changes: (0, 0) })
    }

    /// Records the delay of the next frame of a track.
    pub fn record(&mut self, delay: u64) {
        self.histogram.saturating_record(delay);
        self.total = self.total.saturating_add(delay);
        if let Some(last) = self.last.replace(delay) {
            self.changes = (self.changes.0.saturating_add(last.abs_diff(delay)), self.changes.1 + 1);
        }
    }

    /// Forgets all frames.
    pub fn reset(&mut self) {
        self.histogram.reset();
        (self.total, self.last, self.changes) = (0, None, (0, 0));
    }

    /// Adds the frames of another track.
    pub fn add(&mut self, other: &Self) -> anyhow::Result<()> {
        self.histogram.add(&other.histogram)?;
        self.total = self.total.saturating_add(other.total);
        self.changes = (self.changes.0.saturating_add(other.changes.0), self.changes.1 + other.changes.1);
        Ok(())
    }

    /// All delays.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// The mean, in nanoseconds.
    pub fn mean(&self) -> f64 {
        quotient(self.total, self.histogram.len())
    }

    /// The mean difference between the delays of two consecutive frames of a track, in nanoseconds.
    pub fn mean_change(&self) -> f64 {
        quotient(self.changes.0, self.changes.1)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
fn quotient(total: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(all: &[u64]) -> Delays {
        let mut delays = Delays::new().unwrap();
        all.iter().for_each(|delay| delays.record(*delay));
        delays
    }

    fn means(delays: &Delays) -> (f64, f64) {
        (delays.mean(), delays.mean_change())
    }

    #[test]
    fn changes_are_those_between_consecutive_frames() {
        assert_eq!(means(&delays(&[10_000, 12_000, 9_000])), (31_000.0 / 3.0, 2_500.0));
        assert_eq!(means(&delays(&[10_000])), (10_000.0, 0.0));
    }

    #[test]
    fn two_tracks_of_different_delays_have_no_change_between_them() {
        let mut both = delays(&[10_000, 10_000]);
        both.add(&delays(&[90_000, 90_000])).unwrap();
        assert_eq!((means(&both), both.histogram().len()), ((50_000.0, 0.0), 4));
    }

    #[test]
    fn after_a_reset_nothing_is_remembered() {
        let mut delays = delays(&[10_000, 50_000]);
        delays.reset();
        assert_eq!(means(&delays), (0.0, 0.0));
        delays.record(20_000);
        assert_eq!(means(&delays), (20_000.0, 0.0));
    }
}
