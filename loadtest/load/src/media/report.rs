//! What came of a load of media.
use super::clients::{Cast, Member};
use super::plan::{Plan, Shape, shown};
use super::run::Mark;
use crate::exit::Exit;
use crate::usage::{Generator, Latency, Server};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// A run's result, as JSON and as a table. Counts are of the whole run; rates, latency and cost of the steady window.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    shape: Shape,
    relays: usize,
    audio: bool,
    /// What one publisher sends.
    megabits_per_second: f64,
    sent: u64,
    #[serde(flatten)]
    frames: Frames,
    /// Sessions and broadcasts that were lost.
    closed: u64,
    /// Every frame reached every watcher once, whole and in order, from its first on, and nothing else reached anybody.
    exact: bool,
    /// The generator was too busy to be trusted with times and costs.
    void: bool,
    /// Ended by Ctrl-C.
    interrupted: bool,
    steady: Steady,
    latency_ms: Latency,
    /// Of all watchers.
    first_frame_ms: Option<Latency>,
    rtt_ms: Option<Latency>,
    jitter_ms: Latency,
    packets: Packets,
    generator: Generator,
    server: Option<Server>,
    each: Vec<Watcher>,
}

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    expected: u64,
    delivered: u64,
    /// Delivered of expected.
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

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Steady {
    seconds: f64,
    delivered: u64,
    bytes: u64,
    deliveries_per_second: f64,
    megabits_per_second: f64,
}

/// Those of the generator's sessions: what publishers send, and what watchers answer.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Packets {
    sent: u64,
    lost: u64,
}

/// What one watcher got.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Watcher {
    relay: String,
    #[serde(flatten)]
    frames: Frames,
    latency_ms: Latency,
    first_frame_ms: Option<f64>,
    rtt_ms: Option<f64>,
    jitter_ms: f64,
    packets: Packets,
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn ratio(delivered: u64, expected: u64) -> f64 {
    if expected == 0 { 0.0 } else { delivered as f64 / expected as f64 }
}

impl Watcher {
    fn new(cast: &Cast, member: &Member) -> Self {
        let (expected, missing) = cast.expected(member);
        let stats = member.connection.monitor().stats();
        let book = member.book.lock();
        let counts = book.counts;
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
            longest_freeze_ms: milliseconds(book.longest_freeze),
        };
        let (latency_ms, jitter_ms) = (Latency::of(&book.latency), book.jitter() / 1e6);
        drop(book);
        Self {
            relay: shown(&member.role.relay),
            frames,
            latency_ms,
            first_frame_ms: cast.first_frame(member).map(milliseconds),
            rtt_ms: stats.and_then(|stats| stats.rtt).map(|rtt| rtt.as_secs_f64() * 1e3),
            jitter_ms,
            packets: Packets::of(member),
        }
    }
}

impl Packets {
    fn of(member: &Member) -> Self {
        let stats = member.connection.monitor().stats().unwrap_or_default();
        Self { sent: stats.packets_sent.unwrap_or_default(), lost: stats.packets_lost.unwrap_or_default() }
    }
}

impl Frames {
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

    fn exact(&self) -> bool {
        self.expected > 0 && self.missing + self.duplicated + self.out_of_order + self.corrupt + self.extra == 0
    }
}

/// How values of watchers are spread.
fn spread(values: impl Iterator<Item = Option<f64>>) -> anyhow::Result<Option<Latency>> {
    let mut all = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
    for value in values.flatten() {
        let nanoseconds = Duration::try_from_secs_f64(value / 1e3).unwrap_or_default().as_nanos();
        all.saturating_record(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
    }
    Ok((!all.is_empty()).then(|| Latency::of(&all)))
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
impl Report {
    /// Of a run that ended; `rate`: bytes a second of one publisher.
    pub fn new(
        plan: &Plan,
        cast: &Cast,
        rate: f64,
        (from, to): (&Mark, &Mark),
        latency: &Histogram<u64>,
        interrupted: bool,
    ) -> anyhow::Result<Self> {
        let each: Vec<Watcher> = cast.watchers().map(|member| Watcher::new(cast, member)).collect();
        let mut frames = Frames::default();
        each.iter().for_each(|watcher| frames.add(&watcher.frames));
        let mut packets = Packets::default();
        for one in cast.members.iter().map(Packets::of) {
            packets = Packets { sent: packets.sent + one.sent, lost: packets.lost + one.lost };
        }
        let seconds = (to.at - from.at).as_secs_f64();
        let (delivered, bytes) = (to.counts.delivered - from.counts.delivered, to.counts.bytes - from.counts.bytes);
        let cpu_seconds = to.own_cpu - from.own_cpu;
        let share = cpu_seconds / seconds;
        Ok(Self {
            shape: plan.shape,
            relays: plan.place.relays.len(),
            audio: plan.content.audio,
            megabits_per_second: rate * 8.0 / 1e6,
            sent: cast.sent(),
            frames,
            closed: cast.lost,
            exact: frames.exact() && cast.lost == 0,
            void: share > plan.void_above,
            interrupted,
            steady: Steady {
                seconds,
                delivered,
                bytes,
                deliveries_per_second: delivered as f64 / seconds,
                megabits_per_second: bytes as f64 * 8.0 / 1e6 / seconds,
            },
            latency_ms: Latency::of(latency),
            first_frame_ms: spread(each.iter().map(|watcher| watcher.first_frame_ms))?,
            rtt_ms: spread(each.iter().map(|watcher| watcher.rtt_ms))?,
            jitter_ms: spread(each.iter().map(|watcher| Some(watcher.jitter_ms)))?
                .unwrap_or_else(|| Latency::of(latency)),
            packets,
            generator: Generator { cpu_seconds, share },
            server: Server::of(&plan.place.pids, to.server_cpu - from.server_cpu, delivered, bytes)?,
            each,
        })
    }

    /// How the command ends.
    pub fn verdict(&self) -> Exit {
        Exit::of(self.exact, self.void)
    }

    /// For people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<12} {value}");
        };
        let Shape { publishers, watchers, room, .. } = self.shape;
        let who = room.map_or_else(|| format!("{publishers} to {watchers}"), |people| format!("room of {people}"));
        let what = if self.audio { "audio" } else { "video" };
        row("load", format!("{who}, {what} of {:.2} Mbit/s, {} relays", self.megabits_per_second, self.relays));
        let Frames { expected, delivered, ratio, missing, duplicated, out_of_order, corrupt, extra, .. } = self.frames;
        row("delivered", format!("{delivered} of {expected} frames: ratio {ratio:.6}"));
        row(
            "wrong",
            format!(
                "{missing} missing, {duplicated} twice, {corrupt} corrupt, {out_of_order} out of order, {extra} extra, {} lost",
                self.closed
            ),
        );
        let Frames { skipped_groups, freezes, longest_freeze_ms, .. } = self.frames;
        row("skipped", format!("{skipped_groups} groups; {freezes} freezes, the longest of {longest_freeze_ms:.0} ms"));
        let steady = &self.steady;
        row(
            "steady",
            format!(
                "{:.0} frames a second, {:.1} Mbit/s over {:.1} s",
                steady.deliveries_per_second, steady.megabits_per_second, steady.seconds
            ),
        );
        let said = |Latency { p50, p95, p99, max }: Latency| {
            format!("p50 {p50:.3}, p95 {p95:.3}, p99 {p99:.3}, most {max:.3} ms")
        };
        row("latency", said(self.latency_ms));
        row("first frame", self.first_frame_ms.map_or("none".to_owned(), said));
        row("round trip", self.rtt_ms.map_or("unknown".to_owned(), said));
        row("jitter", said(self.jitter_ms));
        row("packets", format!("{} sent by publishers and watchers, {} lost", self.packets.sent, self.packets.lost));
        if let Some(server) = &self.server {
            row("server", server.said());
        }
        row("generator", self.generator.said(self.void));
        if self.interrupted {
            row("interrupted", "ended before its time".to_owned());
        }
        let mut worst: Vec<(usize, &Watcher)> = self.each.iter().enumerate().collect();
        worst.sort_by(|(_, one), (_, other)| other.latency_ms.p99.total_cmp(&one.latency_ms.p99));
        let _ = writeln!(
            out,
            "\nthe latest watchers   delivered  missing  skipped  freezes    p50 ms    p99 ms    first ms  relay"
        );
        for (index, Watcher { relay, frames, latency_ms, first_frame_ms, .. }) in worst.into_iter().take(WORST) {
            let Frames { delivered, missing, skipped_groups, freezes, .. } = frames;
            let first = first_frame_ms.map_or("never".to_owned(), |first| format!("{first:.0}"));
            let Latency { p50, p99, .. } = latency_ms;
            let _ = writeln!(
                out,
                "{index:>19} {delivered:>11} {missing:>8} {skipped_groups:>8} {freezes:>8} {p50:>9.3} {p99:>9.3} {first:>11}  {relay}"
            );
        }
        out
    }
}

/// Watchers that are listed.
const WORST: usize = 5;
