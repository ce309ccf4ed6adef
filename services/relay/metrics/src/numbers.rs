//! Atomic numbers that threads change without locks. Hot paths add once per batch, not once per delivery.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that only increases.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that increases and decreases.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Adds to the gauge.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Relaxed);
    }

    /// Subtracts from the gauge.
    pub fn sub(&self, less: u64) {
        self.0.fetch_sub(less, Relaxed);
    }

    /// Sets the value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
