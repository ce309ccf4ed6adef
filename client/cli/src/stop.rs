//! Signals that stop a command.
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, which stop a command cleanly.
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// Installs the handlers: from now on the signals do not end the process.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for either signal.
    pub async fn requested(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {} }
    }
}
