//! `parley-load room`: participants of one room in one process. Each joins over HTTP, keeps a WebSocket to the service, and publishes and
//! watches through the relay that the service names, over its own QUIC connection.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | how many participants there are, what they publish, whom they watch |
//! | [`participants`] | all participants: joined, connected, publishing and watching |
//! | [`run`] | a run: join, warm up, measure, drain |
//! | [`window`], [`report`] | the measured window; the result |
//!
//! [`crate::media`] makes, sends and verifies the frames.
mod participants;
mod plan;
mod report;
mod run;
mod window;

use crate::output::Output;
use parley_cli::Exit;
use plan::Plan;

/// Fills a room with participants who publish and watch, and reports what became of each frame.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    output: Output,
}

impl Flags {
    /// Runs the load. Not exact where a participant did not receive each frame that it watches once, unchanged and in order.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = match run::run(&self.plan)? {
            Ok(report) => report,
            Err(end) => {
                eprintln!("parley-load: {}", end.reason());
                return Ok(end.exit());
            }
        };
        self.output.report(&report.table(), &report)?;
        Ok(report.exit())
    }
}
