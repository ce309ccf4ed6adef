//! `parley-load streams`: topics with one publisher and some readers each, on one thread.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | what to send |
//! | [`clients`] | publishers and readers, and the loop that drives their sockets. **Deliveries are verified in [`clients`]** |
//! | [`run`] | a run: connect, warm up, measure, drain |
//! | [`report`] | the result |
mod clients;
pub mod plan;
mod report;
mod run;

pub use plan::Plan;
pub use report::Report;
pub use run::run;

use crate::output::Output;
use parley_cli::Exit;

/// Publishes to stream topics, reads them, and reports what became of each message.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    output: Output,
}

impl Flags {
    /// Runs the load. Not exact where a reader did not receive each message once, unchanged and in order.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = run(&self.plan)?;
        self.output.report(&report.table(), &report)?;
        Ok(report.exit())
    }
}
