//! Whether the other end of a link lives: any bytes count, and a ping every `link.pingInterval` sees to it that there are some.
//! Rule STR-97.
use super::end::End;
use crate::Limits;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// One end's view of the other.
pub struct Pulse {
    began: Instant,
    /// Milliseconds since it began.
    heard: AtomicU64,
    dead: Duration,
    every: Duration,
}

impl Pulse {
    /// The other end was heard just now.
    pub fn new(limits: &Limits) -> Self {
        let (dead, every) =
            (Duration::from_millis(limits.link_idle_timeout), Duration::from_millis(limits.link_ping_interval));
        Self { began: Instant::now(), heard: AtomicU64::new(0), dead, every }
    }

    /// Something was heard.
    pub fn beat(&self) {
        self.heard.store(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Ready when nothing was heard for `link.idleTimeout`.
    pub async fn stops(&self) -> End {
        loop {
            tokio::time::sleep(self.every / 4).await;
            if self.began.elapsed() > Duration::from_millis(self.heard.load(Relaxed)) + self.dead {
                return End::Dead;
            }
        }
    }
}
