//! A run: connect, warm up, measure, drain. Ctrl-C ends it early, with a report of what was measured until then.
use super::clients::Clients;
use super::plan::Plan;
use super::receiver::Counts;
use super::report::{Measured, Report};
use super::source::Source;
use crate::progress::{PROGRESS_INTERVAL, Progress};
use crate::runtime;
use crate::window::{Snapshot, Totals, Window, unix_ms};
use parley_cli::BoxFuture;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

/// The longest wait until each watcher has received a frame of each of its broadcasts.
const FIRST_FRAMES_TIMEOUT: Duration = Duration::from_secs(15);
/// The time between two checks whether they have.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Runs a load to its end.
pub fn run(plan: &Plan) -> anyhow::Result<Report> {
    plan.check()?;
    let source = match plan.content.audio {
        true => Source::default_audio(),
        false => match plan.content.test_video() {
            Some(video) => Source::test_video(video)?,
            None => Source::video(plan.content.file.as_deref())?,
        },
    };
    runtime::block_on(measure(plan, source))
}

fn measure(plan: &Plan, source: Source) -> BoxFuture<'_, anyhow::Result<Report>> {
    Box::pin(async move {
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        let rate = source.bytes_per_second();
        let mut clients = Clients::connect(plan, source).await?;
        let mut progress = Progress::new();
        let mut from = snapshot(plan, &clients)?;
        let mut began_ms = unix_ms();
        let warm = show_during(&mut progress, &clients, warm_up(plan, &clients), interrupt.as_mut()).await;
        let mut complete = warm.transpose()?.is_some();
        if complete {
            clients.start_measurement();
            from = snapshot(plan, &clients)?;
            began_ms = unix_ms();
            let measured = tokio::time::sleep(Duration::from_secs_f64(plan.durations.seconds));
            complete = show_during(&mut progress, &clients, measured, interrupt.as_mut()).await.is_some();
        }
        let to = snapshot(plan, &clients)?;
        let measured =
            Measured { began_ms, ended_ms: unix_ms(), latency: clients.latency()?, paths: clients.paths()?.report() };
        progress.clear();
        clients.finish(Duration::from_secs_f64(plan.durations.drain)).await;
        let window = Window::between(&from, &to, &plan.endpoints.pids)?;
        let report = Report::new(plan, &clients, rate, window, measured, !complete)?;
        clients.close().await;
        Ok(report)
    })
}

/// Waits until all watchers receive frames, and for the duration of the warm-up. Fails where a relay refuses a session.
async fn warm_up(plan: &Plan, clients: &Clients) -> anyhow::Result<()> {
    let end = Instant::now() + FIRST_FRAMES_TIMEOUT;
    while !clients.all_receive() && Instant::now() < end {
        clients.check_connected().await?;
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    tokio::time::sleep(Duration::from_secs_f64(plan.durations.warm_up)).await;
    Ok(())
}

fn snapshot(plan: &Plan, clients: &Clients) -> anyhow::Result<Snapshot> {
    let Counts { delivered, bytes, .. } = clients.counts();
    Snapshot::take(&plan.endpoints.pids, Totals { sent: clients.sent(), delivered, bytes })
}

/// Shows progress until `work` is done. `None`: Ctrl-C interrupted it.
async fn show_during<W: Future, I: Future>(
    progress: &mut Progress,
    clients: &Clients,
    work: W,
    mut interrupt: Pin<&mut I>,
) -> Option<W::Output> {
    let mut work = pin!(work);
    let mut interval = tokio::time::interval(PROGRESS_INTERVAL);
    loop {
        tokio::select! {
            outcome = &mut work => return Some(outcome),
            _ = &mut interrupt => return None,
            _ = interval.tick() => {
                let Counts { delivered, skipped_groups, freezes, .. } = clients.counts();
                let more = format!(", {skipped_groups} groups skipped, {freezes} freezes");
                progress.show(clients.sent(), delivered, &more);
            }
        }
    }
}
