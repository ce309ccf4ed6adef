//! When the small frames of a busy relay leave.
//!
//! A packet with one frame of voice costs a relay nearly as much as a full one. Where it writes many small frames, the readers of their tracks wait for the
//! same instants, a few milliseconds apart, so that the frames of all who speak leave for a watcher together (MED-75).
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// A frame up to this size is small, in bytes: voice, and video of next to no motion.
const SMALL: usize = 512;
/// The number of small frames in a second from which on they are held: ten rooms of six in which two speak write half of it, with 25 packets a second.
const BUSY: u64 = 5000;
const WINDOW: Duration = Duration::from_millis(200);

/// Counts the small frames of a relay.
pub(crate) struct Pace {
    hold: Duration,
    begin: Instant,
    count: Mutex<Count>,
}

#[derive(Default)]
struct Count {
    /// The window that is being counted, and the frames in it.
    window: u128,
    frames: u64,
    /// Whether the window before it had enough of them.
    busy: bool,
}

impl Pace {
    /// Holds small frames for up to `hold`; for none of them if that is zero.
    pub fn new(hold: Duration) -> Self {
        Self { hold, begin: Instant::now(), count: Mutex::default() }
    }

    /// Counts frames of this size that were written.
    pub fn wrote(&self, frames: usize, size: usize, now: Instant) {
        if size <= SMALL && frames > 0 && !self.hold.is_zero() {
            self.current(now).frames += frames as u64;
        }
    }

    /// Returns when a frame that is there now may be written, if its track has frames of this size; `None`: at once.
    pub fn hold(&self, size: usize, now: Instant) -> Option<Instant> {
        if size > SMALL || self.hold.is_zero() || !self.current(now).busy {
            return None;
        }
        let passed = now.duration_since(self.begin).as_nanos();
        let left = self.hold.as_nanos() - passed % self.hold.as_nanos();
        Some(now + Duration::from_nanos(u64::try_from(left).unwrap_or(0)))
    }

    fn current(&self, now: Instant) -> parking_lot::MutexGuard<'_, Count> {
        let window = now.duration_since(self.begin).as_nanos() / WINDOW.as_nanos();
        let mut count = self.count.lock();
        if window != count.window {
            let was_busy =
                u128::from(count.frames) * Duration::from_secs(1).as_nanos() >= u128::from(BUSY) * WINDOW.as_nanos();
            *count = Count { window, frames: 0, busy: was_busy && window == count.window + 1 };
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Duration = Duration::from_millis(5);
    const VOICE: usize = 120;

    fn after(pace: &Pace, ms: u64) -> Instant {
        pace.begin + Duration::from_millis(ms)
    }

    /// A pace that has counted this many small frames in its first window.
    fn counted(frames: usize) -> Pace {
        let pace = Pace::new(HOLD);
        pace.wrote(frames, VOICE, after(&pace, 10));
        pace
    }

    #[test]
    fn med_75_small_frames_of_a_busy_relay_wait_for_a_common_instant_and_large_ones_do_not() {
        let pace = counted(1000);
        for (now, leaves) in [(201, 205), (204, 205), (206, 210)] {
            assert_eq!(pace.hold(VOICE, after(&pace, now)), Some(after(&pace, leaves)));
        }
        assert_eq!(pace.hold(SMALL + 1, after(&pace, 207)), None);
    }

    #[test]
    fn med_75_nothing_is_held_in_a_relay_that_is_not_busy_or_no_longer() {
        let pace = counted(999);
        assert_eq!(pace.hold(VOICE, after(&pace, 201)), None);
        let pace = counted(1000);
        assert_eq!(pace.hold(VOICE, after(&pace, 401)), None, "a window without frames has passed");
        assert_eq!(pace.hold(VOICE, after(&pace, 601)), None);
    }

    #[test]
    fn med_75_with_a_hold_of_zero_nothing_is_held() {
        let pace = Pace::new(Duration::ZERO);
        pace.wrote(100_000, VOICE, after(&pace, 10));
        assert_eq!(pace.hold(VOICE, after(&pace, 201)), None);
    }
}
