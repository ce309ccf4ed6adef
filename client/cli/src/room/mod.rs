//! `parley room`, and the participant that publishes or watches in a room. Rules cited as `JOIN-n`, `RES-n`, `MEDIA-n` are those of
//! `services/protocol/SPEC.md`.
//!
//! | module | content |
//! |---|---|
//! | [`client`] | a participant: the client of rooms of every command |
//! | [`participant`] | its task: one socket after the other, in its region or another one |
//! | [`entry`] | join and resume: from a URL to a welcome |
//! | [`socket`] | one socket, with typed messages |
//! | [`standby`] | a relay of another region |
//! | [`roster`] | the other participants, and whom owners muted |
//! | [`mute`] | whether the sounds of a participant may be played |
//! | [`media_client`] | a participant with its session with a relay |
mod client;
mod entry;
mod media_client;
mod mute;
mod participant;
mod roster;
mod socket;
mod standby;

pub use client::{JoinMode, RelayRequester, RoomClient};
pub use media_client::{ClientFlags, MediaClient, RoomView};
pub use mute::Mute;
#[cfg(test)]
pub use roster::Member;
pub use roster::Roster;
pub use socket::SocketEvent;

use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use crate::http;
use crate::media::url::{MediaUrl, RoomUrl};
use anyhow::bail;
use parley_protocol::bounded::{OutOfBounds, Whole};
use parley_protocol::http::{CreateRoomAnswer, CreateRoomRequest};
use parley_protocol::routes;
use std::process::ExitCode;
use url::Url;

/// Creates named rooms and deletes them.
#[derive(Debug, clap::Subcommand)]
pub enum Room {
    /// Create a named room; prints its URL and the key of its owner
    Create(Create),
    /// Delete a room: the participants are disconnected
    Delete(Delete),
}

/// Creates a room.
#[derive(Debug, clap::Args)]
pub struct Create {
    /// The Parley host: https://HOST
    #[arg(value_name = "HOST")]
    host: Url,
    /// Letters, digits and dashes; the region is added
    #[arg(value_name = "NAME")]
    name: String,
    /// The most participants; the limit is exact
    #[arg(long, value_name = "N")]
    cap: Option<u32>,
}

/// Deletes a room.
#[derive(Debug, clap::Args)]
pub struct Delete {
    /// The URL of the room: https://HOST/r/ROOM
    #[arg(value_name = "ROOM")]
    room: MediaUrl,
    /// The key of its owner
    #[arg(long, env = "PARLEY_OWNER_KEY", hide_env_values = true, value_name = "KEY")]
    key: String,
}

impl Room {
    /// Runs the command.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(async {
            let done = match self {
                Room::Create(flags) => flags.run().await,
                Room::Delete(flags) => flags.run().await?,
            };
            Ok(match done {
                Ok(()) => Exit::Done,
                Err(end) => end.report(),
            })
        })
    }
}

impl Create {
    async fn run(mut self) -> Result<(), ConnectionEnd> {
        self.host.set_path(routes::CREATE_ROOM);
        let invalid = |what: &str, why: OutOfBounds| ConnectionEnd::Refused(format!("{what} {why}"));
        let cap = self.cap.map(|cap| Whole::try_from(u64::from(cap))).transpose();
        let request = CreateRoomRequest {
            name: Some(self.name.parse().map_err(|why| invalid("the name", why))?),
            cap: cap.map_err(|why| invalid("--cap", why))?,
            lobby: None,
        };
        let made: CreateRoomAnswer = http::post(self.host, None, &request).await?;
        println!("{}", made.link);
        println!("{}", made.owner_key);
        Ok(())
    }
}

impl Delete {
    async fn run(self) -> anyhow::Result<Result<(), ConnectionEnd>> {
        let MediaUrl::Room(RoomUrl { mut host, id, .. }) = self.room else {
            bail!("the URL of a room is https://HOST/r/ROOM")
        };
        host.set_path(&routes::delete_room(&id));
        Ok(http::delete(host, Some(&self.key)).await)
    }
}
