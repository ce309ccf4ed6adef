//! How many people there are, what they send, whom they see and hear.
use crate::media::source::{Picture, Voice};
use anyhow::ensure;
use parley_cli::media::place::Room;
use parley_cli::reach::Reach;
use serde::Serialize;

/// Packets of a voice: 25 a second, as browsers of Parley send them.
pub const VOICE: Voice = Voice { pace: 40, bytes: 160 };
const HEIGHT: u32 = 360;

/// A load: where, how many, what, and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    /// https://HOST/r/ROOM
    #[arg(value_name = "WHERE")]
    pub room: Room,
    #[command(flatten)]
    pub shape: Shape,
    /// How long to measure
    #[arg(long = "for", default_value_t = 10.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// How long to send before that, once everybody is there
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub warm_up: f64,
    /// How long to wait afterwards for what is still on its way
    #[arg(long, default_value_t = 3.0, value_name = "SECONDS")]
    pub drain: f64,
    /// How much older than the newest group one may get before its rest is skipped
    #[arg(long, default_value_t = 1000, value_name = "MS")]
    pub max_age: u64,
    /// A tile without a frame for longer is frozen
    #[arg(long, default_value_t = 500, value_name = "MS")]
    pub freeze: u64,
    /// A generator that used more of its processor may itself have been what was slow: the measurement is void
    #[arg(long, default_value_t = crate::streams::plan::VOID_ABOVE, value_name = "SHARE")]
    pub void_above: f64,
    #[command(flatten)]
    pub reach: Reach,
}

/// Who sends what to whom.
#[derive(Clone, Copy, Debug, Serialize, clap::Args)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// People, each with a picture
    #[arg(long, default_value_t = 5)]
    pub participants: usize,
    /// Of a picture, in kbit/s
    #[arg(long, default_value_t = 300, value_name = "KBIT")]
    pub bitrate: u32,
    /// Frames a second of a picture
    #[arg(long, default_value_t = 15)]
    pub fps: u32,
    /// Those who speak all the time, 25 packets a second; everybody hears them, and nothing of the others
    #[arg(long, default_value_t = 3, value_name = "PEOPLE")]
    pub speakers: usize,
    /// Most pictures that each sees: of those who came next
    #[arg(long, default_value_t = 16, value_name = "PICTURES")]
    pub tiles: usize,
}

impl Plan {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> anyhow::Result<()> {
        let Shape { participants, bitrate, fps, speakers, tiles, .. } = self.shape;
        ensure!((2..=1000).contains(&participants), "--participants must be 2 to 1000");
        ensure!((20..=10_000).contains(&bitrate), "--bitrate must be 20 to 10000 kbit/s");
        ensure!((1..=60).contains(&fps), "--fps must be 1 to 60");
        ensure!(speakers <= participants, "--speakers must be at most --participants");
        ensure!(tiles > 0, "--tiles must be at least 1");
        for (flag, time) in [("for", self.seconds), ("warm-up", self.warm_up), ("drain", self.drain)] {
            ensure!((0.0..=86_400.0).contains(&time), "--{flag} must be 0 to 86400");
        }
        ensure!(self.seconds >= 0.1, "--for must be at least 0.1");
        Ok(())
    }
}

impl Shape {
    /// What each sends.
    pub fn picture(&self) -> Picture {
        Picture { height: HEIGHT, fps: self.fps, kbit: self.bitrate }
    }

    /// Whose pictures one sees, by their places: of those who came next, from the last on those who came first.
    pub fn seen(&self, own: usize) -> Vec<usize> {
        let shown = self.tiles.min(self.participants - 1);
        (1..=shown).map(|step| (own + step) % self.participants).collect()
    }

    /// Whose voices one hears.
    pub fn heard(&self, own: usize) -> Vec<usize> {
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
        Line::parse_from(format!("load http://h/r/x {line}").split(' ').filter(|word| !word.is_empty())).plan
    }

    #[test]
    fn each_sees_those_who_came_next_and_hears_whoever_speaks() {
        let shape = plan("--participants 5 --tiles 3 --speakers 2").shape;
        assert_eq!((shape.seen(0), shape.seen(3)), (vec![1, 2, 3], vec![4, 0, 1]));
        assert_eq!((shape.heard(0), shape.heard(4)), (vec![1], vec![0, 1]));
        assert_eq!(plan("--participants 3").shape.seen(1), [2, 0]);
        for tile in 0..5 {
            assert_eq!((0..5).filter(|own| shape.seen(*own).contains(&tile)).count(), 3, "all are seen equally often");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
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
