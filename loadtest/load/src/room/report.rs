//! What came of a room.
use super::participants::Crowd;
use super::plan::{Plan, Shape};
use super::run::Window;
use crate::exit::Exit;
use crate::media::receiver::Book;
use crate::usage::{Generator, Latency};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A run's result, as JSON and as a table. All of it is of the measured window, and of what was made within.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    shape: Shape,
    window: Steady,
    pictures: Frames,
    voices: Frames,
    /// Of all frames, and of a participant's.
    loss: Loss,
    /// Frames that are, byte by byte, none that was sent.
    corrupt: u64,
    duplicated: u64,
    out_of_order: u64,
    /// Frames of another track.
    extra: u64,
    skipped_groups: u64,
    /// From making to arrival.
    delay_ms: Latency,
    /// RFC 3550 section 6.4.1, of each participant's pictures the mean.
    jitter_ms: Spread,
    /// QUIC's smoothed round trip, of all sessions.
    rtt_ms: Latency,
    freezes: Freezes,
    /// People who did not see and hear everybody five seconds after the last had come.
    late_joins: usize,
    /// Sessions and tracks that were lost.
    closed: u64,
    /// People on each.
    relays: BTreeMap<String, usize>,
    generator: Generator,
    /// Every frame reached whoever sees or hears it once, whole and in order, and nothing else reached anybody.
    exact: bool,
    /// The generator was too busy to be trusted.
    void: bool,
    /// Ended by Ctrl-C.
    interrupted: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Steady {
    /// Unix milliseconds.
    began_ms: u128,
    /// Unix milliseconds.
    ended_ms: u128,
    seconds: f64,
    deliveries_per_second: f64,
    megabits_per_second: f64,
}

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Frames {
    expected: u64,
    delivered: u64,
}

/// Shares of frames that never came.
#[derive(Clone, Copy, Debug, Serialize)]
struct Loss {
    share: f64,
    #[serde(flatten)]
    each: Spread,
}

/// Of participants.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Spread {
    mean: f64,
    p50: f64,
    p95: f64,
    max: f64,
}

/// Tiles without a frame for too long.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Freezes {
    count: u64,
    longest_ms: f64,
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
impl Report {
    /// Of a run that ended.
    pub fn new(plan: &Plan, crowd: &Crowd, window: &Window) -> Self {
        let seconds = (window.ended_ms - window.began_ms) as f64 / 1e3;
        let (mut pictures, mut voices) = (Frames::default(), Frames::default());
        let (mut losses, mut jitters) = (Vec::new(), Vec::new());
        let mut relays = BTreeMap::new();
        for member in &crowd.members {
            let (seen, heard) = (Frames::of(crowd, &member.pictures), Frames::of(crowd, &member.voices));
            pictures = pictures.and(seen);
            voices = voices.and(heard);
            losses.push(seen.and(heard).lost());
            jitters.push(member.pictures.lock().jitter() / 1e6);
            *relays.entry(member.relay.clone()).or_default() += 1;
        }
        let counts = crowd.counts();
        let freezes = crowd.members.iter().map(|member| {
            let book = member.pictures.lock();
            (book.counts.freezes, book.longest_freeze)
        });
        let (count, longest) = freezes.fold((0, 0), |(sum, most), (count, longest)| (sum + count, most.max(longest)));
        let all = pictures.and(voices);
        let wrong = counts.corrupt + counts.duplicated + counts.out_of_order + counts.extra + crowd.lost;
        let share = window.own_cpu / seconds;
        Self {
            shape: plan.shape,
            window: Steady {
                began_ms: window.began_ms,
                ended_ms: window.ended_ms,
                seconds,
                deliveries_per_second: window.counts.delivered as f64 / seconds,
                megabits_per_second: window.counts.bytes as f64 * 8.0 / 1e6 / seconds,
            },
            pictures,
            voices,
            loss: Loss { share: all.lost(), each: Spread::of(losses) },
            corrupt: counts.corrupt,
            duplicated: counts.duplicated,
            out_of_order: counts.out_of_order,
            extra: counts.extra,
            skipped_groups: counts.skipped_groups,
            delay_ms: Latency::of(&window.delay),
            jitter_ms: Spread::of(jitters),
            rtt_ms: Latency::of(&window.round_trips),
            freezes: Freezes { count, longest_ms: longest as f64 / 1e6 },
            late_joins: window.late,
            closed: crowd.lost,
            relays,
            generator: Generator { cpu_seconds: window.own_cpu, share },
            exact: all.expected > 0 && all.delivered == all.expected && wrong == 0,
            void: share > plan.void_above,
            interrupted: window.interrupted,
        }
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
        let Shape { participants, bitrate, fps, speakers, tiles, .. } = self.shape;
        let sent = format!("{bitrate} kbit/s at {fps} frames a second, {speakers} speak");
        row("room", format!("{participants} people, each sees at most {tiles}: {sent}"));
        let on: Vec<_> = self.relays.iter().map(|(relay, people)| format!("{people} on {relay}")).collect();
        row("relays", on.join(", "));
        let Steady { seconds, deliveries_per_second, megabits_per_second, .. } = self.window;
        row(
            "window",
            format!("{deliveries_per_second:.0} frames a second, {megabits_per_second:.1} Mbit/s over {seconds:.1} s"),
        );
        for (name, Frames { expected, delivered }) in [("pictures", self.pictures), ("voices", self.voices)] {
            row(name, format!("{delivered} of {expected} frames"));
        }
        let Loss { share, each } = self.loss;
        row("lost", format!("{:.3} % of all; of a participant's {}", share * 100.0, each.said(100.0, "%")));
        row(
            "wrong",
            format!(
                "{} corrupt, {} twice, {} out of order, {} extra, {} closed, {} groups skipped",
                self.corrupt, self.duplicated, self.out_of_order, self.extra, self.closed, self.skipped_groups
            ),
        );
        let said = |Latency { p50, p95, p99, max }: Latency| {
            format!("p50 {p50:.3}, p95 {p95:.3}, p99 {p99:.3}, most {max:.3} ms")
        };
        row("delay", said(self.delay_ms));
        row("round trip", said(self.rtt_ms));
        row("jitter", self.jitter_ms.said(1.0, "ms"));
        row("freezes", format!("{}, the longest of {:.0} ms", self.freezes.count, self.freezes.longest_ms));
        row("late", format!("{} joins", self.late_joins));
        row("generator", self.generator.said(self.void));
        if self.interrupted {
            row("interrupted", "ended before its time".to_owned());
        }
        out
    }
}

impl Frames {
    fn of(crowd: &Crowd, book: &Mutex<Book>) -> Self {
        let (expected, missing) = crowd.expected(book);
        Self { expected, delivered: expected - missing }
    }

    fn and(self, other: Self) -> Self {
        Self { expected: self.expected + other.expected, delivered: self.delivered + other.delivered }
    }

    #[allow(clippy::cast_precision_loss, reason = "for people")]
    fn lost(self) -> f64 {
        if self.expected == 0 { 0.0 } else { (self.expected - self.delivered) as f64 / self.expected as f64 }
    }
}

impl Spread {
    /// By nearest rank.
    #[allow(clippy::cast_precision_loss, reason = "a count of people")]
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let Some(max) = values.last().copied() else { return Self::default() };
        let rank = |percent: usize| values[(percent * values.len()).div_ceil(100) - 1];
        Self { mean: values.iter().sum::<f64>() / values.len() as f64, p50: rank(50), p95: rank(95), max }
    }

    fn said(&self, times: f64, unit: &str) -> String {
        let [mean, p50, p95, max] = [self.mean, self.p50, self.p95, self.max].map(|value| value * times);
        format!("mean {mean:.3}, p50 {p50:.3}, p95 {p95:.3}, most {max:.3} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_by_nearest_rank() {
        let Spread { mean, p50, p95, max } = Spread::of((1..=20).rev().map(f64::from).collect());
        assert_eq!([mean, p50, p95, max].map(|value| (value * 10.0).round()), [105.0, 100.0, 190.0, 200.0]);
        assert_eq!(Spread::of(vec![7.0]).said(2.0, "ms"), "mean 14.000, p50 14.000, p95 14.000, most 14.000 ms");
        assert!(Spread::of(Vec::new()).max.abs() < 1e-9);
    }

    #[test]
    fn lost_is_what_did_not_come_of_what_should() {
        let both = Frames { expected: 10, delivered: 9 }.and(Frames { expected: 30, delivered: 28 });
        assert!((both.lost() - 0.075).abs() < 1e-9 && Frames::default().lost().abs() < 1e-9);
    }
}
