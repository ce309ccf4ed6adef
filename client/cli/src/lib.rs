//! The `parley` command ([`run`]), and the client of rooms, pages and relays that `parley-load` uses too.
mod connect;
mod connection_end;
mod doctor;
mod exit;
mod host_url;
mod http;
mod join;
mod media;
mod page;
mod publish;
mod region;
mod regions;
mod retry;
mod room;
mod runtime;
mod size;
mod stop;
mod stream;
mod watch;

pub use connect::{ConnectOptions, WebSocket};
pub use connection_end::ConnectionEnd;
pub use exit::Exit;
pub use media::BoxFuture;
pub use media::dial::{CertificateHash, RelayAddress};
pub use media::url::RoomUrl;
pub use page::Address as PageAddress;
pub use page::socket::visitor_url;
pub use room::{JoinMode, RoomClient};

use clap::Parser;
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
    /// What operators of several regions do at a pod
    #[command(subcommand)]
    Region(region::Region),
    /// Check a Parley host from this machine, and explain how to fix what fails
    Doctor(doctor::Flags),
    /// Compute what an installation needs, from published figures
    Size(size::Flags),
}

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    // The QUIC library links a second provider, and rustls chooses none by itself.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let exit = match Command::parse() {
        Command::Publish(publish) => publish.run(),
        Command::Watch(watch) => watch.run(),
        Command::Join(join) => join.run(),
        Command::Room(room) => room.run(),
        Command::Page(page) => page.run(),
        Command::Stream(stream) => stream.run(),
        Command::Region(region) => region.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Size(size) => size.run(),
    };
    exit.unwrap_or_else(|error| {
        eprintln!("parley: {error:#}");
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
