//! A run: connect, settle, warm up, measure, drain.
use super::clients::{Counts, Crowd};
use super::plan::Plan;
use super::report::Report;
use crate::process;
use crate::usage::Server;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Between connecting and the first message: some servers answer the handshake before they subscribe.
const SETTLE: Duration = Duration::from_millis(500);
/// The longest wait for the network: publishers are looked after that often.
const TURN: Duration = Duration::from_millis(1);
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// What was so at one moment; two of them make a measurement.
pub struct Mark {
    /// When.
    pub at: Instant,
    /// Processor seconds of the generator.
    pub own_cpu: f64,
    /// Processor seconds of the server's processes.
    pub server_cpu: f64,
    /// Messages made.
    pub sent: u64,
    /// Deliveries.
    pub counts: Counts,
}

/// Runs a load to its end.
pub fn run(plan: &Plan) -> anyhow::Result<Report> {
    plan.check()?;
    let mut crowd = Crowd::connect(plan)?;
    let mut progress = Progress::new();
    turn_until(&mut crowd, &mut progress, Instant::now() + SETTLE)?;
    let began = Instant::now();
    publish_until(&mut crowd, &mut progress, began, began + Duration::from_secs_f64(plan.times.warm_up))?;
    let from = mark(plan, &crowd)?;
    crowd.measures = true;
    publish_until(&mut crowd, &mut progress, began, from.at + Duration::from_secs_f64(plan.times.seconds))?;
    let to = mark(plan, &crowd)?;
    crowd.measures = false;
    let end = Instant::now() + Duration::from_secs_f64(plan.times.drain);
    while crowd.missing() > 0 && Instant::now() < end {
        turn_until(&mut crowd, &mut progress, Instant::now() + TURN)?;
    }
    // What should not come has a moment to come.
    turn_until(&mut crowd, &mut progress, Instant::now() + SETTLE)?;
    progress.clear();
    Ok(Report::new(plan, &crowd, (&from, &to), server(plan, &from, &to)?))
}

fn publish_until(crowd: &mut Crowd<'_>, progress: &mut Progress, began: Instant, end: Instant) -> anyhow::Result<()> {
    while Instant::now() < end {
        crowd.publish(began);
        crowd.turn(TURN)?;
        progress.show(crowd);
    }
    Ok(())
}

fn turn_until(crowd: &mut Crowd<'_>, progress: &mut Progress, end: Instant) -> anyhow::Result<()> {
    while Instant::now() < end {
        crowd.turn(TURN)?;
        progress.show(crowd);
    }
    Ok(())
}

fn mark(plan: &Plan, crowd: &Crowd<'_>) -> anyhow::Result<Mark> {
    let mut server_cpu = 0.0;
    for pid in &plan.place.pids {
        server_cpu += process::cpu(*pid)?;
    }
    let own_cpu = process::cpu(std::process::id())?;
    Ok(Mark { at: Instant::now(), own_cpu, server_cpu, sent: crowd.sent(), counts: crowd.counts })
}

fn server(plan: &Plan, from: &Mark, to: &Mark) -> anyhow::Result<Option<Server>> {
    let (delivered, bytes) = (to.counts.delivered - from.counts.delivered, to.counts.bytes - from.counts.bytes);
    Server::of(&plan.place.pids, to.server_cpu - from.server_cpu, delivered, bytes)
}

/// A line on a terminal that is written over each second.
struct Progress {
    shown: bool,
    next: Instant,
    delivered: u64,
}

impl Progress {
    fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal(), next: Instant::now() + PROGRESS, delivered: 0 }
    }

    fn show(&mut self, crowd: &Crowd<'_>) {
        if !self.shown || Instant::now() < self.next {
            return;
        }
        self.next += PROGRESS;
        let (delivered, sent) = (crowd.counts.delivered, crowd.sent());
        eprint!("\r\x1b[Ksent {sent}, delivered {delivered}, {} a second", delivered - self.delivered);
        let _ = std::io::stderr().flush();
        self.delivered = delivered;
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
