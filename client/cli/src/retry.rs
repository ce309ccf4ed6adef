//! The pauses between retries.
use crate::connection_end::Retry;
use clap::ValueEnum;
use std::time::Duration;

/// A flag that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "as they say")]
pub enum Switch {
    On,
    Off,
}

/// The longest pause before the first retry; the bound doubles with each retry.
const PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(15);
/// After a connection that lasted this long, the bound begins at its smallest value again.
pub const STABLE_AFTER: Duration = Duration::from_secs(10);

/// Full jitter: a random time below the bound, so that clients that were disconnected together do not reconnect together.
pub fn pause(retry: Retry, attempts: u32) -> Duration {
    let random = fastrand::f64();
    let jittered = PAUSE.saturating_mul(1 << attempts.min(10)).min(MAX_PAUSE).mul_f64(random);
    match retry {
        Retry::AtOnce => PAUSE.mul_f64(random),
        Retry::Later => jittered,
        Retry::NotBefore(least) => least + jittered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_are_random() {
        let some = |retry, attempts| (0..200).map(|_| pause(retry, attempts)).collect::<Vec<_>>();
        assert!(some(Retry::Later, 0).iter().all(|pause| *pause <= PAUSE));
        assert!(some(Retry::Later, 4).iter().any(|pause| *pause > PAUSE));
        assert!(some(Retry::Later, 90).iter().all(|pause| *pause <= MAX_PAUSE));
        assert!(some(Retry::AtOnce, 90).iter().all(|pause| *pause <= PAUSE));
        assert!(some(Retry::NotBefore(STABLE_AFTER), 0).iter().all(|pause| *pause >= STABLE_AFTER));
        assert_ne!(some(Retry::Later, 4)[0], some(Retry::Later, 4)[1]);
    }
}
