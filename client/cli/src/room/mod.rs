//! `parley room`, and being in one to publish or to watch. Rules cited as `JOIN-n`, `RES-n`, `MEDIA-n` are those of
//! `services/protocol/SPEC.md`.
//!
//! | module | what |
//! |---|---|
//! | [`presence`] | a participant: joined, resumed, left |
//! | [`roster`] | who else is there |
//! | [`arrival`] | where media goes to or comes from, once somebody is there |
mod arrival;
mod presence;
mod roster;

pub use arrival::{Arrival, Seat, Seen};
pub use presence::{Asker, Presence};
pub use roster::Roster;

use crate::ending::Ending;
use crate::exit::Exit;
use crate::http;
use crate::media::place::{Place, Room as Address};
use anyhow::bail;
use serde_json::json;
use std::process::ExitCode;
use url::Url;

/// Makes rooms with a name, and ends them.
#[derive(Debug, clap::Subcommand)]
pub enum Room {
    /// Make a room with a name; prints its page, and the key of its owner
    Create(Create),
    /// End a room for everybody in it
    Delete(Delete),
}

/// Makes a room.
#[derive(Debug, clap::Args)]
pub struct Create {
    /// The Parley host: https://HOST
    #[arg(value_name = "HOST")]
    host: Url,
    /// Letters, digits and dashes; the region is added
    #[arg(value_name = "NAME")]
    name: String,
    /// Most participants, kept exactly
    #[arg(long, value_name = "N")]
    cap: Option<u32>,
}

/// Ends a room.
#[derive(Debug, clap::Args)]
pub struct Delete {
    /// The room's page: https://HOST/r/ROOM
    #[arg(value_name = "ROOM")]
    room: Place,
    /// The key of its owner
    #[arg(long, env = "PARLEY_OWNER_KEY", hide_env_values = true, value_name = "KEY")]
    key: String,
}

impl Room {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(async {
            let done = match self {
                Room::Create(flags) => flags.run().await,
                Room::Delete(flags) => flags.run().await?,
            };
            Ok(match done {
                Ok(()) => Exit::Done,
                Err(ending) => ending.say(),
            })
        })
    }
}

impl Create {
    async fn run(mut self) -> Result<(), Ending> {
        self.host.set_path("/v1/rooms");
        let mut asked = json!({ "name": self.name });
        if let Some(cap) = self.cap {
            asked["cap"] = cap.into();
        }
        let made = http::post(self.host, None, asked).await?;
        let text = |field: &str| made[field].as_str().unwrap_or_default().to_owned();
        println!("{}", text("link"));
        println!("{}", text("ownerKey"));
        Ok(())
    }
}

impl Delete {
    async fn run(self) -> anyhow::Result<Result<(), Ending>> {
        let Place::Room(Address { mut host, id }) = self.room else { bail!("a room is https://HOST/r/ROOM") };
        host.set_path(&format!("/v1/rooms/{id}"));
        Ok(http::delete(host, Some(&self.key)).await.map(drop))
    }
}
