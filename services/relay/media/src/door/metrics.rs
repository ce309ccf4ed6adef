//! Prometheus' text (MED-60).
use moq_net::{session, stats};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use crate::door::Refusal;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Client,
    Link,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Client, Self::Link];

    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Link => "link",
        }
    }
}

/// Counts what one session carries. Each has its own, so that nothing of a broadcast is left when the session is gone.
pub(crate) struct Meter(stats::Registry);

impl Meter {
    pub fn new() -> Self {
        Self(stats::Registry::new(stats::Config::new()))
    }

    /// What the session reports to.
    pub fn session(&self) -> stats::Session {
        self.0.tier(stats::Tier::default()).session("")
    }

    /// Forgets broadcasts that are over, but not what they carried.
    pub fn prune(&self) {
        self.0.report(&mut stats::Report::default());
    }

    pub fn read(&self, network: session::Stats) -> Traffic {
        let mut traffic = Traffic::packets(network);
        for (_, role, counted) in self.0.snapshot().traffic() {
            let (bytes, groups) = match role {
                stats::Role::Subscriber => {
                    traffic.broadcasts += counted.announces_started - counted.announces_ended;
                    (&mut traffic.bytes_in, &mut traffic.groups_in)
                }
                stats::Role::Publisher => {
                    traffic.subscriptions += counted.active_subscriptions();
                    (&mut traffic.bytes_out, &mut traffic.groups_out)
                }
            };
            *bytes += counted.bytes;
            *groups += counted.groups;
        }
        traffic
    }
}

/// What was carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Announced by the other end now.
    pub broadcasts: u64,
    /// Tracks that the other end watches now.
    pub subscriptions: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub groups_in: u64,
    pub groups_out: u64,
    /// On the wire, headers and all; over QUIC.
    pub wire_in: u64,
    pub wire_out: u64,
    /// Packets sent, and those that were lost.
    pub sent: u64,
    pub lost: u64,
}

impl Traffic {
    pub fn packets(network: session::Stats) -> Self {
        Self {
            wire_in: network.bytes_received.unwrap_or_default(),
            wire_out: network.bytes_sent.unwrap_or_default(),
            sent: network.packets_sent.unwrap_or_default(),
            lost: network.packets_lost.unwrap_or_default(),
            ..Self::default()
        }
    }

    pub fn add(&mut self, other: Self) {
        self.broadcasts += other.broadcasts;
        self.subscriptions += other.subscriptions;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.groups_in += other.groups_in;
        self.groups_out += other.groups_out;
        self.wire_in += other.wire_in;
        self.wire_out += other.wire_out;
        self.sent += other.sent;
        self.lost += other.lost;
    }

    /// What remains of it when its session is gone.
    pub fn over(self) -> Self {
        Self { broadcasts: 0, subscriptions: 0, ..self }
    }
}

/// All there is to say.
#[derive(Default)]
pub(crate) struct Report {
    pub sessions: BTreeMap<(&'static str, &'static str), u64>,
    pub refused: BTreeMap<Refusal, u64>,
    pub ended: BTreeMap<(Kind, Refusal), u64>,
    pub clients: Traffic,
    pub links: Traffic,
    pub client_rtts: Vec<Duration>,
    pub cache_bytes: u64,
    pub peers: Vec<Peer>,
    pub draining: bool,
}

/// A link that is dialled.
pub(crate) struct Peer {
    pub name: String,
    /// While it is up: none where it is not known yet.
    pub up: Option<Option<Duration>>,
}

impl Report {
    pub fn traffic(&mut self, kind: Kind) -> &mut Traffic {
        match kind {
            Kind::Client => &mut self.clients,
            Kind::Link => &mut self.links,
        }
    }

    pub fn text(&self) -> String {
        let mut out = Text(String::with_capacity(4096));
        out.head("sessions", "gauge", "Open sessions");
        for ((kind, transport), count) in &self.sessions {
            out.line("sessions", &[("kind", kind), ("transport", transport)], count);
        }
        out.head("refusals_total", "counter", "Refused sessions");
        for (code, count) in &self.refused {
            out.line("refusals_total", &[("code", code)], count);
        }
        out.head("sessions_ended_total", "counter", "Ended sessions");
        for ((kind, code), count) in &self.ended {
            out.line("sessions_ended_total", &[("kind", kind.name()), ("code", code)], count);
        }
        self.traffic_text(&mut out);
        out.head("cache_bytes", "gauge", "Bytes of cached media");
        out.line("cache_bytes", &[], self.cache_bytes);
        out.head("draining", "gauge", "1 while the relay drains");
        out.line("draining", &[], u8::from(self.draining));
        self.links_text(&mut out);
        let longest = self.client_rtts.iter().max().copied().unwrap_or_default();
        let mean = self.client_rtts.iter().sum::<Duration>().as_secs_f64() / self.client_rtts.len().max(1) as f64;
        out.head("client_rtt_seconds", "gauge", "Round-trip times to clients over QUIC");
        out.line("client_rtt_seconds", &[("stat", "mean")], mean);
        out.line("client_rtt_seconds", &[("stat", "max")], longest.as_secs_f64());
        out.0
    }

    fn traffic_text(&self, out: &mut Text) {
        type Value = fn(&Traffic) -> u64;
        let both = [(Kind::Client, &self.clients), (Kind::Link, &self.links)];
        let gauges: [(&str, &str, Value); 2] = [
            ("broadcasts", "Broadcasts that are announced to this relay", |traffic| traffic.broadcasts),
            ("subscriptions", "Subscriptions to tracks of this relay", |traffic| traffic.subscriptions),
        ];
        for (name, help, value) in gauges {
            out.head(name, "gauge", help);
            for (kind, traffic) in both {
                out.line(name, &[("kind", kind.name())], value(traffic));
            }
        }
        let ways: [(&str, &str, &str, Value); 6] = [
            ("bytes_total", "Payload of media", "in", |traffic| traffic.bytes_in),
            ("bytes_total", "", "out", |traffic| traffic.bytes_out),
            ("groups_total", "Groups of frames", "in", |traffic| traffic.groups_in),
            ("groups_total", "", "out", |traffic| traffic.groups_out),
            ("wire_bytes_total", "Bytes over QUIC, with headers", "in", |traffic| traffic.wire_in),
            ("wire_bytes_total", "", "out", |traffic| traffic.wire_out),
        ];
        for (name, help, direction, value) in ways {
            if !help.is_empty() {
                out.head(name, "counter", help);
            }
            for (kind, traffic) in both {
                out.line(name, &[("kind", kind.name()), ("direction", direction)], value(traffic));
            }
        }
        let packets: [(&str, &str, Value); 2] = [
            ("packets_sent_total", "QUIC packets sent", |traffic| traffic.sent),
            ("packets_lost_total", "QUIC packets lost", |traffic| traffic.lost),
        ];
        for (name, help, value) in packets {
            out.head(name, "counter", help);
            for (kind, traffic) in both {
                out.line(name, &[("kind", kind.name())], value(traffic));
            }
        }
    }

    fn links_text(&self, out: &mut Text) {
        out.head("links_desired", "gauge", "Relays to which this relay keeps a link");
        out.line("links_desired", &[], self.peers.len());
        out.head("links_up", "gauge", "Links to relays that are up");
        out.line("links_up", &[], self.peers.iter().filter(|peer| peer.up.is_some()).count());
        out.head("link_rtt_seconds", "gauge", "Round-trip time of a link to a relay");
        for peer in &self.peers {
            if let Some(Some(rtt)) = peer.up {
                out.line("link_rtt_seconds", &[("peer", &peer.name)], rtt.as_secs_f64());
            }
        }
    }
}

struct Text(String);

impl Text {
    fn head(&mut self, name: &str, form: &str, help: &str) {
        let _ = write!(self.0, "# HELP parley_media_{name} {help}\n# TYPE parley_media_{name} {form}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "parley_media_{name}{labels} {value}");
    }
}
