//! The result of a load of media.
mod table;

use super::clients::{Client, Clients};
use super::path::Path;
use super::plan::{Plan, Shape, place_of, without_token};
use crate::latency::Latency;
use crate::usage::{GeneratorUsage, ServerUsage};
use crate::window::{Steady, Window};
use hdrhistogram::Histogram;
use moq_tokio::Connection;
use parley_cli::Exit;
use serde::Serialize;
use std::time::Duration;

/// The result of a run, as JSON and as a table. Counts are of the whole run; rates, latency and cost are of the measured window.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    shape: Shape,
    relays: usize,
    audio: bool,
    /// Of one publisher.
    megabits_per_second: f64,
    sent: u64,
    /// Of the watchers that are not slow.
    #[serde(flatten)]
    frames: Frames,
    /// Of the slow ones.
    slow_frames: Option<Frames>,
    /// Sessions and broadcasts that were lost.
    closed: u64,
    /// Every watcher that is not slow received every frame from its first on once, unchanged and in order, and no other frame.
    exact: bool,
    /// The generator was too busy to measure times and costs.
    void: bool,
    /// Ended by Ctrl-C.
    interrupted: bool,
    steady: Steady,
    /// The Unix times of the window.
    began_ms: u128,
    ended_ms: u128,
    latency_ms: Latency,
    /// Of all watchers.
    first_frame_ms: Option<Latency>,
    rtt_ms: Option<Latency>,
    jitter_ms: Latency,
    packets: Packets,
    paths: Vec<Path>,
    generator: GeneratorUsage,
    server: Option<ServerUsage>,
    each: Vec<Watcher>,
}

/// What was measured between the warm-up and the end of publishing.
pub struct Measured {
    /// Its beginning, in Unix milliseconds.
    pub began_ms: u128,
    /// Its end, in Unix milliseconds.
    pub ended_ms: u128,
    /// From making to arrival, in nanoseconds.
    pub latency: Histogram<u64>,
    /// The same by the places of publishers and watchers.
    pub paths: Vec<Path>,
}

/// Frames by the result of their verification.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    expected: u64,
    delivered: u64,
    /// Delivered frames per expected frame.
    ratio: f64,
    missing: u64,
    duplicated: u64,
    out_of_order: u64,
    corrupt: u64,
    extra: u64,
    skipped_groups: u64,
    freezes: u64,
    longest_freeze_ms: f64,
}

/// Packets that the generator's sessions sent: those of publishers, and the acknowledgements of watchers.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Packets {
    sent: u64,
    lost: u64,
}

/// The result of one watcher.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Watcher {
    relay: String,
    /// Its network namespace; empty: that of this process.
    place: String,
    /// Whether it read late.
    slow: bool,
    #[serde(flatten)]
    frames: Frames,
    latency_ms: Latency,
    first_frame_ms: Option<f64>,
    rtt_ms: Option<f64>,
    jitter_ms: f64,
    packets: Packets,
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
fn ratio(delivered: u64, expected: u64) -> f64 {
    if expected == 0 { 0.0 } else { delivered as f64 / expected as f64 }
}

impl Watcher {
    fn new(clients: &Clients, client: &Client) -> anyhow::Result<Self> {
        let (expected, missing) = clients.expected(client);
        let stats = client.connection.monitor().stats();
        let receiver = client.receiver.lock();
        let counts = receiver.counts;
        let frames = Frames {
            expected,
            delivered: counts.delivered,
            ratio: ratio(counts.delivered, expected),
            missing,
            duplicated: counts.duplicated,
            out_of_order: counts.out_of_order,
            corrupt: counts.corrupt,
            extra: counts.extra,
            skipped_groups: counts.skipped_groups,
            freezes: counts.freezes,
            longest_freeze_ms: milliseconds(receiver.longest_freeze),
        };
        let (latency_ms, jitter_ms) = (Latency::of(receiver.delays(|_| true)?.histogram()), receiver.jitter() / 1e6);
        drop(receiver);
        Ok(Self {
            relay: without_token(&client.role.relay),
            place: place_of(&client.role.relay).to_owned(),
            slow: client.role.slow,
            frames,
            latency_ms,
            first_frame_ms: clients.first_frame(client).map(milliseconds),
            rtt_ms: stats.and_then(|stats| stats.rtt).map(|rtt| rtt.as_secs_f64() * 1e3),
            jitter_ms,
            packets: Packets::of(&client.connection),
        })
    }
}

impl Packets {
    fn of(connection: &Connection) -> Self {
        let stats = connection.monitor().stats().unwrap_or_default();
        Self { sent: stats.packets_sent.unwrap_or_default(), lost: stats.packets_lost.unwrap_or_default() }
    }
}

impl Frames {
    fn sum<'a>(watchers: impl Iterator<Item = &'a Watcher>) -> Self {
        let mut all = Self::default();
        watchers.for_each(|watcher| all.add(&watcher.frames));
        all
    }

    fn add(&mut self, other: &Self) {
        self.expected += other.expected;
        self.delivered += other.delivered;
        self.ratio = ratio(self.delivered, self.expected);
        self.missing += other.missing;
        self.duplicated += other.duplicated;
        self.out_of_order += other.out_of_order;
        self.corrupt += other.corrupt;
        self.extra += other.extra;
        self.skipped_groups += other.skipped_groups;
        self.freezes += other.freezes;
        self.longest_freeze_ms = self.longest_freeze_ms.max(other.longest_freeze_ms);
    }

    fn are_exact(&self) -> bool {
        self.expected > 0 && self.missing + self.duplicated + self.out_of_order + self.corrupt + self.extra == 0
    }
}

/// Percentiles of a value in milliseconds over the watchers. `None`: no watcher has it.
fn spread(values: impl Iterator<Item = Option<f64>>) -> anyhow::Result<Option<Latency>> {
    let mut all = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
    for value in values.flatten() {
        let nanoseconds = Duration::try_from_secs_f64(value / 1e3).unwrap_or_default().as_nanos();
        all.saturating_record(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
    }
    Ok((!all.is_empty()).then(|| Latency::of(&all)))
}

impl Report {
    /// Of a run that ended. `rate`: bytes per second of one publisher.
    pub fn new(
        plan: &Plan,
        clients: &Clients,
        rate: f64,
        window: Window,
        Measured { began_ms, ended_ms, latency, paths }: Measured,
        interrupted: bool,
    ) -> anyhow::Result<Self> {
        let each = clients.watchers().map(|client| Watcher::new(clients, client));
        let each = each.collect::<anyhow::Result<Vec<_>>>()?;
        let frames = Frames::sum(each.iter().filter(|watcher| !watcher.slow));
        let slow_frames = (plan.shape.slow > 0).then(|| Frames::sum(each.iter().filter(|watcher| watcher.slow)));
        let mut packets = Packets::default();
        for one in clients.connections().map(Packets::of) {
            packets = Packets { sent: packets.sent + one.sent, lost: packets.lost + one.lost };
        }
        let jitter_ms = spread(each.iter().map(|watcher| Some(watcher.jitter_ms)))?;
        Ok(Self {
            shape: plan.shape,
            relays: plan.endpoints.relays.len(),
            audio: plan.content.audio,
            megabits_per_second: rate * 8.0 / 1e6,
            sent: clients.sent(),
            frames,
            slow_frames,
            closed: clients.lost,
            exact: frames.are_exact() && clients.lost == 0,
            void: window.generator.share > plan.void_above.share,
            interrupted,
            steady: window.steady(),
            began_ms,
            ended_ms,
            latency_ms: Latency::of(&latency),
            first_frame_ms: spread(each.iter().map(|watcher| watcher.first_frame_ms))?,
            rtt_ms: spread(each.iter().map(|watcher| watcher.rtt_ms))?,
            jitter_ms: jitter_ms.unwrap_or_else(|| Latency::of(&latency)),
            packets,
            paths,
            generator: window.generator,
            server: window.server,
            each,
        })
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        Exit::of_load(self.exact, self.void)
    }
}
