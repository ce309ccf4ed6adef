//! The system's monotonic clock, which can be slept on to a moment rather than for a while.
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// Since the machine started.
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Returns at that moment, or at once where it is over.
pub fn sleep_until(moment: Duration) {
    let moment =
        Timespec { tv_sec: moment.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: moment.subsec_nanos().into() };
    while clock_nanosleep_absolute(ClockId::Monotonic, &moment) == Err(Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_wakes_early() {
        let moment = now() + Duration::from_millis(20);
        sleep_until(moment);
        assert!(now() >= moment);
        assert!(now() < moment + Duration::from_secs(5));
    }
}
