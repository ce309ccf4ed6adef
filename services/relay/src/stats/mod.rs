//! Statistics and metrics: JSON on `/ws`, a page at `/stats`, Prometheus at `/metrics`.
pub mod answers;
pub mod metrics;
pub mod page;
pub mod report;
