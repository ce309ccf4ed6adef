//! Percentiles of times.
use hdrhistogram::Histogram;
use serde::Serialize;

/// Percentiles, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Latency {
    /// Of a histogram in nanoseconds.
    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    pub fn of(nanoseconds: &Histogram<u64>) -> Self {
        let quantile = |at| nanoseconds.value_at_quantile(at) as f64 / 1e6;
        Self { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), max: nanoseconds.max() as f64 / 1e6 }
    }

    /// For a table.
    pub fn summary(&self) -> String {
        let Self { p50, p95, p99, max } = self;
        format!("p50 {p50:.3}, p95 {p95:.3}, p99 {p99:.3}, max {max:.3} ms")
    }
}
