//! What is counted, and how it is shown: JSON on `/ws`, a page at `/stats`, Prometheus at `/metrics`.
pub mod answers;
pub mod client;
pub mod metrics;
pub mod page;
pub mod report;

pub use answers::Answers;
pub use client::{Client, Clients};
