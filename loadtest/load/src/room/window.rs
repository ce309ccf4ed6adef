//! What was measured between the warm-up and the end of publishing.
use crate::media::receiver::Counts;
use hdrhistogram::Histogram;

/// The measured window of a run.
pub struct Window {
    /// Its beginning, in Unix milliseconds.
    pub began_ms: u128,
    /// Its end, in Unix milliseconds.
    pub ended_ms: u128,
    /// Processor seconds of the generator.
    pub own_cpu: f64,
    /// The frames that arrived.
    pub counts: Counts,
    /// Samples of the smoothed round-trip times of all sessions, in nanoseconds.
    pub round_trips: Histogram<u64>,
    /// The delay from making to arrival, in nanoseconds.
    pub delay: Histogram<u64>,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
}

impl Window {
    /// Its duration, at least a millisecond: rates are divided by it.
    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    pub fn seconds(&self) -> f64 {
        (self.ended_ms - self.began_ms).max(1) as f64 / 1e3
    }
}
