//! `parley-load media`: publishers and watchers over QUIC, each with its own session, on one thread.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | who publishes, who watches whom, at which relay |
//! | [`source`] | encoded video, or audio |
//! | [`dial`] | sessions with relays |
//! | [`clients`] | all clients, each with a session |
//! | [`tracks`] | publishing and watching a track |
//! | [`delays`] | of the frames of a track |
//! | [`path`] | from where to where frames went |
//! | [`receiver`] | what a watcher received. **Every frame is verified in [`receiver`]** |
//! | [`run`] | a run: connect, warm up, measure, drain |
//! | [`report`] | the result |
mod clients;
mod delays;
pub mod dial;
mod path;
mod plan;
pub mod receiver;
mod report;
mod run;
pub mod source;
pub mod tracks;

use crate::output::Output;
use parley_cli::Exit;
use plan::Plan;

/// Publishes media to relays, watches it, and reports what became of each frame.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    output: Output,
}

impl Flags {
    /// Runs the load. Not exact where a watcher did not receive each frame once, unchanged and in order.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = run::run(&self.plan)?;
        self.output.report(&report.table(), &report)?;
        Ok(report.exit())
    }
}
