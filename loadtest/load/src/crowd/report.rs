//! The result of a crowd.
use super::Flags;
use super::tally::{Answers, Codes, Present, Tally};
use crate::latency::Latency;
use crate::usage::GeneratorUsage;
use serde::Serialize;
use std::fmt::Write;

/// A generator whose timers are later than this, in ms at the 95th percentile, delays participants itself.
const MAX_LATENESS: f64 = 100.0;

/// The result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    people: usize,
    edges: usize,
    seconds: f64,
    /// Where participants were just before all left.
    present: Present,
    answers: Answers,
    /// Until a request for a ticket was answered.
    answer_ms: Times,
    /// From the arrival to the welcome.
    join_ms: Times,
    /// From the loss of a socket to the welcome on the next one.
    back_ms: Times,
    waits: u64,
    losses: Codes,
    refusals: Codes,
    errors: Codes,
    lost: u64,
    late_ms: Times,
    generator: GeneratorUsage,
    /// Each participant is in its room, or was answered that it is full.
    pub exact: bool,
    /// The generator was too busy to measure.
    pub void: bool,
}

/// Percentiles, and of how many.
#[derive(Clone, Copy, Debug, Serialize)]
struct Times {
    count: u64,
    #[serde(flatten)]
    latency: Latency,
}

impl Report {
    /// Of a run that ended.
    pub fn new(flags: &Flags, tally: &Tally, present: Present, cpu_seconds: f64, seconds: f64) -> Self {
        let [answer_ms, join_ms, back_ms, late_ms] = tally.times().map(|(count, latency)| Times { count, latency });
        let generator = GeneratorUsage { cpu_seconds, share: cpu_seconds / seconds };
        Self {
            people: flags.people,
            edges: flags.edges.len(),
            seconds,
            present,
            answers: tally.answers,
            answer_ms,
            join_ms,
            back_ms,
            waits: tally.waits,
            losses: tally.losses.clone(),
            refusals: tally.refusals.clone(),
            errors: tally.errors.clone(),
            lost: tally.lost,
            late_ms,
            void: late_ms.latency.p95 > MAX_LATENESS || generator.share > flags.void_above.share,
            generator,
            exact: tally.lost == 0 && tally.errors.is_empty() && present.here + present.full == flags.people as u64,
        }
    }

    /// As a table for people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<12} {value}");
        };
        let Self { people, edges, seconds, present, answers, .. } = self;
        row("people", format!("{people} through {edges} edges, {seconds:.1} s"));
        row("at the end", format!("{} in their rooms, {} away, {} full", present.here, present.away, present.full));
        let Answers { tickets, slots, full, refused } = answers;
        row(
            "answers",
            format!("{tickets} tickets, {slots} slots, {full} full, {refused} refused; {} waits", self.waits),
        );
        for (name, Times { count, latency }) in
            [("answered", self.answer_ms), ("joined", self.join_ms), ("back", self.back_ms), ("late", self.late_ms)]
        {
            row(name, format!("{count} times, {}", latency.summary()));
        }
        for (name, codes) in [("lost by", &self.losses), ("refused", &self.refusals), ("failed", &self.errors)] {
            for (code, times) in codes {
                row(name, format!("{times} times: {code}"));
            }
        }
        row("generator", self.generator.summary(self.void));
        row("exact", if self.exact { "yes".into() } else { format!("NO, {} lost", self.lost) });
        out
    }
}
