//! Notices that a withdrawn broadcast delivers nothing any more (MEDIA-23).
use anyhow::{Error, anyhow};
use moq_net::broadcast::Consumer;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long a withdrawn broadcast is silent before its subscriptions end.
const SILENCE: Duration = Duration::from_secs(1);

/// When something arrived last.
pub struct Arrivals(Mutex<Instant>);

impl Default for Arrivals {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Arrivals {
    /// Records that something arrived now.
    pub fn record(&self) {
        *self.0.lock() = Instant::now();
    }

    /// Resolves when `broadcast` is withdrawn and nothing has arrived for `SILENCE`, with why it is lost. Subscriptions outlive a withdrawal, as more may be
    /// under way; but after a cut relays may wait for one another, each for what the next one would send. May be cancelled.
    pub async fn withdrawn(&self, broadcast: &Consumer) -> Error {
        broadcast.closed().await;
        let since = Instant::now();
        loop {
            let silent_at = since.max(*self.0.lock()) + SILENCE;
            if Instant::now() >= silent_at {
                return anyhow!("withdrawn");
            }
            sleep_until(silent_at).await;
        }
    }
}
