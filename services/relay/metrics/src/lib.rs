//! Counters, gauges and histograms, and their encoding for Prometheus. Each crate of the relay names its own metrics.
mod families;
mod histogram;
mod numbers;

pub use families::{Families, Label};
pub use histogram::Histogram;
pub use numbers::{Counter, Gauge};
