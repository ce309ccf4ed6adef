//! How late a load was, and what it cost: alike for all loads.
use crate::process;
use hdrhistogram::Histogram;
use serde::Serialize;

/// In milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// Half of all were faster.
    pub p50: f64,
    /// 95 of 100 were faster.
    pub p95: f64,
    /// 99 of 100 were faster.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

impl Latency {
    /// Of nanoseconds.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub fn of(nanoseconds: &Histogram<u64>) -> Self {
        let quantile = |at| nanoseconds.value_at_quantile(at) as f64 / 1e6;
        Self { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), max: nanoseconds.max() as f64 / 1e6 }
    }
}

/// What the generator itself used.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Generator {
    /// Of all its threads.
    pub cpu_seconds: f64,
    /// Of one processor.
    pub share: f64,
}

impl Generator {
    /// For people.
    pub fn said(&self, void: bool) -> String {
        format!("{:.0} % of its processor{}", self.share * 100.0, if void { ": VOID" } else { "" })
    }
}

/// What the load cost the server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Of all its processes.
    pub cpu_seconds: f64,
    /// For a gigabyte that was delivered.
    #[serde(rename = "cpuSecondsPerGB")]
    pub cpu_seconds_per_gb: Option<f64>,
    /// For a message or frame that was delivered.
    pub microseconds_per_delivery: Option<f64>,
    /// Memory at the end.
    pub resident_kb: u64,
    /// The most that it ever was.
    pub peak_kb: u64,
}

impl Server {
    /// What these processes used for so much; `None`: none was named.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
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

    /// For people.
    pub fn said(&self) -> String {
        format!(
            "{:.2} CPU s: {:.2} a GB, {:.2} µs a delivery; {} kB resident, {} kB at most",
            self.cpu_seconds,
            self.cpu_seconds_per_gb.unwrap_or(f64::NAN),
            self.microseconds_per_delivery.unwrap_or(f64::NAN),
            self.resident_kb,
            self.peak_kb
        )
    }
}
