//! What came of a load.
use super::clients::Crowd;
use super::plan::{Paths, Plan, Shape};
use super::run::Mark;
use crate::exit::Exit;
use crate::usage::{Generator, Latency, Server};
use serde::Serialize;
use std::fmt::Write;

/// A run's result, as JSON and as a table. Counts are of the whole run; rates, latency and cost of the steady window.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    shape: Shape,
    paths: Paths,
    sent: u64,
    expected: u64,
    delivered: u64,
    /// Delivered of expected.
    ratio: f64,
    missing: u64,
    duplicated: u64,
    corrupt: u64,
    out_of_order: u64,
    extra: u64,
    closed: u64,
    stalls: u64,
    /// Messages that were due and that the server did not take.
    unsent: u64,
    /// Every message reached every reader once, whole and in order, and nothing else reached anybody.
    exact: bool,
    /// The generator was too busy to be trusted with times and costs.
    void: bool,
    steady: Steady,
    latency_ms: Latency,
    generator: Generator,
    server: Option<Server>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Steady {
    seconds: f64,
    sent: u64,
    delivered: u64,
    bytes: u64,
    deliveries_per_second: f64,
    megabits_per_second: f64,
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
impl Report {
    /// Of a run that ended.
    pub fn new(plan: &Plan, crowd: &Crowd<'_>, (from, to): (&Mark, &Mark), server: Option<Server>) -> Self {
        let counts = crowd.counts;
        let (sent, missing) = (crowd.sent(), crowd.missing());
        let expected = sent * plan.shape.readers as u64;
        let seconds = (to.at - from.at).as_secs_f64();
        let (delivered, bytes) = (to.counts.delivered - from.counts.delivered, to.counts.bytes - from.counts.bytes);
        let share = (to.own_cpu - from.own_cpu) / seconds;
        let wrong = missing + counts.duplicated + counts.corrupt + counts.out_of_order + counts.extra + counts.closed;
        Self {
            shape: plan.shape,
            paths: plan.place.paths,
            sent,
            expected,
            delivered: counts.delivered,
            ratio: if expected == 0 { 0.0 } else { counts.delivered as f64 / expected as f64 },
            missing,
            duplicated: counts.duplicated,
            corrupt: counts.corrupt,
            out_of_order: counts.out_of_order,
            extra: counts.extra,
            closed: counts.closed,
            stalls: counts.stalls,
            unsent: crowd.owed,
            exact: expected > 0 && wrong == 0,
            void: share > plan.void_above,
            steady: Steady {
                seconds,
                sent: to.sent - from.sent,
                delivered,
                bytes,
                deliveries_per_second: delivered as f64 / seconds,
                megabits_per_second: bytes as f64 * 8.0 / 1e6 / seconds,
            },
            latency_ms: Latency::of(&crowd.latency),
            generator: Generator { cpu_seconds: to.own_cpu - from.own_cpu, share },
            server,
        }
    }

    /// How the command ends.
    pub fn verdict(&self) -> Exit {
        Exit::of(self.exact, self.void)
    }

    /// Heads of `columns`.
    pub const COLUMNS: &str = "   ratio     msg/s   Mbit/s   p50 ms   p99 ms   CPU s/GB   µs each    RSS kB  generator";

    /// One line of a bench's table.
    pub fn columns(&self) -> String {
        let Self { ratio, steady, latency_ms: Latency { p50, p99, .. }, .. } = self;
        let cost = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let server = self.server.as_ref();
        let remark = match self.verdict() {
            Exit::Inexact => " NOT EXACT",
            Exit::Void => " VOID",
            _ => "",
        };
        format!(
            "{ratio:8.6} {:9.0} {:8.0} {p50:8.3} {p99:8.3} {:>10} {:>9} {:>9} {:8.0} %{remark}",
            steady.deliveries_per_second,
            steady.megabits_per_second,
            cost(server.and_then(|server| server.cpu_seconds_per_gb)),
            cost(server.and_then(|server| server.microseconds_per_delivery)),
            server.map_or("-".to_owned(), |server| server.resident_kb.to_string()),
            self.generator.share * 100.0,
        )
    }

    /// For people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<12} {value}");
        };
        let Report { sent, expected, delivered, missing, duplicated, corrupt, out_of_order, extra, .. } = self;
        let shape = self.shape;
        row("load", format!("{} to {} each, {} bytes", shape.topics, shape.readers, shape.bytes));
        row("delivered", format!("{delivered} of {expected} ({sent} sent): ratio {:.6}", self.ratio));
        row(
            "wrong",
            format!(
                "{missing} missing, {duplicated} twice, {corrupt} corrupt, {out_of_order} out of order, {extra} extra, \
                 {} sockets closed, {} stalls, {} not taken",
                self.closed, self.stalls, self.unsent
            ),
        );
        let steady = &self.steady;
        row(
            "steady",
            format!(
                "{:.0} deliveries a second, {:.1} Mbit/s over {:.1} s",
                steady.deliveries_per_second, steady.megabits_per_second, steady.seconds
            ),
        );
        let Latency { p50, p95, p99, max } = self.latency_ms;
        row("latency", format!("p50 {p50:.3}, p95 {p95:.3}, p99 {p99:.3}, most {max:.3} ms"));
        if let Some(server) = &self.server {
            row("server", server.said());
        }
        row("generator", self.generator.said(self.void));
        out
    }
}
