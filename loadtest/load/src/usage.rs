//! What the generator and the server used during a load.
use crate::process;
use serde::Serialize;

/// A generator that used a larger share of its processor delays deliveries itself, which shows in the latency.
pub const MAX_GENERATOR_SHARE: f64 = 0.8;

/// What the generator used.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GeneratorUsage {
    /// Of all its threads.
    pub cpu_seconds: f64,
    /// Of one processor.
    pub share: f64,
}

impl GeneratorUsage {
    /// For a table.
    pub fn summary(&self, void: bool) -> String {
        format!("{:.0} % of its processor{}", self.share * 100.0, if void { ": VOID" } else { "" })
    }
}

/// What the server used.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerUsage {
    /// Of all its processes.
    pub cpu_seconds: f64,
    /// For each gigabyte delivered.
    #[serde(rename = "cpuSecondsPerGB")]
    pub cpu_seconds_per_gb: Option<f64>,
    /// For each message or frame delivered.
    pub microseconds_per_delivery: Option<f64>,
    /// Resident memory at the end.
    pub resident_kb: u64,
    /// The peak of its resident memory.
    pub peak_kb: u64,
}

impl ServerUsage {
    /// What these processes used for so many deliveries. `None`: the user named no process.
    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    pub fn of(pids: &[u32], cpu_seconds: f64, delivered: u64, bytes: u64) -> anyhow::Result<Option<Self>> {
        if pids.is_empty() {
            return Ok(None);
        }
        let per = |amount: u64, unit: f64| (amount > 0).then(|| cpu_seconds * unit / amount as f64);
        let (mut resident_kb, mut peak_kb) = (0, 0);
        for pid in pids {
            let memory = process::memory(*pid)?;
            resident_kb += memory.resident_kb;
            peak_kb += memory.peak_kb;
        }
        Ok(Some(Self {
            cpu_seconds,
            cpu_seconds_per_gb: per(bytes, 1e9),
            microseconds_per_delivery: per(delivered, 1e6),
            resident_kb,
            peak_kb,
        }))
    }

    /// For a table.
    pub fn summary(&self) -> String {
        format!(
            "{:.2} CPU s: {:.2} per GB, {:.2} µs per delivery; {} kB resident, {} kB at its peak",
            self.cpu_seconds,
            self.cpu_seconds_per_gb.unwrap_or(f64::NAN),
            self.microseconds_per_delivery.unwrap_or(f64::NAN),
            self.resident_kb,
            self.peak_kb
        )
    }
}
