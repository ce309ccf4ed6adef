//! The result of a load of visitors.
use super::Flags;
use super::visitors::{Traffic, Visitors};
use crate::latency::Latency;
use hdrhistogram::Histogram;
use parley_cli::PageAddress;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use tokio::time::Instant;

/// The result of a run, as JSON and as a table.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    page: PageAddress,
    hosts: usize,
    holders: usize,
    readers: usize,
    #[serde(flatten)]
    stages: Stages,
    /// Errors of visitors that failed to connect or were refused, and how often each occurred.
    errors: BTreeMap<String, u64>,
    /// Sockets that the service closed or lost.
    closed: u64,
    memory: Option<Memory>,
    /// No visitor was refused, lost or late, and each received the exact count.
    pub exact: bool,
}

/// The stages of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Stages {
    /// From the first arrival until each visitor has the exact count.
    pub came: Stage,
    /// Afterwards, while no visitor arrives or leaves.
    pub stayed: Stage,
    /// After some holders left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub went: Option<Stage>,
}

/// The beginning of a stage.
pub struct Change {
    /// When it began.
    pub since: Instant,
    /// The traffic of all visitors until then.
    pub traffic: Traffic,
}

/// What visitors received during a stage, and when they had the exact count.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// How many were present.
    visitors: usize,
    /// How many received the exact count too late, or never.
    late: usize,
    never: usize,
    /// From the last change until each visitor had the exact count.
    exact_ms: Option<Latency>,
    seconds: f64,
    /// Messages and bytes, per visitor.
    received: f64,
    received_bytes: f64,
    sent: f64,
    sent_bytes: f64,
}

/// The resident memory of the server, in kB.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    before_kb: u64,
    with_kb: u64,
    after_kb: u64,
    kb_each: f64,
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
impl Memory {
    /// Before, with and after visitors. `visitors`: the highest number of them at once.
    pub fn new(before_kb: u64, with_kb: u64, after_kb: u64, visitors: usize) -> Self {
        let kb_each = with_kb.saturating_sub(before_kb) as f64 / visitors.max(1) as f64;
        Self { before_kb, with_kb, after_kb, kb_each }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
impl Stage {
    /// Since a change, after which there are so many holders and readers.
    pub fn of(visitors: &Visitors, expected: (usize, usize), change: &Change, late: Duration) -> Self {
        let having: Vec<_> = visitors.having(expected).collect();
        let mut stage = Self::idle(change, visitors.traffic(), having.len());
        let Ok(mut times) = Histogram::<u64>::new_with_bounds(1_000, 600_000_000_000, 3) else { return stage };
        for arrived in &having {
            let Some(time) = arrived.map(|arrived| arrived.saturating_duration_since(change.since)) else {
                (stage.never, stage.late) = (stage.never + 1, stage.late + 1);
                continue;
            };
            stage.late += usize::from(time > late);
            times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
        stage.exact_ms = Some(Latency::of(&times));
        stage
    }

    /// Of a time in which no visitor arrived or left. `traffic`: of all visitors until now.
    pub fn idle(change: &Change, traffic: Traffic, visitors: usize) -> Self {
        let traffic = traffic - change.traffic;
        let each = |all: u64| all as f64 / visitors.max(1) as f64;
        Self {
            visitors,
            late: 0,
            never: 0,
            exact_ms: None,
            seconds: change.since.elapsed().as_secs_f64(),
            received: each(traffic.received),
            received_bytes: each(traffic.received_bytes),
            sent: each(traffic.sent),
            sent_bytes: each(traffic.sent_bytes),
        }
    }

    fn summary(&self) -> String {
        let Self { visitors, late, never, exact_ms, received, received_bytes, sent, sent_bytes, .. } = self;
        let mut out = format!(
            "{visitors} visitors, each received {received:.1} messages ({received_bytes:.0} bytes) and sent {sent:.1} ({sent_bytes:.0} bytes)"
        );
        if let Some(Latency { p50, p95, max, .. }) = exact_ms {
            let _ = write!(
                out,
                "; exact count after p50 {p50:.0}, p95 {p95:.0}, max {max:.0} ms, {late} late, {never} never"
            );
        }
        out
    }
}

impl Report {
    /// Of a run that ended.
    pub fn new(
        flags: &Flags,
        page: PageAddress,
        stages: Stages,
        memory: Option<Memory>,
        errors: BTreeMap<String, u64>,
        closed: u64,
    ) -> Self {
        let all = flags.holders + flags.readers;
        let late = stages.came.late + stages.went.as_ref().map_or(0, |went| went.late);
        let exact = errors.is_empty() && closed == 0 && late == 0 && stages.came.visitors == all;
        let (hosts, holders, readers) = (flags.hosts.len(), flags.holders, flags.readers);
        Self { page, hosts, holders, readers, stages, errors, closed, memory, exact }
    }

    /// As a table for people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<12} {value}");
        };
        row("page", format!("{}: {} holders, {} readers, {} hosts", self.page, self.holders, self.readers, self.hosts));
        let Stages { came, stayed, went } = &self.stages;
        row("came", came.summary());
        row("stayed", format!("{:.1} s: {}", stayed.seconds, stayed.summary()));
        if let Some(went) = went {
            row("went", went.summary());
        }
        for (error, times) in &self.errors {
            row("failed", format!("{times} times: {error}"));
        }
        if let Some(Memory { before_kb, with_kb, after_kb, kb_each }) = self.memory {
            row(
                "memory",
                format!(
                    "{before_kb} kB before, {with_kb} kB with the visitors, {after_kb} kB after; {kb_each:.2} kB each"
                ),
            );
        }
        row("exact", if self.exact { "yes".into() } else { "NO".into() });
        out
    }
}
