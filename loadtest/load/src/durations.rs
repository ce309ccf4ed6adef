//! How long the parts of a load last, and when its measurement is void.
use crate::usage::MAX_GENERATOR_SHARE;
use anyhow::ensure;

/// The flags of loads of streams and of media.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Durations {
    /// How long to measure
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// How long to publish before that, once all clients are connected
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub warm_up: f64,
    /// How long to wait afterwards for messages or frames in flight
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    pub drain: f64,
}

/// When a measurement is void.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct VoidAbove {
    /// The measurement is void where the generator used a larger share of its processor
    #[arg(long = "void-above", default_value_t = MAX_GENERATOR_SHARE, value_name = "SHARE")]
    pub share: f64,
}

impl Durations {
    /// Rejects values out of their ranges.
    pub fn check(&self) -> anyhow::Result<()> {
        check("seconds", self.seconds, self.warm_up, self.drain)
    }
}

/// Rejects values out of their ranges. `flag`: that of `seconds`.
pub fn check(flag: &str, seconds: f64, warm_up: f64, drain: f64) -> anyhow::Result<()> {
    for (flag, time) in [(flag, seconds), ("warm-up", warm_up), ("drain", drain)] {
        ensure!((0.0..=86_400.0).contains(&time), "--{flag} must be 0 to 86400");
    }
    ensure!(seconds >= 0.1, "--{flag} must be at least 0.1");
    Ok(())
}
