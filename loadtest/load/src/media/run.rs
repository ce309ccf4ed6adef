//! A run: join, warm up, measure, drain. Ctrl-C ends it early, and what there is by then is reported.
use super::clients::Cast;
use super::plan::Plan;
use super::receiver::Counts;
use super::report::Report;
use super::source::Source;
use crate::{process, runtime};
use parley_cli::media::Boxed;
use std::future::Future;
use std::io::{IsTerminal, Write};
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

/// Whoever joined and has not seen a frame of each broadcast by then has not seen one in time.
const FIRST_FRAMES: Duration = Duration::from_secs(15);
/// Between two looks whether everybody has.
const LOOK: Duration = Duration::from_millis(20);
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// What was so at one moment; two of them make a measurement.
pub struct Mark {
    /// When.
    pub at: Instant,
    /// Processor seconds of the generator.
    pub own_cpu: f64,
    /// Processor seconds of the relays' processes.
    pub server_cpu: f64,
    /// Frames that came.
    pub counts: Counts,
}

/// Runs a load to its end.
pub fn run(plan: &Plan) -> anyhow::Result<Report> {
    plan.check()?;
    let source = match plan.content.audio {
        true => Source::audio(),
        false => Source::video(plan.content.file.as_deref())?,
    };
    runtime::block_on(play(plan, source))
}

fn play(plan: &Plan, source: Source) -> Boxed<'_, anyhow::Result<Report>> {
    Box::pin(async move {
        let mut interrupt = pin!(tokio::signal::ctrl_c());
        let rate = source.rate();
        let mut cast = Cast::join(plan, source).await?;
        let mut progress = Progress::new();
        let mut from = mark(plan, &cast)?;
        let warm = progress.during(&cast, warm_up(plan, &cast), interrupt.as_mut()).await;
        let mut went_on = warm.transpose()?.is_some();
        if went_on {
            cast.measure();
            from = mark(plan, &cast)?;
            let measured = tokio::time::sleep(Duration::from_secs_f64(plan.times.seconds));
            went_on = progress.during(&cast, measured, interrupt.as_mut()).await.is_some();
        }
        let to = mark(plan, &cast)?;
        let latency = cast.latency()?;
        progress.clear();
        cast.end(Duration::from_secs_f64(plan.times.drain)).await;
        let report = Report::new(plan, &cast, rate, (&from, &to), &latency, !went_on)?;
        cast.leave().await;
        Ok(report)
    })
}

/// Until everybody watches, and a little longer; fails where somebody is not let in.
async fn warm_up(plan: &Plan, cast: &Cast) -> anyhow::Result<()> {
    let end = Instant::now() + FIRST_FRAMES;
    while !cast.all_watch() && Instant::now() < end {
        cast.all_are_in().await?;
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(Duration::from_secs_f64(plan.times.warm_up)).await;
    Ok(())
}

fn mark(plan: &Plan, cast: &Cast) -> anyhow::Result<Mark> {
    let mut server_cpu = 0.0;
    for pid in &plan.place.pids {
        server_cpu += process::cpu(*pid)?;
    }
    Ok(Mark { at: Instant::now(), own_cpu: process::cpu(std::process::id())?, server_cpu, counts: cast.counts() })
}

/// A line on a terminal that is written over each second.
struct Progress {
    shown: bool,
    delivered: u64,
}

impl Progress {
    fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal(), delivered: 0 }
    }

    /// Shows how it goes until something is done; `None`: Ctrl-C came before.
    async fn during<D: Future, I: Future>(
        &mut self,
        cast: &Cast,
        done: D,
        mut interrupt: Pin<&mut I>,
    ) -> Option<D::Output> {
        let mut done = pin!(done);
        let mut seconds = tokio::time::interval(PROGRESS);
        loop {
            tokio::select! {
                outcome = &mut done => return Some(outcome),
                _ = &mut interrupt => return None,
                _ = seconds.tick() => self.show(cast),
            }
        }
    }

    fn show(&mut self, cast: &Cast) {
        if !self.shown {
            return;
        }
        let Counts { delivered, skipped_groups, freezes, .. } = cast.counts();
        let (sent, each) = (cast.sent(), delivered - self.delivered);
        eprint!(
            "\r\x1b[Ksent {sent}, delivered {delivered}, {each} a second, {skipped_groups} groups skipped, {freezes} freezes"
        );
        let _ = std::io::stderr().flush();
        self.delivered = delivered;
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
