//! `parley stream`: topics of the stream relay. Rules cited as `STR-n` are those of `services/relay/STREAMS.md`.
//!
//! | module | content |
//! |---|---|
//! | [`publish`], [`subscribe`], [`stats`], [`token`] | one command each |
//! | [`link`] | a socket that is reopened when it is lost; **[`crate::ending`] decides whether it is** |
//! | [`credentials`] | how a token is sent |
//! | [`framing`] | divides the input into messages |
mod credentials;
mod framing;
mod link;
mod publish;
mod stats;
mod subscribe;
mod token;

use crate::exit::Exit;
use std::process::ExitCode;

/// Publishes and subscribes to topics, shows the statistics of a relay, signs tokens.
#[derive(Debug, clap::Subcommand)]
pub enum Stream {
    /// Publish standard input to a topic
    Pub(publish::Flags),
    /// Write the messages of a topic to standard output
    Sub(subscribe::Flags),
    /// Show the clients of a relay and their traffic
    Stats(stats::Flags),
    /// Sign a token to try a relay out
    Token(token::Flags),
}

impl Stream {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let exit = match self {
            Stream::Pub(flags) => runtime.block_on(flags.run()),
            Stream::Sub(flags) => runtime.block_on(flags.run()),
            Stream::Stats(flags) => runtime.block_on(flags.run()),
            Stream::Token(flags) => flags.run().map(|()| Exit::Done),
        };
        // The thread that reads standard input cannot be stopped.
        runtime.shutdown_background();
        exit.map(ExitCode::from)
    }
}
