//! What is counted, and how Prometheus reads it. No metric is named here: each crate names its own.
mod histogram;
mod numbers;
mod text;

pub use histogram::Histogram;
pub use numbers::{Counter, Gauge};
pub use text::Text;
