//! A participant or a client of a broadcast, with its session with a relay.
use super::client::{JoinMode, RoomClient};
use super::roster::Roster;
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use crate::media::dial::Broadcasts;
use crate::media::link::{Flags as LinkFlags, Link, RelaySource};
use crate::media::live::LiveRelays;
use crate::media::url::{MediaUrl, RoomUrl};
use anyhow::{Context, ensure};
use tokio::sync::watch;

/// Flags of the commands that publish or watch.
#[derive(Clone, Debug, clap::Args)]
pub struct ClientFlags {
    /// In a room: the name that the other participants see
    #[arg(long, value_name = "NAME", default_value = "parley")]
    name: String,
    /// With a relay's own address: the name of the broadcast, such as live/NAME
    #[arg(long, value_name = "NAME")]
    broadcast: Option<String>,
}

/// A participant in a room, or a client of one broadcast.
pub struct MediaClient {
    /// The broadcast to publish, or to watch outside a room.
    pub broadcast: String,
    /// The room, if the address is one.
    pub room: Option<RoomView>,
    /// The session with a relay. It is not connected yet.
    pub link: Link,
    client: Option<RoomClient>,
}

/// A room as one of its participants sees it.
#[derive(Clone, Debug)]
pub struct RoomView {
    /// `rooms/{room}/`, the prefix of its broadcasts (MEDIA-4).
    pub prefix: String,
    /// The id of the participant itself.
    pub participant: String,
    /// The other participants.
    pub roster: watch::Receiver<Roster>,
}

/// The name of a participant's broadcast of a file.
const BROADCAST: &str = "video";

impl ClientFlags {
    /// Prepares the session, in a room after joining it. Prints why that failed.
    pub async fn prepare(
        self,
        url: MediaUrl,
        link: LinkFlags,
        broadcasts: Broadcasts,
        publish: bool,
    ) -> anyhow::Result<Result<MediaClient, Exit>> {
        ensure!(
            matches!(url, MediaUrl::Relay(_)) || self.broadcast.is_none(),
            "--broadcast is for a relay's own address"
        );
        let client = match url {
            MediaUrl::Live(live) => {
                let broadcast = live.broadcast();
                MediaClient {
                    broadcast,
                    room: None,
                    link: Link::new(RelaySource::Live(LiveRelays::new(live, publish)), broadcasts, link),
                    client: None,
                }
            }
            MediaUrl::Relay(url) => {
                let broadcast =
                    self.broadcast.context("a relay's own address needs --broadcast NAME, such as live/NAME")?;
                MediaClient {
                    broadcast,
                    room: None,
                    link: Link::new(RelaySource::from_url(url, &link), broadcasts, link),
                    client: None,
                }
            }
            MediaUrl::Room(room) => match MediaClient::join(&self.name, room, link, broadcasts, publish).await {
                Ok(client) => client,
                Err(end) => return Ok(Err(end.report())),
            },
        };
        Ok(Ok(client))
    }
}

impl MediaClient {
    /// Joins a room.
    pub async fn join(
        name: &str,
        room: RoomUrl,
        link: LinkFlags,
        broadcasts: Broadcasts,
        publish: bool,
    ) -> Result<Self, ConnectionEnd> {
        let client = RoomClient::join(name, &room, publish, JoinMode::Participant, &ConnectOptions::default()).await?;
        let participant = client.participant.clone();
        let prefix = format!("rooms/{}/", client.room);
        eprintln!("parley: joined {} as {participant}", client.room);
        Ok(Self {
            broadcast: format!("{prefix}{participant}/{BROADCAST}"),
            room: Some(RoomView { prefix, participant, roster: client.roster.clone() }),
            link: Link::new(RelaySource::Room(client.relay_requester()), broadcasts, link),
            client: Some(client),
        })
    }

    /// Closes the session when the relay has received everything, and leaves the room.
    pub async fn leave(self) {
        self.link.close().await;
        if let Some(client) = self.client {
            client.leave().await;
        }
    }
}
