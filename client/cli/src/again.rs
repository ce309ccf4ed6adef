//! When what was lost is tried again.
use crate::ending::Again;
use clap::ValueEnum;
use std::time::Duration;

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "as they say")]
pub enum Switch {
    On,
    Off,
}

/// The longest pause before the second try; each further one may be twice as long.
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// A connection that held this long was a good one: pauses begin anew.
pub const GOOD: Duration = Duration::from_secs(10);

/// Full jitter: anything up to a bound that doubles, so that those who were lost together do not come back together.
pub fn pause(again: Again, tries: u32) -> Duration {
    let chance = fastrand::f64();
    let longest = PAUSE.saturating_mul(1 << tries.min(10)).min(PAUSE_MAX).mul_f64(chance);
    match again {
        Again::AtOnce => PAUSE.mul_f64(chance),
        Again::Later => longest,
        Again::NotBefore(least) => least + longest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_differ() {
        let some = |again, tries| (0..200).map(|_| pause(again, tries)).collect::<Vec<_>>();
        assert!(some(Again::Later, 0).iter().all(|pause| *pause <= PAUSE));
        assert!(some(Again::Later, 4).iter().any(|pause| *pause > PAUSE));
        assert!(some(Again::Later, 90).iter().all(|pause| *pause <= PAUSE_MAX));
        assert!(some(Again::AtOnce, 90).iter().all(|pause| *pause <= PAUSE));
        assert!(some(Again::NotBefore(GOOD), 0).iter().all(|pause| *pause >= GOOD));
        assert_ne!(some(Again::Later, 4)[0], some(Again::Later, 4)[1]);
    }
}
