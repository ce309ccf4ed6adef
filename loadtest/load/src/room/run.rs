//! A run: join, warm up, measure, drain. Ctrl-C ends it early, and what there is by then is reported.
use super::participants::Crowd;
use super::plan::Plan;
use super::report::Report;
use crate::media::receiver::Counts;
use crate::media::source::Source;
use crate::{process, runtime};
use hdrhistogram::Histogram;
use parley_cli::ending::Ending;
use parley_cli::media::Boxed;
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, sleep, timeout};

/// Who does not see and hear everybody by then is late.
pub const LATE: Duration = Duration::from_secs(5);
/// Between two looks whether all do.
const LOOK: Duration = Duration::from_millis(20);
/// Between two looks at round trips.
const ROUND_TRIPS: Duration = Duration::from_millis(500);

/// What was measured between two moments.
pub struct Window {
    /// Unix milliseconds.
    pub began_ms: u128,
    /// Unix milliseconds.
    pub ended_ms: u128,
    /// Processor seconds of the generator.
    pub own_cpu: f64,
    /// Frames that came.
    pub counts: Counts,
    /// Smoothed round trips of all sessions, in nanoseconds, each looked at again and again.
    pub round_trips: Histogram<u64>,
    /// From making to arrival, in nanoseconds.
    pub delay: Histogram<u64>,
    /// People who did not see and hear everybody in time.
    pub late: usize,
    /// Ended by Ctrl-C.
    pub interrupted: bool,
}

/// Runs a load to its end, or says why the room was not entered.
pub fn run(plan: &Plan) -> anyhow::Result<Result<Report, Ending>> {
    plan.check()?;
    let picture = Source::picture(plan.shape.picture())?;
    runtime::block_on(play(plan, picture))
}

fn play(plan: &Plan, picture: Source) -> Boxed<'_, anyhow::Result<Result<Report, Ending>>> {
    Box::pin(async move {
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        let mut crowd = match Crowd::join(plan, picture).await? {
            Ok(crowd) => crowd,
            Err(ending) => return Ok(Err(ending)),
        };
        let complete = async {
            while !crowd.is_complete() {
                sleep(LOOK).await;
            }
        };
        let _some_are_late = timeout(LATE, complete).await;
        let late = crowd.members.iter().filter(|member| !member.is_complete()).count();
        tokio::select! {
            () = sleep(Duration::from_secs_f64(plan.warm_up)) => {}
            _ = &mut interrupt => {}
        }
        crowd.measure();
        let (began_ms, cpu) = (unix_ms(), process::cpu(std::process::id())?);
        let mut round_trips = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
        let end = Instant::now() + Duration::from_secs_f64(plan.seconds);
        let mut interrupted = false;
        while Instant::now() < end && !interrupted {
            tokio::select! {
                () = sleep(ROUND_TRIPS.min(end - Instant::now())) => {}
                _ = &mut interrupt => interrupted = true,
            }
            for member in &crowd.members {
                let rtt = member.connection.monitor().stats().and_then(|stats| stats.rtt).unwrap_or_default();
                round_trips.saturating_record(u64::try_from(rtt.as_nanos())?);
            }
        }
        let window = Window {
            began_ms,
            ended_ms: unix_ms(),
            own_cpu: process::cpu(std::process::id())? - cpu,
            counts: crowd.counts(),
            round_trips,
            delay: crowd.delay()?,
            late,
            interrupted,
        };
        crowd.end(Duration::from_secs_f64(plan.drain)).await;
        let report = Report::new(plan, &crowd, &window);
        crowd.leave().await;
        Ok(Ok(report))
    })
}

fn unix_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}
