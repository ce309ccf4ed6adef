//! `parley load`: traffic that checks what becomes of it.
//!
//! | module | what |
//! |---|---|
//! | [`streams`] | publishers and readers on topics; **every delivery is hashed and counted** |
//! | [`media`] | publishers and watchers of video and audio over QUIC; **every frame is hashed and counted** |
//! | [`room`] | people of one room, admitted, publishing and receiving; **every frame is hashed and counted** |
//! | [`pages`] | visitors of one page: how soon all know how many they are |
//! | [`sockets`], [`herd`] | sockets that are only there, or come and go |
//! | [`target`], [`socket`], [`frame`] | a WebSocket, as cheap as it gets |
//! | [`payload`], [`ledger`] | what a message says of itself, and what a reader got |
//! | [`cost`] | how late, and what it cost |
//! | [`process`] | the server's processor time and memory |
mod cost;
mod frame;
mod herd;
mod ledger;
pub mod media;
pub mod output;
mod pages;
mod payload;
pub mod process;
mod room;
mod socket;
mod sockets;
pub mod streams;
mod target;

use std::process::ExitCode;

/// Sends traffic and checks what becomes of it.
#[derive(Debug, clap::Subcommand)]
pub enum Load {
    /// Publishers and readers on topics: what arrives, how late, and what it costs the server
    Streams(streams::Flags),
    /// Publishers and watchers of video or audio over QUIC: what arrives, how late, and what it costs the relay
    Media(media::Flags),
    /// People of a room, through its service and relays: what reaches whom, how late, what freezes
    Room(Box<room::Flags>),
    /// Visitors of one page, who hold or want it: how soon all know how many they are, and what it costs
    Pages(Box<pages::Flags>),
    /// Sockets that are only there, or that come and go: what they leave behind in the server
    Sockets(sockets::Flags),
}

impl Load {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Load::Streams(flags) => flags.run(),
            Load::Media(flags) => flags.run(),
            Load::Room(flags) => flags.run(),
            Load::Pages(flags) => flags.run(),
            Load::Sockets(flags) => flags.run(),
        }
    }
}
