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
    /// Be in a room: publish into it, receive everybody else, and say what comes of them
    Join(join::Flags),
    /// Make rooms with a name, and end them
    #[command(subcommand)]
    Room(room::Room),
    /// Make, hold and fetch pages that exist while somebody holds them
    #[command(subcommand)]
    Page(page::Page),
    /// Publish to stream topics, hear them, watch a relay
    #[command(subcommand)]
    Stream(stream::Stream),
    /// Check a Parley host from where you are, and say what to do about what fails
    Doctor(doctor::Flags),
}

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    // QUIC brings another one along, and rustls does not choose.
    let _chosen_before = rustls::crypto::ring::default_provider().install_default();
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
