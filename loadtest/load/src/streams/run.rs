//! A run: connect, settle, warm up, measure, drain.
use super::clients::{Clients, Counts};
use super::plan::Plan;
use super::report::Report;
use crate::progress::{PROGRESS_INTERVAL, Progress};
use crate::window::{Snapshot, Totals, Window};
use std::time::{Duration, Instant};

/// The time between connecting and the first message: some servers answer the handshake before they subscribe.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// The longest wait for the network, after which publishers send what is due.
const POLL_TIMEOUT: Duration = Duration::from_millis(1);

/// Runs a load to its end.
pub fn run(plan: &Plan) -> anyhow::Result<Report> {
    plan.check()?;
    let mut clients = Clients::connect(plan)?;
    let mut ticker = Ticker::new();
    poll_until(&mut clients, &mut ticker, Instant::now() + SETTLE_TIME)?;
    let began = Instant::now();
    let warm = began + Duration::from_secs_f64(plan.durations.warm_up);
    publish_until(&mut clients, &mut ticker, began, warm)?;
    let from = snapshot(plan, &clients)?;
    clients.measuring = true;
    let end = from.at() + Duration::from_secs_f64(plan.durations.seconds);
    publish_until(&mut clients, &mut ticker, began, end)?;
    let to = snapshot(plan, &clients)?;
    clients.measuring = false;
    let end = Instant::now() + Duration::from_secs_f64(plan.durations.drain);
    while clients.missing() > 0 && Instant::now() < end {
        poll_until(&mut clients, &mut ticker, Instant::now() + POLL_TIMEOUT)?;
    }
    // Duplicates and extra messages have time to arrive.
    poll_until(&mut clients, &mut ticker, Instant::now() + SETTLE_TIME)?;
    ticker.progress.clear();
    Ok(Report::new(plan, &clients, Window::between(&from, &to, &plan.endpoints.pids)?))
}

fn publish_until(clients: &mut Clients<'_>, ticker: &mut Ticker, began: Instant, end: Instant) -> anyhow::Result<()> {
    while Instant::now() < end {
        clients.publish(began);
        clients.poll(POLL_TIMEOUT)?;
        ticker.show(clients);
    }
    Ok(())
}

fn poll_until(clients: &mut Clients<'_>, ticker: &mut Ticker, end: Instant) -> anyhow::Result<()> {
    while Instant::now() < end {
        clients.poll(POLL_TIMEOUT)?;
        ticker.show(clients);
    }
    Ok(())
}

fn snapshot(plan: &Plan, clients: &Clients<'_>) -> anyhow::Result<Snapshot> {
    let Counts { delivered, bytes, .. } = clients.counts;
    Snapshot::take(&plan.endpoints.pids, Totals { sent: clients.sent(), delivered, bytes })
}

/// Progress that is shown once per interval.
struct Ticker {
    progress: Progress,
    next: Instant,
}

impl Ticker {
    fn new() -> Self {
        Self { progress: Progress::new(), next: Instant::now() + PROGRESS_INTERVAL }
    }

    fn show(&mut self, clients: &Clients<'_>) {
        if Instant::now() >= self.next {
            self.next += PROGRESS_INTERVAL;
            self.progress.show(clients.sent(), clients.counts.delivered, "");
        }
    }
}
