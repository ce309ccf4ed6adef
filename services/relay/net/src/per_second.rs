//! Counts what happens in a second, for limits of log lines (STR-135) and of spans (MED-61), whose tests cover it.
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// Takes at most a number in each second. A second begins with the first that is taken after the one before has passed.
#[derive(Debug, Default)]
pub struct PerSecond {
    since: Option<Instant>,
    taken: u64,
}

impl PerSecond {
    /// Counts one. Returns false if it exceeds `max`.
    pub fn take(&mut self, max: u64, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= SECOND) {
            *self = Self { since: Some(now), taken: 0 };
        }
        self.taken += 1;
        self.taken <= max
    }
}
