//! `parley size`: what an installation of one region needs, computed from published figures. It asks no server.
mod figures;

use crate::exit::Exit;
use figures::{Cost, EDGE, NATS, READER, ROOMS, SIGNALING, STEADY, WATCHER};
use serde::Serialize;
use std::process::ExitCode;

/// What is expected at the busiest time.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// People in calls at the same time
    #[arg(long, value_name = "N", default_value_t = 1000)]
    people: u32,
    /// People in a room; from five on, rooms go through relays
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    room: u32,
    /// Seconds within which all of them come
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    arrive: u32,
    /// Share of the people in small rooms whose media needs TURN
    #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100))]
    turn: u32,
    /// Viewers of live video
    #[arg(long, value_name = "N", default_value_t = 0)]
    viewers: u32,
    /// Readers of streams
    #[arg(long, value_name = "N", default_value_t = 0)]
    readers: u32,
    /// Bits of a live video, or of a stream, in kbit/s
    #[arg(long, value_name = "KBIT", default_value_t = 1000)]
    rate: u32,
    /// How many times what was measured to plan for
    #[arg(long, value_name = "FACTOR", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=10))]
    headroom: u32,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What a part of the installation needs.
#[derive(Debug, Serialize)]
struct Need {
    part: &'static str,
    pods: u32,
    /// Of all pods, with headroom; absent where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<f64>,
    /// Of all pods, with headroom, without that of an idle process.
    #[serde(skip_serializing_if = "Option::is_none")]
    gb: Option<f64>,
    /// To and from the part, without headroom.
    #[serde(skip_serializing_if = "Option::is_none")]
    mbit: Option<f64>,
    because: String,
}

/// Rooms of this many people are meshes (`mesh.participants`).
const MESH: u32 = 4;
/// What a pod is planned for: docs/operations/scale.md.
const PEOPLE_PER_POD: u32 = 2000;
const CONNECTIONS_PER_EDGE: u32 = 7500;
const READERS_PER_RELAY: u32 = 4000;
const SESSIONS_PER_RELAY: u32 = 500;
const LEAST_PODS: u32 = 2;
const NATS_SERVERS: u32 = 3;
/// What a browser sends of its camera and voice to each of one, two or three others, in kbit/s at most: `budgetFor` of the SDK, and 50 for a voice.
const CALL_KBIT: [f64; MESH as usize] = [0.0, 1750.0, 950.0, 550.0];

impl Flags {
    /// Prints the sizes.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let needs = self.needs();
        if self.json {
            println!("{}", serde_json::to_string_pretty(&needs)?);
        } else {
            print(&needs);
            eprintln!(
                "{} times what was measured on cores of a shared AMD EPYC. Measure yours: make herd.",
                self.headroom
            );
        }
        Ok(Exit::Done.into())
    }

    fn needs(&self) -> [Need; 5] {
        let people = f64::from(self.people);
        let joins = people / f64::from(self.arrive);
        let connections = self.people.saturating_add(self.readers);
        let with_people = |cost: &Cost, steady: f64| {
            let cores = joins * cost.join_ms / 1000.0 + people * steady;
            (Some(self.planned(cores)), Some(self.planned(people * cost.person_kb / 1e6)))
        };
        let because = |cost: &Cost| {
            format!("{joins:.1} joins a second, {} ms each; {} KB a person", cost.join_ms, cost.person_kb)
        };
        let need = |part, pods, cost: &Cost, steady| {
            let (cores, gb) = with_people(cost, steady);
            Need { part, pods, cores, gb, mbit: None, because: because(cost) }
        };
        [
            self.signaling(need("signaling", pods(self.people, PEOPLE_PER_POD), &SIGNALING, STEADY.0)),
            self.edge(need("edge", pods(connections, CONNECTIONS_PER_EDGE), &EDGE, STEADY.1)),
            need("NATS", NATS_SERVERS, &NATS, 0.0),
            self.relays(),
            self.turn(),
        ]
    }

    /// A pod uses one core.
    fn signaling(&self, need: Need) -> Need {
        let cores = need.cores.unwrap_or_default();
        let pods = (need.pods..).find(|pods| f64::from(*pods) >= cores).unwrap_or(need.pods);
        Need { pods, ..need }
    }

    /// The bytes of streams go through it, and what they cost there was not measured.
    fn edge(&self, need: Need) -> Need {
        if self.readers == 0 {
            return need;
        }
        let connections = self.planned(f64::from(self.readers) * EDGE.person_kb / 1e6);
        let because = format!("{}; what the bytes of readers cost is not measured", need.because);
        Need { cores: None, gb: need.gb.map(|gb| gb + connections), because, ..need }
    }

    fn relays(&self) -> Need {
        let relayed = if self.room > MESH { self.people } else { 0 };
        let (_, cores_each, mb_each) = room_like(self.room);
        let (watching, reading) = (f64::from(self.viewers), f64::from(self.readers));
        let gb_per_second = f64::from(self.rate) / 8e6;
        let cores =
            f64::from(relayed) * cores_each + watching * gb_per_second * WATCHER.0 + reading * gb_per_second * READER.0;
        let gb = f64::from(relayed) * mb_each / 1e3 + (watching * WATCHER.1 + reading * READER.1) / 1e6;
        let sessions = relayed.saturating_add(self.viewers);
        Need {
            part: "relays",
            pods: pods(sessions, SESSIONS_PER_RELAY).max(pods(self.readers, READERS_PER_RELAY)),
            cores: Some(self.planned(cores)),
            gb: Some(self.planned(gb)),
            // What rooms send depends on how many pictures each sees, and how large.
            mbit: (relayed == 0).then(|| (watching + reading) * f64::from(self.rate) / 1e3),
            because: format!(
                "{relayed} people in rooms through relays, {} viewers, {} readers",
                self.viewers, self.readers
            ),
        }
    }

    /// Its bytes alone are known.
    fn turn(&self) -> Need {
        let others = self.room - 1;
        let kbit = usize::try_from(others).ok().and_then(|others| CALL_KBIT.get(others)).unwrap_or(&0.0);
        let relayed = f64::from(self.people) * f64::from(self.turn) / 100.0;
        // All that comes in goes out.
        let mbit = 2.0 * relayed * f64::from(others) * 2.0 * kbit / 1e3;
        let because =
            format!("{} % of those in small rooms, both ways, at most; processor time not measured", self.turn);
        Need { part: "TURN", pods: LEAST_PODS, cores: None, gb: None, mbit: Some(mbit), because }
    }

    fn planned(&self, measured: f64) -> f64 {
        measured * f64::from(self.headroom)
    }
}

fn pods(clients: u32, each: u32) -> u32 {
    clients.div_ceil(each).max(LEAST_PODS)
}

/// The smallest measured room that is not smaller.
fn room_like(people: u32) -> (u32, f64, f64) {
    let last = ROOMS[ROOMS.len() - 1];
    ROOMS.iter().copied().find(|(measured, ..)| *measured >= people).unwrap_or(last)
}

fn print(needs: &[Need]) {
    let cell = |value: Option<f64>, unit: &str| match value {
        None => "-".to_owned(),
        Some(small) if small > 0.0 && small < 0.05 => format!("<0.1{unit}"),
        Some(value) => format!("{value:.1}{unit}"),
    };
    println!("{:<9} {:>4} {:>6} {:>8} {:>14}  because", "part", "pods", "cores", "memory", "network");
    for Need { part, pods, cores, gb, mbit, because } in needs {
        let (cores, memory, network) = (cell(*cores, ""), cell(*gb, " GB"), cell(*mbit, " Mbit/s"));
        println!("{part:<9} {pods:>4} {cores:>6} {memory:>8} {network:>14}  {because}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn needs(arguments: &[&str]) -> [Need; 5] {
        Line::try_parse_from([&["size"], arguments].concat()).unwrap().flags.needs()
    }

    #[test]
    fn ten_thousand_people_in_small_calls_need_signaling_edge_and_turn() {
        let [signaling, edge, nats, relays, turn] = needs(&["--people=10000", "--headroom=1"]);
        assert_eq!([signaling.pods, edge.pods, nats.pods, relays.pods], [5, 2, 3, 2]);
        // 33.3 joins a second of 4.21 ms, and 10,000 people who send something every 2 s.
        assert!((signaling.cores.unwrap() - 0.278).abs() < 0.001, "{signaling:?}");
        assert!((edge.gb.unwrap() - 0.538).abs() < 0.001, "{edge:?}");
        assert_eq!((relays.cores, relays.gb), (Some(0.0), Some(0.0)));
        assert_eq!((turn.cores, turn.mbit), (None, Some(13_200.0)));
    }

    #[test]
    fn large_rooms_viewers_and_readers_need_relays_and_headroom_is_a_factor() {
        let [.., relays, turn] = needs(&["--people=1000", "--room=20", "--headroom=1"]);
        assert!((relays.cores.unwrap() - 11.9).abs() < 0.1, "{relays:?}");
        assert_eq!((relays.pods, turn.mbit), (2, Some(0.0)));
        let [.., twice, _] = needs(&["--people=1000", "--room=20"]);
        assert_eq!(twice.cores.unwrap(), 2.0 * relays.cores.unwrap());
        let [.., live, _] = needs(&["--people=0", "--viewers=5000", "--readers=9000", "--rate=2000", "--headroom=1"]);
        // 1.25 GB and 2.25 GB a second.
        assert!((live.cores.unwrap() - (1.25 * WATCHER.0 + 2.25 * READER.0)).abs() < 0.1, "{live:?}");
        assert_eq!((live.pods, live.mbit), (10, Some(28_000.0)));
    }

    #[test]
    fn a_herd_needs_a_pod_for_each_core_and_what_was_not_measured_is_not_said() {
        let [signaling, edge, ..] = needs(&["--people=10000", "--arrive=10", "--readers=100"]);
        // 1,000 joins a second take 4.2 cores, planned twice, and the people 0.3.
        assert_eq!((signaling.pods, edge.cores), (9, None));
        assert!(edge.because.ends_with("not measured"), "{edge:?}");
        let [.., relays, _] = needs(&["--room=20"]);
        assert_eq!(relays.mbit, None);
    }

    #[test]
    fn a_room_costs_what_the_next_larger_measured_one_does() {
        assert_eq!([5, 10, 11, 50, 51, 100].map(|people| room_like(people).0), [10, 10, 20, 50, 100, 100]);
        assert!(Line::try_parse_from(["size", "--room=101"]).is_err());
        assert!(Line::try_parse_from(["size", "--arrive=0"]).is_err());
    }
}
