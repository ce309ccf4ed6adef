//! The plan of a load of streams: how many publishers and readers, what they send, where.
use crate::durations::{Durations, VoidAbove};
use crate::payload::HEADER_BYTES;
use anyhow::ensure;
use clap::ValueEnum;
use serde::Serialize;
use std::time::Duration;

/// What to send, where, and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    pub endpoints: Endpoints,
    #[command(flatten)]
    pub shape: Shape,
    #[command(flatten)]
    pub durations: Durations,
    #[command(flatten)]
    pub void_above: VoidAbove,
}

/// The server.
#[derive(Clone, Debug, clap::Args)]
pub struct Endpoints {
    /// The server: ws://HOST:PORT, and where needed a prefix of all paths
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// The server of publishers, where it is another
    #[arg(long, value_name = "URL")]
    pub publishers_url: Option<String>,
    /// The paths of a topic: /in/NAME for its publisher and /out/NAME for its readers, or /NAME for all of them
    #[arg(long, value_enum, default_value_t = Paths::InOut)]
    pub paths: Paths,
    /// The first part of the names of topics
    #[arg(long, default_value = "load")]
    pub name: String,
    /// A header to add to each handshake, such as "Authorization: Bearer ..."; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Processes of the server, separated by commas, whose processor time and memory to report
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pub pids: Vec<u32>,
}

/// How many clients there are, and what they send.
#[derive(Clone, Copy, Debug, Serialize, clap::Args)]
pub struct Shape {
    /// How many topics, each with one publisher
    #[arg(long, default_value_t = 1)]
    pub topics: usize,
    /// How many readers of each topic
    #[arg(long, default_value_t = 1)]
    pub readers: usize,
    /// The size of a message in bytes, at least 32
    #[arg(long, default_value_t = 4583)]
    pub bytes: usize,
    /// Messages per second of each publisher; 0: as many as the window allows
    #[arg(long, default_value_t = 30.0)]
    pub rate: f64,
    /// With --rate 0: how many messages of a topic are in flight at most
    #[arg(long, default_value_t = 64)]
    pub window: u64,
}

/// The paths of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// `/in/NAME` and `/out/NAME`.
    InOut,
    /// `/NAME`.
    Plain,
}

/// How many bytes a publisher keeps at most for a server that accepts no more.
pub const MAX_PENDING_BYTES: usize = 64 << 20;

impl Plan {
    /// Rejects values out of their ranges.
    pub fn check(&self) -> anyhow::Result<()> {
        let Shape { topics, readers, bytes, rate, window } = self.shape;
        ensure!(topics > 0 && readers > 0, "--topics and --readers must be at least 1");
        ensure!(
            bytes >= HEADER_BYTES,
            "--bytes must be at least {HEADER_BYTES}: a message carries its hash, sequence number and time"
        );
        ensure!(bytes <= MAX_PENDING_BYTES, "--bytes must be at most {MAX_PENDING_BYTES}");
        ensure!(rate >= 0.0 && rate.is_finite(), "--rate must be 0 or more");
        ensure!(rate > 0.0 || window > 0, "--window must be at least 1");
        self.durations.check()
    }
}

impl Endpoints {
    /// The paths of a topic's publisher and of its readers. `run` keeps the topics of several runs apart.
    pub fn paths(&self, run: u64, topic: usize) -> (String, String) {
        let name = format!("{}/{run:x}-{topic}", self.name);
        match self.paths {
            Paths::InOut => (format!("/in/{name}"), format!("/out/{name}")),
            Paths::Plain => (format!("/{name}"), format!("/{name}")),
        }
    }
}

impl Shape {
    /// Whether each message is sent as soon as the window allows, and not at a fixed rate.
    pub fn is_closed_loop(&self) -> bool {
        self.rate == 0.0
    }

    /// How many messages of a publisher are due after this time. The first messages of all publishers are spread evenly over one
    /// interval.
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
    fn publishers_keep_their_rate_and_are_spread_over_an_interval() {
        let shape = Shape { topics: 4, readers: 1, bytes: 100, rate: 10.0, window: 1 };
        let due = |ms| (0..4).map(|topic| shape.due(topic, Duration::from_millis(ms))).collect::<Vec<_>>();
        assert_eq!(due(0), [1, 0, 0, 0]);
        assert_eq!(due(26), [1, 1, 0, 0]);
        assert_eq!(due(99), [1, 1, 1, 1]);
        assert_eq!(due(1001), [11, 10, 10, 10]);
    }
}
