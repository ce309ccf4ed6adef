//! `parley bench`: the loads that Parley is measured with, by name.
mod streams;

use std::process::ExitCode;

/// Measures a server with the loads that Parley is measured with.
#[derive(Debug, clap::Subcommand)]
pub enum Bench {
    /// Video to many, small messages and large ones
    Streams(streams::Flags),
}

impl Bench {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Bench::Streams(flags) => flags.run(),
        }
    }
}
