//! A value that is computed at most once per interval, because it is expensive.
use bytes::Bytes;
use parking_lot::Mutex;

/// The last value and when it was computed, in milliseconds of the pod's clock.
#[derive(Debug, Default)]
pub(crate) struct Cached(Mutex<Option<(u64, Bytes)>>);

impl Cached {
    /// Returns the last value, or computes it if that one is at least `interval` milliseconds old.
    pub fn get(&self, now: u64, interval: u64, compute: impl FnOnce() -> Bytes) -> Bytes {
        let mut last = self.0.lock();
        if let Some((_, value)) = last.as_ref().filter(|(at, _)| now.saturating_sub(*at) < interval) {
            return value.clone();
        }
        let value = compute();
        *last = Some((now, value.clone()));
        value
    }
}
