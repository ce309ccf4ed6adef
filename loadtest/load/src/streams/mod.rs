//! `parley load streams`: topics with one publisher and some readers each, on one thread of one processor.
//!
//! | module | what |
//! |---|---|
//! | [`plan`] | what is to be sent |
//! | [`clients`] | the sockets, and one turn of the loop. **Deliveries are judged in [`clients`]** |
//! | [`run`] | a run: connect, warm up, measure, drain |
//! | [`report`] | what came of it |
mod clients;
pub mod plan;
mod report;
mod run;

pub use plan::Plan;
pub use report::Report;
pub use run::run;

use crate::exit::Exit;
use crate::output::Output;

/// Sends a load and reports what became of each message.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    output: Output,
}

impl Flags {
    /// Runs the load; fails where a message was not delivered exactly once, whole and in order.
    pub fn run(self) -> anyhow::Result<Exit> {
        let report = run(&self.plan)?;
        self.output.say(&report.table());
        self.output.write(&report)?;
        Ok(report.verdict())
    }
}
