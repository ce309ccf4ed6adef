//! A run: join, warm up, measure, drain. Ctrl-C ends it early, with a report of what was measured until then.
use super::participants::Participants;
use super::plan::Plan;
use super::report::Report;
use super::window::Window;
use crate::media::source::Source;
use crate::window::unix_ms;
use crate::{process, runtime};
use hdrhistogram::Histogram;
use parley_cli::{BoxFuture, ConnectionEnd};
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// A participant that has not received a frame of each of its tracks by then, after the last one connected, is late.
const LATE_AFTER: Duration = Duration::from_secs(5);
/// The time between two checks whether all have.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The time between two samples of round-trip times.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);

/// Runs a load to its end. The inner error: why a participant could not join.
pub fn run(plan: &Plan) -> anyhow::Result<Result<Report, ConnectionEnd>> {
    plan.check()?;
    let video = Source::test_video(plan.shape.video())?;
    runtime::block_on(join_and_measure(plan, video))
}

fn join_and_measure(plan: &Plan, video: Source) -> BoxFuture<'_, anyhow::Result<Result<Report, ConnectionEnd>>> {
    Box::pin(async move {
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        let mut participants = match Participants::join(plan, video).await? {
            Ok(participants) => participants,
            Err(end) => return Ok(Err(end)),
        };
        let late = wait_for_tracks(&participants).await;
        let interrupted = tokio::select! {
            () = sleep(Duration::from_secs_f64(plan.warm_up)) => false,
            _ = &mut interrupt => true,
        };
        let window = measure(plan, &participants, interrupted, interrupt).await?;
        participants.finish(Duration::from_secs_f64(plan.drain)).await;
        let report = Report::new(plan, &participants, &window, late);
        participants.leave().await;
        Ok(Ok(report))
    })
}

/// Waits until all participants receive their tracks. Returns how many of them are late.
async fn wait_for_tracks(participants: &Participants) -> usize {
    let all_receive = async {
        while !participants.all_receive() {
            sleep(CHECK_INTERVAL).await;
        }
    };
    let _some_are_late = timeout(LATE_AFTER, all_receive).await;
    participants.all.iter().filter(|participant| !participant.receives_all()).count()
}

/// Measures until the end of the window. `interrupted`: whether Ctrl-C ended the warm-up, which leaves an empty window.
async fn measure<I: Future>(
    plan: &Plan,
    participants: &Participants,
    mut interrupted: bool,
    mut interrupt: Pin<&mut I>,
) -> anyhow::Result<Window> {
    participants.start_measurement();
    let (began_ms, began_cpu) = (unix_ms(), process::own_cpu()?);
    let mut round_trips = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
    let end = Instant::now() + Duration::from_secs_f64(plan.seconds);
    while Instant::now() < end && !interrupted {
        tokio::select! {
            () = sleep(SAMPLE_INTERVAL.min(end - Instant::now())) => {}
            _ = &mut interrupt => interrupted = true,
        }
        for participant in &participants.all {
            let rtt = participant.connection.monitor().stats().and_then(|stats| stats.rtt).unwrap_or_default();
            round_trips.saturating_record(u64::try_from(rtt.as_nanos())?);
        }
    }
    Ok(Window {
        began_ms,
        ended_ms: unix_ms(),
        own_cpu: process::own_cpu()? - began_cpu,
        counts: participants.counts(),
        round_trips,
        delay: participants.delay()?,
        interrupted,
    })
}
