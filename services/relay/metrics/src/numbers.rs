//! Numbers that many threads change without waiting. Hot paths add once per batch, not once per delivery.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One number.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Reads.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Adds.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Takes away.
    pub fn sub(&self, less: u64) {
        self.0.fetch_sub(less, Relaxed);
    }

    /// Is this from now on.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Reads.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
