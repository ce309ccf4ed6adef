//! A run: connect, settle, warm up, measure, drain.
use super::clients::{Clients, Counts};
use super::plan::Plan;
use super::report::Report;
use crate::window::{Snapshot, Totals, Window};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The time between connecting and the first message: some servers answer the handshake before they subscribe.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// The longest wait for the network, after which publishers send what is due.
const POLL_TIMEOUT: Duration = Duration::from_millis(1);
/// The time between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Runs a load to its end.
pub fn run(plan: &Plan) -> anyhow::Result<Report> {
    plan.check()?;
    let mut clients = Clients::connect(plan)?;
    let mut progress = Progress::new();
    poll_until(&mut clients, &mut progress, Instant::now() + SETTLE_TIME)?;
    let began = Instant::now();
    let warm = began + Duration::from_secs_f64(plan.durations.warm_up);
    publish_until(&mut clients, &mut progress, began, warm)?;
    let from = snapshot(plan, &clients)?;
    clients.measuring = true;
    let end = from.at() + Duration::from_secs_f64(plan.durations.seconds);
    publish_until(&mut clients, &mut progress, began, end)?;
    let to = snapshot(plan, &clients)?;
    clients.measuring = false;
    let end = Instant::now() + Duration::from_secs_f64(plan.durations.drain);
    while clients.missing() > 0 && Instant::now() < end {
        poll_until(&mut clients, &mut progress, Instant::now() + POLL_TIMEOUT)?;
    }
    // Duplicates and extra messages have time to arrive.
    poll_until(&mut clients, &mut progress, Instant::now() + SETTLE_TIME)?;
    progress.clear();
    Ok(Report::new(plan, &clients, Window::between(&from, &to, &plan.endpoints.pids)?))
}

fn publish_until(
    clients: &mut Clients<'_>,
    progress: &mut Progress,
    began: Instant,
    end: Instant,
) -> anyhow::Result<()> {
    while Instant::now() < end {
        clients.publish(began);
        clients.poll(POLL_TIMEOUT)?;
        progress.show(clients);
    }
    Ok(())
}

fn poll_until(clients: &mut Clients<'_>, progress: &mut Progress, end: Instant) -> anyhow::Result<()> {
    while Instant::now() < end {
        clients.poll(POLL_TIMEOUT)?;
        progress.show(clients);
    }
    Ok(())
}

fn snapshot(plan: &Plan, clients: &Clients<'_>) -> anyhow::Result<Snapshot> {
    let Counts { delivered, bytes, .. } = clients.counts;
    Snapshot::take(&plan.endpoints.pids, Totals { sent: clients.sent(), delivered, bytes })
}

/// A line on a terminal that is replaced each second.
struct Progress {
    shown: bool,
    next: Instant,
    delivered: u64,
}

impl Progress {
    fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal(), next: Instant::now() + PROGRESS_INTERVAL, delivered: 0 }
    }

    fn show(&mut self, clients: &Clients<'_>) {
        if !self.shown || Instant::now() < self.next {
            return;
        }
        self.next += PROGRESS_INTERVAL;
        let (delivered, sent) = (clients.counts.delivered, clients.sent());
        eprint!("\r\x1b[Ksent {sent}, delivered {delivered}, {} per second", delivered - self.delivered);
        let _ = std::io::stderr().flush();
        self.delivered = delivered;
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
