//! The measured window of a run, between two snapshots.
use crate::process;
use crate::usage::{GeneratorUsage, ServerUsage};
use serde::Serialize;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The totals of a run at one moment.
pub struct Snapshot {
    at: Instant,
    own_cpu: f64,
    server_cpu: f64,
    totals: Totals,
}

/// What was sent and delivered since the beginning of a run.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Messages or frames made.
    pub sent: u64,
    /// Deliveries.
    pub delivered: u64,
    /// Bytes of the deliveries.
    pub bytes: u64,
}

/// What happened between two snapshots.
pub struct Window {
    /// Its duration.
    pub seconds: f64,
    /// Messages or frames made.
    pub sent: u64,
    /// Deliveries.
    pub delivered: u64,
    /// Bytes of the deliveries.
    pub bytes: u64,
    /// What the generator used.
    pub generator: GeneratorUsage,
    /// What the server used. `None`: the user named no process.
    pub server: Option<ServerUsage>,
}

impl Snapshot {
    /// Of these totals and of the processor time used until now. `pids`: the processes of the server.
    pub fn take(pids: &[u32], totals: Totals) -> anyhow::Result<Self> {
        let (server_cpu, own_cpu) = (process::total_cpu(pids)?, process::own_cpu()?);
        Ok(Self { at: Instant::now(), own_cpu, server_cpu, totals })
    }

    /// When it was taken.
    pub fn at(&self) -> Instant {
        self.at
    }
}

/// The time, in Unix milliseconds.
pub fn unix_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}

/// The deliveries of the measured window, as reports show them.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Steady {
    pub seconds: f64,
    pub delivered: u64,
    pub bytes: u64,
    pub deliveries_per_second: f64,
    pub megabits_per_second: f64,
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
impl Window {
    /// Between two snapshots.
    pub fn between(from: &Snapshot, to: &Snapshot, pids: &[u32]) -> anyhow::Result<Self> {
        let seconds = (to.at - from.at).as_secs_f64();
        let delivered = to.totals.delivered - from.totals.delivered;
        let bytes = to.totals.bytes - from.totals.bytes;
        let cpu_seconds = to.own_cpu - from.own_cpu;
        Ok(Self {
            seconds,
            sent: to.totals.sent - from.totals.sent,
            delivered,
            bytes,
            generator: GeneratorUsage { cpu_seconds, share: cpu_seconds / seconds },
            server: ServerUsage::of(pids, to.server_cpu - from.server_cpu, delivered, bytes)?,
        })
    }

    /// The deliveries and their rates.
    pub fn steady(&self) -> Steady {
        let Self { seconds, delivered, bytes, .. } = *self;
        Steady {
            seconds,
            delivered,
            bytes,
            deliveries_per_second: delivered as f64 / seconds,
            megabits_per_second: bytes as f64 * 8.0 / 1e6 / seconds,
        }
    }
}
