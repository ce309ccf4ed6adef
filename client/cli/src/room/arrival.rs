//! Somebody who publishes or watches, and is there.
use super::presence::{Manner, Presence};
use super::roster::Roster;
use crate::ending::Ending;
use crate::exit::Exit;
use crate::media::dial::Ends;
use crate::media::link::{Flags as LinkFlags, Link, Way};
use crate::media::place::{Place, Room};
use crate::reach::Reach;
use anyhow::{Context, ensure};
use tokio::sync::watch;

/// What is said of whoever publishes or watches.
#[derive(Clone, Debug, clap::Args)]
pub struct Seat {
    /// In a room: the name that others see
    #[arg(long, value_name = "NAME", default_value = "parley")]
    name: String,
    /// Of a relay's own address: the name of the broadcast, such as live/NAME
    #[arg(long, value_name = "NAME")]
    broadcast: Option<String>,
}

/// Somebody who is there.
pub struct Arrival {
    /// What may be published, or is watched, where that is one broadcast.
    pub broadcast: String,
    /// The room, where it is one.
    pub room: Option<Seen>,
    /// The session with a relay, not begun yet.
    pub link: Link,
    presence: Option<Presence>,
}

/// A room as one of its participants sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `rooms/{room}/`, which all its broadcasts begin with (MEDIA-4).
    pub prefix: String,
    /// Who sees it.
    pub participant: String,
    /// Everybody else there.
    pub roster: watch::Receiver<Roster>,
}

/// What a participant calls the broadcast of a file.
const BROADCAST: &str = "video";

impl Seat {
    /// Takes a place, in a room by joining it; or says why not.
    pub async fn take(
        self,
        place: Place,
        link: LinkFlags,
        ends: Ends,
        publish: bool,
    ) -> anyhow::Result<Result<Arrival, Exit>> {
        ensure!(
            matches!(place, Place::Relay(_)) || self.broadcast.is_none(),
            "--broadcast is for a relay's own address"
        );
        let arrival = match place {
            Place::Live(live) => {
                let broadcast = live.broadcast();
                Arrival { broadcast, room: None, link: Link::new(Way::Live(live, publish), ends, link), presence: None }
            }
            Place::Relay(url) => {
                let broadcast =
                    self.broadcast.context("a relay's own address needs --broadcast NAME, such as live/NAME")?;
                Arrival { broadcast, room: None, link: Link::new(Way::to(url, &link), ends, link), presence: None }
            }
            Place::Room(room) => match Arrival::join(&self.name, room, link, ends, publish).await {
                Ok(arrival) => arrival,
                Err(ending) => return Ok(Err(ending.say())),
            },
        };
        Ok(Ok(arrival))
    }
}

impl Arrival {
    /// Joins a room.
    pub async fn join(name: &str, room: Room, link: LinkFlags, ends: Ends, publish: bool) -> Result<Self, Ending> {
        let presence = Presence::join(name, &room, publish, Manner::Stays, &Reach::default()).await?;
        let participant = presence.participant.clone();
        let prefix = format!("rooms/{}/", presence.room);
        eprintln!("parley: joined {} as {participant}", presence.room);
        Ok(Self {
            broadcast: format!("{prefix}{participant}/{BROADCAST}"),
            room: Some(Seen { prefix, participant, roster: presence.roster.clone() }),
            link: Link::new(Way::Room(presence.asker(), room.host), ends, link),
            presence: Some(presence),
        })
    }

    /// Goes, once the relay has everything that was published.
    pub async fn leave(self) {
        self.link.close().await;
        if let Some(presence) = self.presence {
            presence.leave().await;
        }
    }
}
