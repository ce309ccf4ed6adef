//! The metrics of media (MED-60).
use moq_net::{Path, session, stats};
use parley_metrics::Families;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::server::Refusal;
use crate::server::fanout::watcher::Counts;

/// The kind of the peer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Client,
    /// A relay of the region.
    Link,
    /// A relay of another region.
    RegionLink,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Client, Self::Link, Self::RegionLink];

    /// Whether the peer is a relay.
    pub fn is_link(self) -> bool {
        self != Self::Client
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Link => "link",
            Self::RegionLink => "region-link",
        }
    }
}

/// Counts the traffic of one session: what MoQ's library does, and what the fan-out sends. Each session has its own, so that counters of broadcasts are
/// freed with the session.
#[derive(Clone)]
pub(crate) struct Meter(stats::Registry, Arc<Counts>);

impl Meter {
    pub fn new() -> Self {
        Self(stats::Registry::new(stats::Config::new()), Arc::default())
    }

    /// Returns the counts that the fan-out updates.
    pub fn counts(&self) -> Arc<Counts> {
        self.1.clone()
    }

    /// Reports whether the peer announces a broadcast, or what it is part of.
    pub fn announces(&self, path: &Path<'_>) -> bool {
        let mut report = stats::Report::default();
        self.0.report(&mut report);
        report.traffic.iter().any(|entry| entry.subscriber.is_announced() && path.has_prefix(&entry.path))
    }

    /// Returns the statistics that the session updates.
    pub fn session(&self) -> stats::Session {
        self.0.tier(stats::Tier::default()).session("")
    }

    /// Removes the counters of ended broadcasts, and keeps the sums.
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
        let Counts { subscriptions, bytes, groups } = &*self.1;
        traffic.subscriptions += subscriptions.load(Ordering::Relaxed);
        traffic.bytes_out += bytes.load(Ordering::Relaxed);
        traffic.groups_out += groups.load(Ordering::Relaxed);
        traffic
    }
}

/// The traffic of a session, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Broadcasts that the peer announces now.
    pub broadcasts: u64,
    /// Subscriptions of the peer to tracks now.
    pub subscriptions: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub groups_in: u64,
    pub groups_out: u64,
    /// Bytes on the wire over QUIC, with headers.
    pub wire_in: u64,
    pub wire_out: u64,
    /// Packets that were sent, and those that were lost.
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

    /// Returns the part that remains when the session ends.
    pub fn over(self) -> Self {
        Self { broadcasts: 0, subscriptions: 0, ..self }
    }
}

/// The values of one scrape.
#[derive(Default)]
pub(crate) struct Report {
    pub sessions: BTreeMap<(&'static str, &'static str), u64>,
    pub refused: BTreeMap<Refusal, u64>,
    pub ended: BTreeMap<(Kind, Refusal), u64>,
    pub traffic: [Traffic; Kind::ALL.len()],
    pub client_rtts: Vec<Duration>,
    pub cache_bytes: u64,
    pub watched_tracks: u64,
    pub peers: Vec<Peer>,
    pub draining: bool,
}

/// A link that this relay dials.
pub(crate) struct Peer {
    pub name: String,
    /// The round-trip time while the link is up: the inner `None` until it is measured.
    pub up: Option<Option<Duration>>,
}

impl Report {
    pub fn traffic(&mut self, kind: Kind) -> &mut Traffic {
        &mut self.traffic[kind as usize]
    }

    /// Adds the metric families `parley_media_…`.
    pub fn collect(&self, out: &mut Families) {
        let sessions = self
            .sessions
            .iter()
            .map(|((kind, transport), count)| ([("kind", *kind), ("transport", *transport)], *count as f64));
        out.gauges("parley_media_sessions", "Open sessions", sessions);
        let refused = self.refused.iter().map(|(code, count)| ([("code", *code)], *count));
        out.counters("parley_media_refusals_total", "Refused sessions", refused);
        let ended = self.ended.iter().map(|((kind, code), count)| ([("kind", kind.name()), ("code", *code)], *count));
        out.counters("parley_media_sessions_ended_total", "Ended sessions", ended);
        self.collect_traffic(out);
        out.gauge("parley_media_watched_tracks", "Tracks that the fan-out reads for watchers", self.watched_tracks);
        out.gauge("parley_media_cache_bytes", "Bytes of cached media", self.cache_bytes);
        out.gauge("parley_media_draining", "1 while the relay drains", u64::from(self.draining));
        self.collect_links(out);
        let max = self.client_rtts.iter().max().copied().unwrap_or_default();
        let mean = self.client_rtts.iter().sum::<Duration>().as_secs_f64() / self.client_rtts.len().max(1) as f64;
        let rtts = [([("stat", "mean")], mean), ([("stat", "max")], max.as_secs_f64())];
        out.gauges("parley_media_client_rtt_seconds", "Round-trip times to clients over QUIC", rtts);
    }

    fn collect_traffic(&self, out: &mut Families) {
        let of_kind = |kind: Kind, of: fn(&Traffic) -> u64| of(&self.traffic[kind as usize]);
        let gauge = |of: fn(&Traffic) -> u64| Kind::ALL.map(|kind| ([("kind", kind.name())], of_kind(kind, of) as f64));
        let counter = |of: fn(&Traffic) -> u64| Kind::ALL.map(|kind| ([("kind", kind.name())], of_kind(kind, of)));
        let directed = |received: fn(&Traffic) -> u64, sent: fn(&Traffic) -> u64| {
            [("in", received), ("out", sent)].into_iter().flat_map(move |(direction, of)| {
                Kind::ALL.map(|kind| ([("kind", kind.name()), ("direction", direction)], of_kind(kind, of)))
            })
        };
        let broadcasts = gauge(|traffic| traffic.broadcasts);
        out.gauges("parley_media_broadcasts", "Broadcasts that are announced to this relay", broadcasts);
        let subscriptions = gauge(|traffic| traffic.subscriptions);
        out.gauges("parley_media_subscriptions", "Subscriptions to tracks of this relay", subscriptions);
        let bytes = directed(|traffic| traffic.bytes_in, |traffic| traffic.bytes_out);
        out.counters("parley_media_bytes_total", "Payload of media", bytes);
        let groups = directed(|traffic| traffic.groups_in, |traffic| traffic.groups_out);
        out.counters("parley_media_groups_total", "Groups of frames", groups);
        let wire_bytes = directed(|traffic| traffic.wire_in, |traffic| traffic.wire_out);
        out.counters("parley_media_wire_bytes_total", "Bytes over QUIC, with headers", wire_bytes);
        let sent = counter(|traffic| traffic.sent);
        out.counters("parley_media_packets_sent_total", "QUIC packets sent", sent);
        let lost = counter(|traffic| traffic.lost);
        out.counters("parley_media_packets_lost_total", "QUIC packets lost", lost);
    }

    fn collect_links(&self, out: &mut Families) {
        let up = self.peers.iter().filter(|peer| peer.up.is_some()).count();
        out.gauge("parley_media_links_desired", "Relays to which this relay keeps a link", self.peers.len() as u64);
        out.gauge("parley_media_links_up", "Links to relays that are up", up as u64);
        let rtts = self.peers.iter().filter_map(|peer| Some(([("peer", &*peer.name)], peer.up??.as_secs_f64())));
        out.gauges("parley_media_link_rtt_seconds", "Round-trip time of a link to a relay", rtts);
    }
}
