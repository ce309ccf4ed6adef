//! Being told to end.
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, which end a command cleanly.
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// From here on the signals do not end the process.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for either.
    pub async fn told(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {} }
    }
}
