//! The result of a load of streams.
use super::clients::Clients;
use super::plan::{Paths, Plan, Shape};
use crate::latency::Latency;
use crate::usage::{GeneratorUsage, ServerUsage};
use crate::window::{Steady, Window};
use parley_cli::Exit;
use serde::Serialize;
use std::fmt::Write;

/// The result of a run, as JSON and as a table. Counts are of the whole run; rates, latency and cost are of the measured window.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(flatten)]
    shape: Shape,
    paths: Paths,
    sent: u64,
    expected: u64,
    delivered: u64,
    /// Correct deliveries per expected delivery.
    ratio: f64,
    missing: u64,
    duplicated: u64,
    corrupt: u64,
    out_of_order: u64,
    extra: u64,
    closed: u64,
    stalls: u64,
    /// Messages that were due and that the server did not accept.
    unsent: u64,
    /// Every reader received every message of its topic once, unchanged and in order, and no client received another.
    exact: bool,
    /// The generator was too busy to measure times and costs.
    void: bool,
    steady: SentSteady,
    latency_ms: Latency,
    generator: GeneratorUsage,
    server: Option<ServerUsage>,
}

/// What was sent in the measured window, and delivered.
#[derive(Clone, Debug, Serialize)]
struct SentSteady {
    sent: u64,
    #[serde(flatten)]
    delivered: Steady,
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
impl Report {
    /// Of a run that ended.
    pub fn new(plan: &Plan, clients: &Clients<'_>, window: Window) -> Self {
        let counts = clients.counts;
        let (sent, missing) = (clients.sent(), clients.missing());
        let expected = sent * plan.shape.readers as u64;
        let wrong = missing + counts.duplicated + counts.corrupt + counts.out_of_order + counts.extra + counts.closed;
        Self {
            shape: plan.shape,
            paths: plan.endpoints.paths,
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
            unsent: clients.unsent,
            exact: expected > 0 && wrong == 0,
            void: window.generator.share > plan.void_above.share,
            steady: SentSteady { sent: window.sent, delivered: window.steady() },
            latency_ms: Latency::of(&clients.latency),
            generator: window.generator,
            server: window.server,
        }
    }

    /// How the command ends.
    pub fn exit(&self) -> Exit {
        Exit::of_load(self.exact, self.void)
    }

    /// The heads of `columns`.
    pub const COLUMNS: &str = "   ratio     msg/s   Mbit/s   p50 ms   p99 ms   CPU s/GB   µs each    RSS kB  generator";

    /// The result as one line of the table of a bench.
    pub fn columns(&self) -> String {
        let Self { ratio, steady, latency_ms: Latency { p50, p99, .. }, .. } = self;
        let cost = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let server = self.server.as_ref();
        let remark = match self.exit() {
            Exit::Inexact => " NOT EXACT",
            Exit::Void => " VOID",
            _ => "",
        };
        format!(
            "{ratio:8.6} {:9.0} {:8.0} {p50:8.3} {p99:8.3} {:>10} {:>9} {:>9} {:8.0} %{remark}",
            steady.delivered.deliveries_per_second,
            steady.delivered.megabits_per_second,
            cost(server.and_then(|server| server.cpu_seconds_per_gb)),
            cost(server.and_then(|server| server.microseconds_per_delivery)),
            server.map_or("-".to_owned(), |server| server.resident_kb.to_string()),
            self.generator.share * 100.0,
        )
    }

    /// As a table for people.
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
                "{missing} missing, {duplicated} duplicated, {corrupt} corrupt, {out_of_order} out of order, {extra} extra, \
                 {} sockets closed, {} stalls, {} not accepted",
                self.closed, self.stalls, self.unsent
            ),
        );
        let steady = self.steady.delivered;
        row(
            "steady",
            format!(
                "{:.0} deliveries per second, {:.1} Mbit/s over {:.1} s",
                steady.deliveries_per_second, steady.megabits_per_second, steady.seconds
            ),
        );
        row("latency", self.latency_ms.summary());
        if let Some(server) = &self.server {
            row("server", server.summary());
        }
        row("generator", self.generator.summary(self.void));
        out
    }
}
