//! Detects a link whose peer sends nothing any more. Any bytes count; a ping every `link.pingInterval` makes a live peer send some. Rule STR-97.
use super::end::End;
use crate::Limits;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The idle timeout of one end of a link.
pub struct IdleTimeout {
    began: Instant,
    /// When bytes last arrived, in milliseconds since `began`.
    received: AtomicU64,
    timeout: Duration,
    ping_interval: Duration,
}

impl IdleTimeout {
    /// Starts the timeout.
    pub fn start(limits: &Limits) -> Self {
        let timeout = Duration::from_millis(limits.link_idle_timeout);
        let ping_interval = Duration::from_millis(limits.link_ping_interval);
        Self { began: Instant::now(), received: AtomicU64::new(0), timeout, ping_interval }
    }

    /// Restarts the timeout, as bytes arrived.
    pub fn restart(&self) {
        self.received.store(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Completes when nothing arrived for `link.idleTimeout`.
    pub async fn expired(&self) -> End {
        loop {
            tokio::time::sleep(self.ping_interval / 4).await;
            if self.began.elapsed() > Duration::from_millis(self.received.load(Relaxed)) + self.timeout {
                return End::IdleTimeout;
            }
        }
    }
}
