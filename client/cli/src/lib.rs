//! The `parley` command ([`run`]), and the client of rooms, pages and relays that `parley-load` uses too.
mod again;
mod doctor;
pub mod ending;
mod exit;
mod http;
mod join;
pub mod media;
pub mod page;
mod publish;
pub mod reach;
pub mod room;
mod runtime;
mod stop;
mod stream;
mod watch;

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

/// Live video, rooms, pages and streams.
#[derive(Debug, Parser)]
#[command(name = "parley", version, disable_help_subcommand = true)]
enum Command {
    /// Publish a video as a live broadcast, or in a room
    Publish(publish::Flags),
    /// Watch a live broadcast, or a room
    Watch(watch::Flags),
    /// Join a room: publish into it, receive every other participant, and report on their media
    Join(join::Flags),
    /// Create and delete named rooms
    #[command(subcommand)]
    Room(room::Room),
    /// Make, hold and fetch pages, which exist as long as a visitor holds them
    #[command(subcommand)]
    Page(page::Page),
    /// Publish to and subscribe to stream topics, and show the statistics of a relay
    #[command(subcommand)]
    Stream(stream::Stream),
    /// Check a Parley host from this machine, and explain how to fix what fails
    Doctor(doctor::Flags),
}

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    // The QUIC library links a second provider, and rustls chooses none by itself.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let ended = match Command::parse() {
        Command::Publish(publish) => publish.run(),
        Command::Watch(watch) => watch.run(),
        Command::Join(join) => join.run(),
        Command::Room(room) => room.run(),
        Command::Page(page) => page.run(),
        Command::Stream(stream) => stream.run(),
        Command::Doctor(doctor) => doctor.run(),
    };
    ended.unwrap_or_else(|why| {
        eprintln!("parley: {why:#}");
        Exit::Failed.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_line_makes_sense() {
        Command::command().debug_assert();
    }
}
