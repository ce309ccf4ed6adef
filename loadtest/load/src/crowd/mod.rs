//! `parley-load crowd`: participants who join, hold their sockets, and come back as the same participants when these are lost. They send no
//! messages: the load measures admission and resumes.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | who arrives when, in which room, at which edge |
//! | [`person`] | one participant, from its join to its leave |
//! | [`admission`] | the request for a ticket, over a connection of its own |
//! | [`socket`] | one socket: its first message, and what the service says on it |
//! | [`tally`] | what all participants together experienced |
//! | [`report`] | the result |
mod admission;
mod person;
mod plan;
mod report;
mod socket;
mod tally;

use crate::durations::VoidAbove;
use crate::output::Output;
use crate::{process, runtime};
use anyhow::Context;
use parking_lot::Mutex;
use parley_cli::Exit;
use person::Person;
use plan::{Edge, Plan};
use report::Report;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tally::{Present, Tally};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

/// Lets a crowd join, hold its sockets and come back, and reports how soon each participant was back.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// http://HOST:PORT; several for several edges, over which participants are spread
    #[arg(value_name = "HOST", required = true, value_parser = Edge::parse)]
    edges: Vec<Edge>,
    /// How many participants
    #[arg(long, default_value_t = 1000, value_name = "N")]
    people: usize,
    /// How many of them share a room
    #[arg(long, default_value_t = 4, value_name = "N")]
    call_size: usize,
    /// All of them open this room instead
    #[arg(long, value_name = "ROOM", conflicts_with = "call_size")]
    room: Option<String>,
    /// When the first one arrives: Unix time in ms [now]
    #[arg(long, value_name = "MS")]
    begin_at: Option<u64>,
    /// The time from the first arrival to the last
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    arrive: f64,
    /// When all leave, counted from the first arrival
    #[arg(long = "until", default_value_t = 30.0, value_name = "SECONDS")]
    until: f64,
    /// When all lose their sockets at the same moment, counted from the first arrival
    #[arg(long, value_name = "SECONDS")]
    drop_at: Option<f64>,
    #[command(flatten)]
    void_above: VoidAbove,
    #[command(flatten)]
    output: Output,
}

/// The interval of the timer whose lateness shows how busy the generator is.
const TICK: Duration = Duration::from_millis(20);
/// The time between two lines about progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// How long a participant may take to leave.
const LEAVE_TIME: Duration = Duration::from_secs(3);

/// A line about progress.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    at_ms: u64,
    #[serde(flatten)]
    present: Present,
}

impl Flags {
    /// Runs the load. Not exact where a participant was lost, or an error occurred that no retry cures.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = runtime::block_on(self.measure())?;
        self.output.report(&report.table(), &report)?;
        Ok(Exit::of_load(report.exact, report.void))
    }

    async fn measure(&self) -> anyhow::Result<Report> {
        let plan = Arc::new(Plan::new(self, began(self.begin_at)?)?);
        let tally = Arc::new(Mutex::new(Tally::new()?));
        let mut people = JoinSet::new();
        for number in 0..self.people {
            let mut person = Person::new(number, plan.clone(), tally.clone());
            people.spawn(async move { person.attend().await });
        }
        sleep_until(plan.began).await;
        let cpu = process::own_cpu()?;
        tokio::join!(watch_lateness(&plan, &tally), self.print_progress(&plan, &tally));
        let (present, seconds) = (tally.lock().present(), plan.began.elapsed().as_secs_f64());
        let cpu = process::own_cpu()? - cpu;
        let _late = tokio::time::timeout(LEAVE_TIME, async { while people.join_next().await.is_some() {} }).await;
        Ok(Report::new(self, &tally.lock(), present, cpu, seconds))
    }

    /// Prints how many are in their rooms, for a program that reads JSON.
    async fn print_progress(&self, plan: &Plan, tally: &Mutex<Tally>) {
        let mut at = plan.began;
        while at < plan.leave_at {
            sleep_until(at).await;
            let at_ms = u64::try_from(plan.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let progress = Progress { at_ms, present: tally.lock().present() };
            self.output.line(&progress);
            at += PROGRESS_INTERVAL;
        }
        sleep_until(plan.leave_at).await;
    }
}

/// Measures how late the timers of this process are, until all leave.
async fn watch_lateness(plan: &Plan, tally: &Mutex<Tally>) {
    let mut ticks = interval_at(plan.began, TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let due = ticks.tick().await;
        tally.lock().late(due.elapsed());
        if Instant::now() >= plan.leave_at {
            return;
        }
    }
}

/// The moment at which the first participant arrives.
fn began(unix_ms: Option<u64>) -> anyhow::Result<Instant> {
    let Some(unix_ms) = unix_ms else { return Ok(Instant::now()) };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let ahead = Duration::from_millis(unix_ms).checked_sub(now).context("--begin-at is in the past")?;
    Ok(Instant::now() + ahead)
}
