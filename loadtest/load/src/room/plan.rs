//! How many participants there are, what they publish, whom they watch.
use crate::durations::{self, VoidAbove};
use crate::media::source::{TestAudio, TestVideo};
use anyhow::ensure;
use parley_cli::{ConnectOptions, RoomUrl};
use serde::Serialize;

/// The audio of a speaker: 25 packets per second, as Parley's browsers send them.
pub const AUDIO: TestAudio = TestAudio { interval_ms: 40, bytes: 160 };
/// The height of the test video, in pixels.
const HEIGHT: u32 = 360;

/// What to publish, in which room, and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    /// The room: https://HOST/r/ROOM
    #[arg(value_name = "WHERE")]
    pub room: RoomUrl,
    #[command(flatten)]
    pub shape: Shape,
    /// How long to measure
    #[arg(long = "for", default_value_t = 10.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// How long to publish before that, once all participants are connected
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub warm_up: f64,
    /// How long to wait afterwards for frames in flight
    #[arg(long, default_value_t = 3.0, value_name = "SECONDS")]
    pub drain: f64,
    /// How much older than the newest group a group may become before its rest is skipped
    #[arg(long, default_value_t = 1000, value_name = "MS")]
    pub max_age: u64,
    /// The longest pause between two frames that is no freeze
    #[arg(long, default_value_t = 500, value_name = "MS")]
    pub freeze: u64,
    #[command(flatten)]
    pub void_above: VoidAbove,
    #[command(flatten)]
    pub connect: ConnectOptions,
}

/// Who publishes what, and who watches whom.
#[derive(Clone, Copy, Debug, Serialize, clap::Args)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// How many participants, each of whom publishes video
    #[arg(long, default_value_t = 5)]
    pub participants: usize,
    /// The bit rate of video, in kbit/s
    #[arg(long, default_value_t = 300, value_name = "KBIT")]
    pub bitrate: u32,
    /// Frames per second of video
    #[arg(long, default_value_t = 15)]
    pub fps: u32,
    /// How many participants also publish audio, 25 packets per second, which all others subscribe to
    #[arg(long, default_value_t = 3, value_name = "PARTICIPANTS")]
    pub speakers: usize,
    /// How many videos each subscribes to at most: those of the participants that joined next
    #[arg(long, default_value_t = 16, value_name = "VIDEOS")]
    pub tiles: usize,
}

impl Plan {
    /// Rejects values out of their ranges.
    pub fn check(&self) -> anyhow::Result<()> {
        let Shape { participants, bitrate, fps, speakers, tiles, .. } = self.shape;
        ensure!((2..=1000).contains(&participants), "--participants must be 2 to 1000");
        ensure!((20..=10_000).contains(&bitrate), "--bitrate must be 20 to 10000 kbit/s");
        ensure!((1..=60).contains(&fps), "--fps must be 1 to 60");
        ensure!(speakers <= participants, "--speakers must be at most --participants");
        ensure!(tiles > 0, "--tiles must be at least 1");
        durations::check("for", self.seconds, self.warm_up, self.drain)
    }
}

impl Shape {
    /// The video that each participant publishes.
    pub fn video(&self) -> TestVideo {
        TestVideo { height: HEIGHT, fps: self.fps, kbit: self.bitrate }
    }

    /// Whose video a participant watches: those that joined next, and after the last one the first ones.
    pub fn watched_cameras(&self, own: usize) -> Vec<usize> {
        let shown = self.tiles.min(self.participants - 1);
        (1..=shown).map(|step| (own + step) % self.participants).collect()
    }

    /// Whose audio a participant watches.
    pub fn watched_microphones(&self, own: usize) -> Vec<usize> {
        (0..self.speakers).filter(|speaker| *speaker != own).collect()
    }
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
        Line::parse_from(format!("load http://h/r/x {line}").split(' ').filter(|argument| !argument.is_empty())).plan
    }

    #[test]
    fn each_watches_those_that_joined_next_and_all_speakers() {
        let shape = plan("--participants 5 --tiles 3 --speakers 2").shape;
        assert_eq!((shape.watched_cameras(0), shape.watched_cameras(3)), (vec![1, 2, 3], vec![4, 0, 1]));
        assert_eq!((shape.watched_microphones(0), shape.watched_microphones(4)), (vec![1], vec![0, 1]));
        assert_eq!(plan("--participants 3").shape.watched_cameras(1), [2, 0]);
        for tile in 0..5 {
            assert_eq!(
                (0..5).filter(|own| shape.watched_cameras(*own).contains(&tile)).count(),
                3,
                "all are watched equally often"
            );
        }
    }

    #[test]
    fn values_out_of_range_are_rejected() {
        for (line, sentence) in [
            ("--participants 1", "--participants must be 2 to 1000"),
            ("--bitrate 19", "--bitrate must be 20 to 10000 kbit/s"),
            ("--fps 0", "--fps must be 1 to 60"),
            ("--speakers 6", "--speakers must be at most --participants"),
            ("--tiles 0", "--tiles must be at least 1"),
            ("--for 0", "--for must be at least 0.1"),
            ("--warm-up -1", "--warm-up must be 0 to 86400"),
        ] {
            let line = line.replace(" -", "=-");
            assert_eq!(plan(&line).check().unwrap_err().to_string(), sentence);
        }
        assert!(plan("").check().is_ok());
    }
}
