//! What a load of media is: who publishes, who watches whom, where.
use anyhow::{Context, ensure};
use clap::ValueEnum;
use parley_cli::media::dial::Hash;
use serde::Serialize;
use std::path::PathBuf;
use url::Url;

/// A load: what, where and for how long.
#[derive(Clone, Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub shape: Shape,
    #[command(flatten)]
    pub content: Content,
    #[command(flatten)]
    pub times: Times,
    /// A generator that used more of its processor may itself have been what was slow: the measurement is void
    #[arg(long, default_value_t = crate::streams::plan::VOID_ABOVE, value_name = "SHARE")]
    pub void_above: f64,
}

/// The relays.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    /// A relay: `https://HOST:PORT/?jwt=TOKEN`. Given again: publishers, and watchers, take turns
    #[arg(long = "relay", value_name = "URL", required = true)]
    pub relays: Vec<Url>,
    /// Where publishers are, if elsewhere; may be given again
    #[arg(long = "publishers-relay", value_name = "URL")]
    pub publishers_relays: Vec<Url>,
    /// SHA-256 of a relay's certificate, base64 or hex, where no public CA signed it; may be given again
    #[arg(long = "hash", value_name = "HASH")]
    pub hashes: Vec<Hash>,
    /// What the names of broadcasts begin with
    #[arg(long, default_value = "load")]
    pub name: String,
    /// Processes of the relays, by commas, for their processor time and memory
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pub pids: Vec<u32>,
}

/// Who sends to how many.
#[derive(Clone, Copy, Debug, Serialize, clap::Args)]
pub struct Shape {
    /// Publishers, each with one broadcast
    #[arg(long, default_value_t = 1)]
    pub publishers: usize,
    /// Watchers
    #[arg(long, default_value_t = 1)]
    pub watchers: usize,
    /// What a watcher watches
    #[arg(long, value_enum, default_value_t = Watch::All)]
    pub watch: Watch,
    /// Instead: so many people who each publish one broadcast and watch all others
    #[arg(long, value_name = "PEOPLE", conflicts_with_all = ["publishers", "watchers", "watch"])]
    pub room: Option<usize>,
}

/// What a watcher watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// Every publisher.
    All,
    /// One publisher, who has as many watchers as any other.
    One,
}

/// What is sent.
#[derive(Clone, Debug, clap::Args)]
pub struct Content {
    /// A video that ffmpeg can read, sent as it is; without it, a test picture of 1 Mbit/s at 30 frames a second
    #[arg(long, value_name = "VIDEO", conflicts_with = "audio")]
    pub file: Option<PathBuf>,
    /// Audio instead: 50 frames a second of 80 to 160 bytes, in groups of a second
    #[arg(long)]
    pub audio: bool,
    /// How much older than the newest group one may get before its rest is skipped
    #[arg(long, default_value_t = 1000, value_name = "MS")]
    pub max_age: u64,
    /// A pause between two frames that is longer is a freeze
    #[arg(long, default_value_t = 500, value_name = "MS")]
    pub freeze: u64,
}

/// In seconds.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Times {
    /// How long to measure
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// How long to send before that, once everybody watches
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub warm_up: f64,
    /// How long to wait afterwards for what is still on its way
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    pub drain: f64,
}

/// One session with a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Where.
    pub relay: Url,
    /// The broadcast it publishes.
    pub publishes: Option<usize>,
    /// The broadcasts it watches.
    pub watches: Vec<usize>,
}

impl Plan {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> anyhow::Result<()> {
        let Shape { publishers, watchers, room, .. } = self.shape;
        ensure!(publishers > 0 && watchers > 0, "--publishers and --watchers must be at least 1");
        ensure!(room.is_none_or(|people| people > 1), "--room must be at least 2");
        let Times { seconds, warm_up, drain } = self.times;
        for (flag, time) in [("seconds", seconds), ("warm-up", warm_up), ("drain", drain)] {
            ensure!((0.0..=86_400.0).contains(&time), "--{flag} must be 0 to 86400");
        }
        ensure!(seconds >= 0.1, "--seconds must be at least 0.1");
        for url in self.place.relays.iter().chain(&self.place.publishers_relays) {
            ensure!(url.scheme() == "https", "{} is not https://HOST:PORT/", shown(url));
            url.host().with_context(|| format!("{} has no host", shown(url)))?;
        }
        Ok(())
    }

    /// Everybody: first the publishers, broadcast by broadcast, then the watchers; or the people of the room.
    pub fn roles(&self) -> Vec<Role> {
        let Place { relays, publishers_relays, .. } = &self.place;
        let of = |all: &[Url], index: usize| all[index % all.len()].clone();
        if let Some(people) = self.shape.room {
            let others = |own: usize| (0..people).filter(|other| *other != own).collect();
            let person = |own| Role { relay: of(relays, own), publishes: Some(own), watches: others(own) };
            return (0..people).map(person).collect();
        }
        let publishers_at = if publishers_relays.is_empty() { relays } else { publishers_relays };
        let publisher = |own| Role { relay: of(publishers_at, own), publishes: Some(own), watches: Vec::new() };
        let watched = |own| match self.shape.watch {
            Watch::All => (0..self.shape.publishers).collect(),
            Watch::One => vec![own % self.shape.publishers],
        };
        let watcher = |own| Role { relay: of(relays, own), publishes: None, watches: watched(own) };
        (0..self.shape.publishers).map(publisher).chain((0..self.shape.watchers).map(watcher)).collect()
    }
}

impl Shape {
    /// How many broadcasts there are.
    pub fn broadcasts(&self) -> usize {
        self.room.unwrap_or(self.publishers)
    }
}

/// An address without its token.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.into()
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
        Line::parse_from(format!("load --relay https://a/ {line}").split(' ').filter(|word| !word.is_empty())).plan
    }

    fn table(plan: &Plan) -> Vec<String> {
        let one = |role: Role| format!("{} {:?} {:?}", role.relay.host_str().unwrap(), role.publishes, role.watches);
        plan.roles().into_iter().map(one).collect()
    }

    #[test]
    fn watchers_watch_all_or_take_turns() {
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
    fn people_of_a_room_watch_all_others() {
        assert_eq!(table(&plan("--room 3")), ["a Some(0) [1, 2]", "a Some(1) [0, 2]", "a Some(2) [0, 1]"]);
    }

    #[test]
    fn several_relays_take_turns_and_publishers_may_be_elsewhere() {
        assert_eq!(table(&plan("--relay https://b/ --watchers 2")), ["a Some(0) []", "a None [0]", "b None [0]"]);
        assert_eq!(table(&plan("--publishers-relay https://c/")), ["c Some(0) []", "a None [0]"]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_and_no_token_is_told() {
        for (line, sentence) in [
            ("--publishers 0", "--publishers and --watchers must be at least 1"),
            ("--room 1", "--room must be at least 2"),
            ("--seconds 0", "--seconds must be at least 0.1"),
            ("--relay http://x/?jwt=secret", "http://x/ is not https://HOST:PORT/"),
        ] {
            assert_eq!(plan(line).check().unwrap_err().to_string(), sentence);
        }
    }
}
