//! `parley load media`: publishers and watchers over QUIC, each with a session of its own, on one thread of one processor.
//!
//! | module | what |
//! |---|---|
//! | [`plan`] | who publishes, who watches whom, where |
//! | [`source`] | encoded video, or audio |
//! | [`dial`] | sessions |
//! | [`clients`] | everybody, with a session each |
//! | [`tracks`] | publishing and watching |
//! | [`receiver`] | what a watcher got. **Frames are judged in [`receiver`]** |
//! | [`run`] | a run: join, warm up, measure, drain |
//! | [`report`] | what came of it |
mod clients;
pub mod dial;
mod plan;
pub mod receiver;
mod report;
mod run;
pub mod source;
pub mod tracks;

use crate::exit::Exit;
use crate::output::Output;
use plan::Plan;

/// Sends media and reports what became of each frame.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    output: Output,
}

impl Flags {
    /// Runs the load; fails where a frame did not reach a watcher once, whole and in order.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = run::run(&self.plan)?;
        self.output.say(&report.table());
        self.output.write(&report)?;
        Ok(report.verdict())
    }
}
