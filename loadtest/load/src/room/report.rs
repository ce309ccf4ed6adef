//! The result of a load of a room.
mod table;

use super::participants::Participants;
use super::plan::{Plan, Shape};
use super::window::Window;
use crate::latency::Latency;
use crate::media::receiver::Receiver;
use crate::usage::GeneratorUsage;
use parking_lot::Mutex;
use parley_cli::Exit;
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of a run, as JSON and as a table. All figures are of the frames that were made in the measured window.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    shape: Shape,
    window: Steady,
    #[serde(rename = "pictures")]
    video: Frames,
    #[serde(rename = "voices")]
    audio: Frames,
    /// Of all frames, and its spread over participants.
    loss: Loss,
    /// Frames whose bytes are not those of a frame that was sent.
    corrupt: u64,
    duplicated: u64,
    out_of_order: u64,
    /// Frames of another track.
    extra: u64,
    skipped_groups: u64,
    /// From making to arrival.
    delay_ms: Latency,
    /// RFC 3550 section 6.4.1: for each participant the mean of its videos.
    jitter_ms: Spread,
    /// The smoothed round-trip time of QUIC, of all sessions.
    rtt_ms: Latency,
    freezes: Freezes,
    /// Participants who did not receive all their tracks within five seconds after the last one connected.
    late_joins: usize,
    /// Sessions and tracks that were lost.
    closed: u64,
    /// How many participants use each relay.
    relays: BTreeMap<String, usize>,
    generator: GeneratorUsage,
    /// Every participant received every frame that it watches once, unchanged and in order, and no other frame.
    exact: bool,
    /// The generator was too busy to measure.
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

/// How many frames should have arrived, and how many did.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Frames {
    expected: u64,
    delivered: u64,
}

/// The share of frames that did not arrive.
#[derive(Clone, Copy, Debug, Serialize)]
struct Loss {
    share: f64,
    #[serde(flatten)]
    each: Spread,
}

/// The spread of a value over participants.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Spread {
    mean: f64,
    p50: f64,
    p95: f64,
    max: f64,
}

/// Pauses of video that exceeded the threshold.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Freezes {
    count: u64,
    longest_ms: f64,
}

impl Report {
    /// Of a run that ended. `late`: how many participants did not receive all their tracks in time.
    pub fn new(plan: &Plan, participants: &Participants, window: &Window, late: usize) -> Self {
        let (mut video, mut audio) = (Frames::default(), Frames::default());
        let (mut losses, mut jitters) = (Vec::new(), Vec::new());
        let mut relays = BTreeMap::new();
        for one in &participants.all {
            let (own_video, own_audio) = (Frames::of(participants, &one.video), Frames::of(participants, &one.audio));
            video = video.plus(own_video);
            audio = audio.plus(own_audio);
            losses.push(own_video.plus(own_audio).loss());
            jitters.push(one.video.lock().jitter() / 1e6);
            *relays.entry(one.relay.clone()).or_default() += 1;
        }
        let counts = participants.counts();
        let all = video.plus(audio);
        let wrong = counts.corrupt + counts.duplicated + counts.out_of_order + counts.extra + participants.lost;
        let share = window.own_cpu / window.seconds();
        Self {
            shape: plan.shape,
            window: Steady::of(window),
            video,
            audio,
            loss: Loss { share: all.loss(), each: Spread::of(losses) },
            corrupt: counts.corrupt,
            duplicated: counts.duplicated,
            out_of_order: counts.out_of_order,
            extra: counts.extra,
            skipped_groups: counts.skipped_groups,
            delay_ms: Latency::of(&window.delay),
            jitter_ms: Spread::of(jitters),
            rtt_ms: Latency::of(&window.round_trips),
            freezes: Freezes::of(participants),
            late_joins: late,
            closed: participants.lost,
            relays,
            generator: GeneratorUsage { cpu_seconds: window.own_cpu, share },
            exact: all.expected > 0 && all.delivered == all.expected && wrong == 0,
            void: share > plan.void_above.share,
            interrupted: window.interrupted,
        }
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        Exit::of_load(self.exact, self.void)
    }
}

impl Steady {
    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    fn of(window: &Window) -> Self {
        let seconds = window.seconds();
        Self {
            began_ms: window.began_ms,
            ended_ms: window.ended_ms,
            seconds,
            deliveries_per_second: window.counts.delivered as f64 / seconds,
            megabits_per_second: window.counts.bytes as f64 * 8.0 / 1e6 / seconds,
        }
    }
}

impl Freezes {
    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    fn of(participants: &Participants) -> Self {
        let each = participants.all.iter().map(|participant| {
            let receiver = participant.video.lock();
            (receiver.counts.freezes, receiver.longest_freeze)
        });
        let (count, longest) =
            each.fold((0, 0), |(sum, highest), (count, longest)| (sum + count, highest.max(longest)));
        Self { count, longest_ms: longest as f64 / 1e6 }
    }
}

impl Frames {
    fn of(participants: &Participants, receiver: &Mutex<Receiver>) -> Self {
        let (expected, missing) = participants.expected(receiver);
        Self { expected, delivered: expected - missing }
    }

    fn plus(self, other: Self) -> Self {
        Self { expected: self.expected + other.expected, delivered: self.delivered + other.delivered }
    }

    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    fn loss(self) -> f64 {
        if self.expected == 0 { 0.0 } else { (self.expected - self.delivered) as f64 / self.expected as f64 }
    }
}

impl Spread {
    /// With percentiles by nearest rank.
    #[allow(clippy::cast_precision_loss, reason = "a count of participants fits")]
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let Some(max) = values.last().copied() else { return Self::default() };
        let rank = |percent: usize| values[(percent * values.len()).div_ceil(100) - 1];
        Self { mean: values.iter().sum::<f64>() / values.len() as f64, p50: rank(50), p95: rank(95), max }
    }

    /// For a table. `factor`: from the value to the unit.
    fn summary(&self, factor: f64, unit: &str) -> String {
        let [mean, p50, p95, max] = [self.mean, self.p50, self.p95, self.max].map(|value| value * factor);
        format!("mean {mean:.3}, p50 {p50:.3}, p95 {p95:.3}, max {max:.3} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_spread_are_by_nearest_rank() {
        let Spread { mean, p50, p95, max } = Spread::of((1..=20).rev().map(f64::from).collect());
        assert_eq!([mean, p50, p95, max].map(|value| (value * 10.0).round()), [105.0, 100.0, 190.0, 200.0]);
        assert_eq!(Spread::of(vec![7.0]).summary(2.0, "ms"), "mean 14.000, p50 14.000, p95 14.000, max 14.000 ms");
        assert!(Spread::of(Vec::new()).max.abs() < 1e-9);
    }

    #[test]
    fn loss_is_the_share_of_expected_frames_that_did_not_arrive() {
        let both = Frames { expected: 10, delivered: 9 }.plus(Frames { expected: 30, delivered: 28 });
        assert!((both.loss() - 0.075).abs() < 1e-9 && Frames::default().loss().abs() < 1e-9);
    }
}
