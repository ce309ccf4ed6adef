//! Who arrives when, in which room, at which edge.
use super::Flags;
use anyhow::{Context, ensure};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use tokio::time::Instant;

/// The symbols of the id of a room (ROOM-1).
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// An edge that participants reach Parley through.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What clients write into `Host`.
    pub host: String,
    /// Where it listens.
    pub address: SocketAddr,
}

/// The plan of all participants.
#[derive(Debug)]
pub struct Plan {
    /// When the first one arrives.
    pub began: Instant,
    /// When all lose their sockets.
    pub drop_at: Option<Instant>,
    /// When all leave.
    pub leave_at: Instant,
    edges: Vec<Edge>,
    rooms: Vec<String>,
    people: u32,
    arrive: Duration,
}

impl Edge {
    /// Parses `http://HOST:PORT`.
    pub fn parse(url: &str) -> Result<Self, String> {
        let wrong = || format!("{url} is not http://HOST:PORT: a load uses no TLS, as it measures the service");
        let host = url.strip_prefix("http://").ok_or_else(wrong)?.trim_end_matches('/');
        let address = host.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(wrong)?;
        Ok(Self { host: host.to_owned(), address })
    }
}

impl Plan {
    /// Rejects values out of their ranges.
    pub fn new(flags: &Flags, began: Instant) -> anyhow::Result<Self> {
        ensure!(flags.people > 0 && flags.call_size > 0, "--people and --call-size must be at least 1");
        let seconds = [("arrive", Some(flags.arrive)), ("until", Some(flags.until)), ("drop-at", flags.drop_at)];
        for (flag, seconds) in seconds {
            ensure!((0.0..=86_400.0).contains(&seconds.unwrap_or(0.0)), "--{flag} must be 0 to 86400");
        }
        ensure!(flags.arrive < flags.until, "--until must be more than --arrive");
        let rooms = match &flags.room {
            Some(room) => vec![room.clone()],
            None => (0..flags.people.div_ceil(flags.call_size)).map(|_| random_room()).collect(),
        };
        Ok(Self {
            began,
            drop_at: flags.drop_at.map(|at| began + Duration::from_secs_f64(at)),
            leave_at: began + Duration::from_secs_f64(flags.until),
            edges: flags.edges.clone(),
            rooms,
            people: u32::try_from(flags.people).context("--people is too large")?,
            arrive: Duration::from_secs_f64(flags.arrive),
        })
    }

    /// When a participant arrives: evenly, so that a late generator shows.
    pub fn arrival(&self, number: usize) -> Instant {
        self.began + self.arrive * u32::try_from(number).unwrap_or(u32::MAX) / self.people
    }

    /// The edge of a participant: all of a call have the same, and its next call another one.
    pub fn edge(&self, number: usize) -> &Edge {
        &self.edges[self.call(number) % self.edges.len()]
    }

    /// The room of a participant.
    pub fn room(&self, number: usize) -> &str {
        &self.rooms[self.call(number) % self.rooms.len()]
    }

    fn call(&self, number: usize) -> usize {
        match self.rooms.len() {
            1 => number,
            calls => number * calls / self.people as usize,
        }
    }
}

/// An unused room (ROOM-1).
fn random_room() -> String {
    let group = || (0..4).map(|_| char::from(SYMBOLS[fastrand::usize(..32)])).collect::<String>();
    [group(), group(), group(), group()].join("-")
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

    fn plan(line: &str) -> anyhow::Result<Plan> {
        let words = format!("crowd http://127.0.0.1:1 http://127.0.0.1:2 {line}");
        Plan::new(&Line::try_parse_from(words.split_whitespace())?.flags, Instant::now())
    }

    #[test]
    fn a_call_shares_a_room_and_an_edge_and_calls_are_spread_over_edges() {
        let plan = plan("--people 12 --call-size 4 --arrive 6 --until 9").unwrap();
        let rooms: Vec<_> = (0..12).map(|number| plan.room(number)).collect();
        assert!(rooms.chunks(4).all(|call| call.iter().all(|room| *room == call[0])), "{rooms:?}");
        assert!(rooms[0] != rooms[4] && rooms[4] != rooms[8], "{rooms:?}");
        let ports: Vec<_> = (0..12).map(|number| plan.edge(number).address.port()).collect();
        assert_eq!(ports, [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1]);
        assert_eq!(plan.arrival(6) - plan.began, Duration::from_secs(3));
    }

    #[test]
    fn all_may_open_one_room_through_all_edges() {
        let plan = plan("--people 4 --room abcd-efgh-jkmn-pqrs").unwrap();
        assert!((0..4).all(|number| plan.room(number) == "abcd-efgh-jkmn-pqrs"));
        assert_eq!((plan.edge(2).address.port(), plan.edge(3).address.port()), (1, 2));
    }

    #[test]
    fn a_plan_that_cannot_be_kept_is_rejected() {
        let wrong = [
            ("--people 0", "at least 1"),
            ("--arrive 30 --until 30", "more than --arrive"),
            ("--drop-at 1e9", "0 to 86400"),
        ];
        for (line, sentence) in wrong {
            assert!(plan(line).unwrap_err().to_string().contains(sentence), "{line}");
        }
        assert!(Edge::parse("https://127.0.0.1:1").unwrap_err().contains("no TLS"));
    }
}
