//! `parley stream`: topics from the command line. Rules cited as `STR-n` are those of `services/relay/STREAMS.md`.
//!
//! | module | what |
//! |---|---|
//! | [`publish`], [`subscribe`], [`stats`], [`token`] | one command each |
//! | [`link`] | a socket that is opened again when it is lost. **What can be cured, and how, is [`crate::ending`]** |
//! | [`door`] | how a token gets in |
//! | [`cut`] | what of the input becomes one message |
mod cut;
mod door;
mod link;
mod publish;
mod stats;
mod subscribe;
mod token;

use crate::exit::Exit;
use std::process::ExitCode;

/// Publishes to topics, hears them, watches a relay, makes tokens.
#[derive(Debug, clap::Subcommand)]
pub enum Stream {
    /// Publish standard input to a topic
    Pub(publish::Flags),
    /// Write what a topic hears to standard output
    Sub(subscribe::Flags),
    /// Show who is on a relay's topics, and what passes
    Stats(stats::Flags),
    /// Sign a token for trying a relay out
    Token(token::Flags),
}

impl Stream {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let exit = match self {
            Stream::Pub(flags) => runtime.block_on(flags.run()),
            Stream::Sub(flags) => runtime.block_on(flags.run()),
            Stream::Stats(flags) => runtime.block_on(flags.run()),
            Stream::Token(flags) => flags.run().map(|()| Exit::Done),
        };
        // A thread that reads standard input cannot be told to stop.
        runtime.shutdown_background();
        exit.map(ExitCode::from)
    }
}
