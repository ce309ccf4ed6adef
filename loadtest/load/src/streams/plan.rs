//! What a load sends.
use crate::payload::HEADER;
use anyhow::ensure;
use clap::ValueEnum;
use serde::Serialize;
use std::time::Duration;

/// A load: what, where and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub shape: Shape,
    #[command(flatten)]
    pub times: Times,
    /// A generator that used more of its processor may itself have been what was slow: the measurement is void
    #[arg(long, default_value_t = VOID_ABOVE, value_name = "SHARE")]
    pub void_above: f64,
}

/// Above four fifths, what waits for the generator shows in the latency.
pub const VOID_ABOVE: f64 = 0.8;

/// The server.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    /// The server: ws://HOST:PORT, and a prefix of all paths where there is one
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// Where publishers connect, if elsewhere
    #[arg(long, value_name = "URL")]
    pub publishers_url: Option<String>,
    /// Paths: publishers on /in/NAME and readers on /out/NAME, or all on /NAME
    #[arg(long, value_enum, default_value_t = Paths::InOut)]
    pub paths: Paths,
    /// What the names of topics begin with
    #[arg(long, default_value = "load")]
    pub name: String,
    /// A line to add to each upgrade, such as "Authorization: Bearer ..."; may be given again
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Processes of the server, by commas, for its processor time and memory
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pub pids: Vec<u32>,
}

/// Who sends what to how many.
#[derive(Clone, Copy, Debug, Serialize, clap::Args)]
pub struct Shape {
    /// Topics, each with one publisher
    #[arg(long, default_value_t = 1)]
    pub topics: usize,
    /// Readers of each topic
    #[arg(long, default_value_t = 1)]
    pub readers: usize,
    /// Size of a message, at least 32
    #[arg(long, default_value_t = 4583)]
    pub bytes: usize,
    /// Messages a second from each publisher; 0: as fast as the window allows
    #[arg(long, default_value_t = 30.0)]
    pub rate: f64,
    /// With --rate 0: the most messages of a topic that not every reader has yet
    #[arg(long, default_value_t = 64)]
    pub window: u64,
}

/// In seconds.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Times {
    /// How long to measure
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// How long to send before that
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub warm_up: f64,
    /// How long to wait afterwards for what is still on its way
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    pub drain: f64,
}

/// How a topic becomes paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// `/in/NAME` and `/out/NAME`.
    InOut,
    /// `/NAME`.
    Plain,
}

/// A message whose publisher's server takes nothing waits in its publisher, up to this.
pub const WAITING_MAX: usize = 64 << 20;

impl Plan {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> anyhow::Result<()> {
        let Shape { topics, readers, bytes, rate, window } = self.shape;
        ensure!(topics > 0 && readers > 0, "--topics and --readers must be at least 1");
        ensure!(bytes >= HEADER, "--bytes must be at least {HEADER}: a message carries its hash, place and time");
        ensure!(bytes <= WAITING_MAX, "--bytes must be at most {WAITING_MAX}");
        ensure!(rate >= 0.0 && rate.is_finite(), "--rate must be 0 or more");
        ensure!(rate > 0.0 || window > 0, "--window must be at least 1");
        let Times { seconds, warm_up, drain } = self.times;
        for (flag, time) in [("seconds", seconds), ("warm-up", warm_up), ("drain", drain)] {
            ensure!((0.0..=86_400.0).contains(&time), "--{flag} must be 0 to 86400");
        }
        ensure!(seconds >= 0.1, "--seconds must be at least 0.1");
        Ok(())
    }
}

impl Place {
    /// The paths of a topic's publisher and readers. `run` makes them this run's own.
    pub fn paths(&self, run: u64, topic: usize) -> (String, String) {
        let name = format!("{}/{run:x}-{topic}", self.name);
        match self.paths {
            Paths::InOut => (format!("/in/{name}"), format!("/out/{name}")),
            Paths::Plain => (format!("/{name}"), format!("/{name}")),
        }
    }
}

impl Shape {
    /// No message is sent on time, but each as soon as the window allows.
    pub fn is_closed_loop(&self) -> bool {
        self.rate == 0.0
    }

    /// How many messages each publisher owes after so long. Publishers take turns: the first messages of all of them are spread
    /// evenly over one interval.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
    pub fn due(&self, topic: usize, since: Duration) -> u64 {
        let phase = topic as f64 / self.topics as f64;
        (since.as_secs_f64() * self.rate + 1.0 - phase).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_take_turns_and_keep_their_rate() {
        let shape = Shape { topics: 4, readers: 1, bytes: 100, rate: 10.0, window: 1 };
        let due = |ms| (0..4).map(|topic| shape.due(topic, Duration::from_millis(ms))).collect::<Vec<_>>();
        assert_eq!(due(0), [1, 0, 0, 0]);
        assert_eq!(due(26), [1, 1, 0, 0]);
        assert_eq!(due(99), [1, 1, 1, 1]);
        assert_eq!(due(1001), [11, 10, 10, 10]);
    }
}
