//! The plan of a load of media: who publishes, who watches whom, at which relay.
use super::source::TestVideo;
use crate::durations::{Durations, VoidAbove};
use anyhow::{Context, ensure};
use clap::ValueEnum;
use parley_cli::CertificateHash;
use serde::Serialize;
use std::path::PathBuf;
use url::Url;

/// What to send, where, and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    pub endpoints: Endpoints,
    #[command(flatten)]
    pub shape: Shape,
    #[command(flatten)]
    pub content: Content,
    #[command(flatten)]
    pub durations: Durations,
    #[command(flatten)]
    pub void_above: VoidAbove,
}

/// The relays.
#[derive(Clone, Debug, clap::Args)]
pub struct Endpoints {
    /// A relay: `https://HOST:PORT/?jwt=TOKEN`; repeatable: publishers and watchers are spread over all of them. `#NAMESPACE` after it: clients reach it
    /// from that network namespace
    #[arg(long = "relay", value_name = "URL", required = true)]
    pub relays: Vec<Url>,
    /// The relay of publishers, where it is another; repeatable
    #[arg(long = "publishers-relay", value_name = "URL")]
    pub publishers_relays: Vec<Url>,
    /// SHA-256 of a relay's certificate, base64 or hex, where no public CA signed it; repeatable
    #[arg(long = "hash", value_name = "HASH")]
    pub hashes: Vec<CertificateHash>,
    /// The first part of the names of broadcasts
    #[arg(long, default_value = "load")]
    pub name: String,
    /// Processes of the relays, separated by commas, whose processor time and memory to report
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pub pids: Vec<u32>,
}

/// How many clients publish and watch.
#[derive(Clone, Copy, Debug, Serialize, clap::Args)]
pub struct Shape {
    /// How many publishers, each with one broadcast
    #[arg(long, default_value_t = 1)]
    pub publishers: usize,
    /// How many watchers
    #[arg(long, default_value_t = 1)]
    pub watchers: usize,
    /// What a watcher watches
    #[arg(long, value_enum, default_value_t = Watch::All)]
    pub watch: Watch,
    /// How many watchers of a hundred are slow: they read ten frames a second, and what they miss is reported for itself
    #[arg(long, default_value_t = 0, value_name = "PERCENT")]
    pub slow: usize,
    /// Instead: how many participants who each publish one broadcast and watch all others
    #[arg(long, value_name = "PARTICIPANTS", conflicts_with_all = ["publishers", "watchers", "watch", "slow"])]
    pub room: Option<usize>,
}

/// What a watcher watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// Every publisher.
    All,
    /// One publisher; the watchers are spread evenly over the publishers.
    One,
}

/// The height of a test video with `--bitrate`, in pixels.
const HEIGHT: u32 = 360;

/// What is sent.
#[derive(Clone, Debug, clap::Args)]
pub struct Content {
    /// A video file that ffmpeg can read, sent without transcoding [a test video of 1 Mbit/s at 30 frames per second]
    #[arg(long, value_name = "VIDEO", conflicts_with = "audio")]
    pub file: Option<PathBuf>,
    /// Instead: a test video of this bit rate in kbit/s, 640 by 360
    #[arg(long, value_name = "KBIT", conflicts_with_all = ["file", "audio"])]
    pub bitrate: Option<u32>,
    /// The frames per second of that video
    #[arg(long, default_value_t = 15, requires = "bitrate")]
    pub fps: u32,
    /// Instead: audio, 50 frames per second of 80 to 160 bytes, in groups of a second
    #[arg(long)]
    pub audio: bool,
    /// How much older than the newest group a group may become before its rest is skipped
    #[arg(long, default_value_t = 1000, value_name = "MS")]
    pub max_age: u64,
    /// The longest pause between two frames that is no freeze
    #[arg(long, default_value_t = 500, value_name = "MS")]
    pub freeze: u64,
}

/// One session with a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The relay.
    pub relay: Url,
    /// The broadcast it publishes.
    pub publishes: Option<usize>,
    /// The broadcasts it watches.
    pub watches: Vec<usize>,
    /// Whether it reads late.
    pub slow: bool,
}

impl Plan {
    /// Rejects values out of their ranges.
    pub fn check(&self) -> anyhow::Result<()> {
        let Shape { publishers, watchers, room, slow, .. } = self.shape;
        ensure!(publishers > 0 && watchers > 0, "--publishers and --watchers must be at least 1");
        ensure!(slow < 100, "--slow must be 0 to 99 watchers of a hundred");
        ensure!(room.is_none_or(|participants| participants > 1), "--room must be at least 2");
        let Content { bitrate, fps, .. } = self.content;
        ensure!(bitrate.is_none_or(|kbit| (20..=10_000).contains(&kbit)), "--bitrate must be 20 to 10000 kbit/s");
        ensure!((1..=60).contains(&fps), "--fps must be 1 to 60");
        self.durations.check()?;
        for url in self.endpoints.relays.iter().chain(&self.endpoints.publishers_relays) {
            ensure!(url.scheme() == "https", "{} is not https://HOST:PORT/", without_token(url));
            url.host().with_context(|| format!("{} has no host", without_token(url)))?;
        }
        Ok(())
    }

    /// The roles of all clients: first the publishers in the order of their broadcasts, then the watchers; or the participants of the room.
    pub fn roles(&self) -> Vec<Role> {
        let Endpoints { relays, publishers_relays, .. } = &self.endpoints;
        let of = |all: &[Url], index: usize| all[index % all.len()].clone();
        if let Some(participants) = self.shape.room {
            let others = |own: usize| (0..participants).filter(|other| *other != own).collect();
            let participant =
                |own| Role { relay: of(relays, own), publishes: Some(own), watches: others(own), slow: false };
            return (0..participants).map(participant).collect();
        }
        let publishers_at = if publishers_relays.is_empty() { relays } else { publishers_relays };
        let publisher =
            |own| Role { relay: of(publishers_at, own), publishes: Some(own), watches: Vec::new(), slow: false };
        let watched = |own| match self.shape.watch {
            Watch::All => (0..self.shape.publishers).collect(),
            Watch::One => vec![own % self.shape.publishers],
        };
        // Spread evenly over the watchers.
        let is_slow = |own: usize| (own + 1) * self.shape.slow / 100 > own * self.shape.slow / 100;
        let watcher = |own| Role { relay: of(relays, own), publishes: None, watches: watched(own), slow: is_slow(own) };
        (0..self.shape.publishers).map(publisher).chain((0..self.shape.watchers).map(watcher)).collect()
    }
}

impl Content {
    /// The test video with `--bitrate`.
    pub fn test_video(&self) -> Option<TestVideo> {
        self.bitrate.map(|kbit| TestVideo { height: HEIGHT, fps: self.fps, kbit })
    }
}

impl Shape {
    /// How many broadcasts are published.
    pub fn broadcasts(&self) -> usize {
        self.room.unwrap_or(self.publishers)
    }
}

/// A URL without its query, which contains the token, and without its fragment, which is its place.
pub fn without_token(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// The network namespace from which clients reach the relay; empty: that of this process.
pub fn place_of(relay: &Url) -> &str {
    relay.fragment().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        plan: Plan,
    }

    fn plan(line: &str) -> Plan {
        Line::parse_from(format!("load --relay https://a/ {line}").split(' ').filter(|argument| !argument.is_empty()))
            .plan
    }

    fn table(plan: &Plan) -> Vec<String> {
        let row = |role: Role| format!("{} {:?} {:?}", role.relay.host_str().unwrap(), role.publishes, role.watches);
        plan.roles().into_iter().map(row).collect()
    }

    #[test]
    fn watchers_watch_all_publishers_or_are_spread_over_them() {
        assert_eq!(
            table(&plan("--publishers 2 --watchers 2")),
            ["a Some(0) []", "a Some(1) []", "a None [0, 1]", "a None [0, 1]"]
        );
        assert_eq!(
            table(&plan("--publishers 2 --watchers 3 --watch one"))[2..],
            ["a None [0]", "a None [1]", "a None [0]"]
        );
    }

    #[test]
    fn slow_watchers_are_spread_over_all() {
        let roles = plan("--watchers 8 --slow 25").roles();
        let slow: Vec<_> = roles.iter().enumerate().filter(|(_, role)| role.slow).map(|(at, _)| at).collect();
        assert_eq!(slow, [4, 8]);
        assert!(plan("--watchers 8").roles().iter().all(|role| !role.slow));
    }

    #[test]
    fn participants_of_a_room_watch_all_others() {
        assert_eq!(table(&plan("--room 3")), ["a Some(0) [1, 2]", "a Some(1) [0, 2]", "a Some(2) [0, 1]"]);
    }

    #[test]
    fn clients_are_spread_over_relays_and_publishers_may_use_another() {
        assert_eq!(table(&plan("--relay https://b/ --watchers 2")), ["a Some(0) []", "a None [0]", "b None [0]"]);
        assert_eq!(table(&plan("--publishers-relay https://c/")), ["c Some(0) []", "a None [0]"]);
    }

    #[test]
    fn values_out_of_range_are_rejected_without_showing_a_token() {
        for (line, sentence) in [
            ("--publishers 0", "--publishers and --watchers must be at least 1"),
            ("--slow 100", "--slow must be 0 to 99 watchers of a hundred"),
            ("--room 1", "--room must be at least 2"),
            ("--bitrate 10", "--bitrate must be 20 to 10000 kbit/s"),
            ("--bitrate 300 --fps 0", "--fps must be 1 to 60"),
            ("--seconds 0", "--seconds must be at least 0.1"),
            ("--relay http://x/?jwt=secret#there", "http://x/ is not https://HOST:PORT/"),
        ] {
            assert_eq!(plan(line).check().unwrap_err().to_string(), sentence);
        }
    }
}
