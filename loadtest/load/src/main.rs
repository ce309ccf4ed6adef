//! The `parley-load` command: generates load, checks every delivery and reports what arrived, how late, and what it cost the server.
//!
//! | module | content |
//! |---|---|
//! | [`streams`] | publishers and readers on topics; **every delivery is hashed and counted** |
//! | [`media`] | publishers and watchers of video or audio over QUIC; **every frame is hashed and counted** |
//! | [`room`] | participants of one room who join, publish and subscribe; **every frame is hashed and counted** |
//! | [`pages`] | visitors of one page: how soon each of them receives the exact count |
//! | [`crowd`] | participants who join, hold their sockets and come back: how soon each is back |
//! | [`sockets`], [`socket_pool`] | sockets that are idle, or that open and close |
//! | [`bench`] | the rows of `make bench-streams` |
//! | [`target`], [`socket`], [`frame`] | a WebSocket client with little overhead |
//! | [`payload`], [`sequence`] | what a message carries, and which messages a reader received |
//! | [`durations`], [`window`], [`latency`], [`usage`], [`process`] | the measured window: how long, rates, latency, processor time, memory |
//! | [`runtime`], [`output`], [`progress`] | how a load runs, where its report goes, and its progress |
mod bench;
mod crowd;
mod durations;
mod frame;
mod latency;
mod media;
mod output;
mod pages;
mod payload;
mod process;
mod progress;
mod room;
mod runtime;
mod sequence;
mod socket;
mod socket_pool;
mod sockets;
mod streams;
mod target;
mod usage;
mod window;

use clap::Parser;
use parley_cli::Exit;
use std::process::ExitCode;

/// Generates load against Parley, checks every delivery, and reports what arrived, how late, and what it cost the server.
#[derive(Debug, Parser)]
#[command(name = "parley-load", version, disable_help_subcommand = true)]
enum Command {
    /// Publishers and readers on stream topics
    Streams(streams::Flags),
    /// Publishers and watchers of video or audio on media relays, over QUIC
    Media(media::Flags),
    /// Participants of one room, through the service and its media relays
    Room(Box<room::Flags>),
    /// Visitors who hold one page or want it
    Pages(Box<pages::Flags>),
    /// Participants who join, hold their sockets, and come back when they lose them
    Crowd(Box<crowd::Flags>),
    /// Sockets that are idle, or that open and close
    Sockets(sockets::Flags),
    /// The rows of `make bench-streams`, one after the other
    Bench(bench::Flags),
}

fn main() -> ExitCode {
    // The QUIC library links a second provider, and rustls chooses none by itself.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let exit = match Command::parse() {
        Command::Streams(flags) => flags.run(),
        Command::Media(flags) => flags.run(),
        Command::Room(flags) => flags.run(),
        Command::Pages(flags) => flags.run(),
        Command::Crowd(flags) => flags.run(),
        Command::Sockets(flags) => flags.run(),
        Command::Bench(flags) => flags.run(),
    };
    let exit = exit.unwrap_or_else(|error| {
        eprintln!("parley-load: {error:#}");
        Exit::Failed
    });
    exit.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Command::command().debug_assert();
    }
}
