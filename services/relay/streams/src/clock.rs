//! The time that streams go by.
use std::time::Instant;

/// Milliseconds since the pod began.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Begins now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Milliseconds; never 0, which stands for never.
    pub fn now(self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }
}
