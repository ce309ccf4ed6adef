//! What came of it.
use super::Flags;
use super::visitors::{Crowd, Tally};
use crate::usage::Latency;
use hdrhistogram::Histogram;
use parley_cli::page::address::Address;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use tokio::time::Instant;

/// A run's result, as JSON and as a table.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    page: Address,
    hosts: usize,
    holders: usize,
    readers: usize,
    /// From the first who came until all knew.
    came: Told,
    /// Afterwards, while nobody came or went.
    stayed: Told,
    /// After some left.
    #[serde(skip_serializing_if = "Option::is_none")]
    went: Option<Told>,
    /// Who did not come, or was refused something, by what was said.
    errors: BTreeMap<String, u64>,
    /// Visitors that the service ended or lost.
    closed: u64,
    memory: Option<Memory>,
    /// Nobody was refused, lost or late, and all knew exactly how many they are.
    pub exact: bool,
}

/// What visitors were told, and when they knew.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// Who were there.
    visitors: usize,
    /// Who knew too late, or never.
    late: usize,
    never: usize,
    /// From the last change until each knew how many there are.
    exact_ms: Option<Latency>,
    seconds: f64,
    /// Of each visitor.
    heard: f64,
    heard_bytes: f64,
    said: f64,
    said_bytes: f64,
}

/// The server's, in kB.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    before_kb: u64,
    with_kb: u64,
    after_kb: u64,
    kb_each: f64,
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
impl Memory {
    /// With so many visitors at once.
    pub fn new(before_kb: u64, with_kb: u64, after_kb: u64, most: usize) -> Self {
        let kb_each = with_kb.saturating_sub(before_kb) as f64 / most.max(1) as f64;
        Self { before_kb, with_kb, after_kb, kb_each }
    }
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
impl Told {
    /// Since a change, after which there are so many.
    pub fn of(crowd: &Crowd, expected: (usize, usize), since: Instant, late: Duration, before: Tally) -> Self {
        let knowing: Vec<_> = crowd.knowing(expected).collect();
        let mut told = Self::idle(since.elapsed(), crowd.tally() - before, knowing.len());
        let Ok(mut times) = Histogram::<u64>::new_with_bounds(1_000, 600_000_000_000, 3) else { return told };
        for known in &knowing {
            let Some(known) = known.map(|known| known.saturating_duration_since(since)) else {
                (told.never, told.late) = (told.never + 1, told.late + 1);
                continue;
            };
            told.late += usize::from(known > late);
            times.saturating_record(u64::try_from(known.as_nanos()).unwrap_or(u64::MAX));
        }
        told.exact_ms = Some(Latency::of(&times));
        told
    }

    /// For a time in which nothing changed.
    pub fn idle(time: Duration, tally: Tally, visitors: usize) -> Self {
        let each = |all: u64| all as f64 / visitors.max(1) as f64;
        Self {
            visitors,
            late: 0,
            never: 0,
            exact_ms: None,
            seconds: time.as_secs_f64(),
            heard: each(tally.heard),
            heard_bytes: each(tally.heard_bytes),
            said: each(tally.said),
            said_bytes: each(tally.said_bytes),
        }
    }

    fn said(&self) -> String {
        let Self { visitors, late, never, exact_ms, heard, heard_bytes, said, said_bytes, .. } = self;
        let mut out = format!(
            "{visitors} visitors, each heard {heard:.1} messages ({heard_bytes:.0} bytes) and said {said:.1} ({said_bytes:.0} bytes)"
        );
        if let Some(Latency { p50, p95, max, .. }) = exact_ms {
            let _ = write!(
                out,
                "; knew exactly after p50 {p50:.0}, p95 {p95:.0}, most {max:.0} ms, {late} late, {never} never"
            );
        }
        out
    }
}

impl Report {
    /// Of a run that ended.
    pub fn new(
        flags: &Flags,
        page: Address,
        [came, stayed]: [Told; 2],
        went: Option<Told>,
        memory: Option<Memory>,
        errors: BTreeMap<String, u64>,
        closed: u64,
    ) -> Self {
        let all = flags.holders + flags.readers;
        let late = came.late + went.as_ref().map_or(0, |went| went.late);
        let exact = errors.is_empty() && closed == 0 && late == 0 && came.visitors == all;
        let (hosts, holders, readers) = (flags.hosts.len(), flags.holders, flags.readers);
        Self { page, hosts, holders, readers, came, stayed, went, errors, closed, memory, exact }
    }

    /// For people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<12} {value}");
        };
        row("page", format!("{}: {} holders, {} readers, {} hosts", self.page, self.holders, self.readers, self.hosts));
        row("came", self.came.said());
        row("stayed", format!("{:.1} s: {}", self.stayed.seconds, self.stayed.said()));
        if let Some(went) = &self.went {
            row("went", went.said());
        }
        for (why, times) in &self.errors {
            row("failed", format!("{times} times: {why}"));
        }
        if let Some(Memory { before_kb, with_kb, after_kb, kb_each }) = self.memory {
            row(
                "memory",
                format!("{before_kb} kB before, {with_kb} kB with them, {after_kb} kB after; {kb_each:.2} kB each"),
            );
        }
        row("exact", if self.exact { "yes".into() } else { "NO".into() });
        out
    }
}
