//! The progress of a load, on a terminal.
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// The time between two lines of progress.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// A line on standard error that is replaced each second. Nothing where standard error is no terminal.
pub struct Progress {
    shown: bool,
    delivered: u64,
}

impl Progress {
    /// Of a load that begins.
    pub fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal(), delivered: 0 }
    }

    /// Replaces the line. It is called once per [`PROGRESS_INTERVAL`]. `more`: the end of the line.
    pub fn show(&mut self, sent: u64, delivered: u64, more: &str) {
        let rate = delivered - std::mem::replace(&mut self.delivered, delivered);
        if self.shown {
            eprint!("\r\x1b[Ksent {sent}, delivered {delivered}, {rate} per second{more}");
            let _ = std::io::stderr().flush();
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
