//! `parley load room`: people of one room in one process. Each is admitted over HTTP, keeps a WebSocket to the service, and publishes and
//! receives through the relay that the service names, over a QUIC connection of its own.
//!
//! | module | what |
//! |---|---|
//! | [`plan`] | how many, what they send, whom they see and hear |
//! | [`participants`] | all of them: joined, connected, at work |
//! | [`run`] | a run: join, warm up, measure, drain |
//! | [`report`] | what came of it |
//!
//! Frames are made, sent and judged as by [`super::media`].
mod participants;
mod plan;
mod report;
mod run;

use crate::exit::Exit;
use crate::output::Output;
use plan::Plan;

/// Fills a room with people who publish and receive, and reports what became of each frame.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    output: Output,
}

impl Flags {
    /// Runs the load; fails where a frame did not reach whoever sees or hears it once, whole and in order.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = match run::run(&self.plan)? {
            Ok(report) => report,
            Err(ending) => {
                eprintln!("parley-load: {}", ending.why());
                return Ok(Exit::from(&ending));
            }
        };
        self.output.say(&report.table());
        self.output.write(&report)?;
        Ok(report.verdict())
    }
}
