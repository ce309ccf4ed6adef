//! From the URL of a room to a socket on which the service welcomed the participant (JOIN-1 to JOIN-9, JOIN-15, RES-1 to RES-5, RES-13).
use super::socket::{RoomSocket, SocketEvent};
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use crate::http;
use crate::media::dial::{self, RelayAddress};
use crate::media::url::RoomUrl;
use crate::regions::{Place, Regions};
use parley_protocol::bounded::Text;
use parley_protocol::http::{JoinAnswer, JoinRequest};
use parley_protocol::server::{Message, Welcome};
use parley_protocol::shared::{DisplayName, Media, RelayOffer};
use parley_protocol::{bounded::List, client, routes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use url::Url;

/// How long the service may take to answer, and how long the owner may let the participant wait in the lobby.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const LOBBY_TIMEOUT: Duration = Duration::from_secs(3600);

/// The credential of a participant, and what its sockets send first.
pub struct Entry {
    /// How hosts are reached.
    pub connect: ConnectOptions,
    /// The regions of the installation.
    pub regions: Regions,
    /// Whether the pod has answered on the socket that is being opened, although it does not welcome the participant yet.
    pub answered: Arc<AtomicBool>,
    url: Url,
    /// The host whose edge leads to relays (MEDIA-9).
    edge: Url,
    name: DisplayName,
    media: Media,
    generation: u64,
    credential: Credential,
    /// Whether the participant waits in a lobby. If not, a lobby is a refusal.
    waits_in_lobby: bool,
}

/// What admits the participant.
enum Credential {
    /// For the first socket.
    Ticket(Text<0, 2048>),
    /// For each further socket: the newest token, of the last welcome or of a later message (RES-11).
    Resume(Text<0, 2048>),
}

impl Entry {
    /// Requests a ticket. `publish`: the participant announces a camera and a microphone.
    pub async fn request(
        room: &RoomUrl,
        name: &str,
        publish: bool,
        waits_in_lobby: bool,
        connect: &ConnectOptions,
    ) -> Result<Self, ConnectionEnd> {
        let name: DisplayName =
            name.parse().map_err(|_| ConnectionEnd::Refused("the name is too long or empty".into()))?;
        let mut url = room.host.clone();
        url.set_path(&routes::join_room(&room.id));
        let request = |slot| JoinRequest { name: Some(name.clone()), device: None, slot };
        let answer: JoinAnswer = http::post_in_turn(connect, url, request).await?;
        let mut regions = Regions::default();
        regions.learn(answer.regions.as_ref());
        Ok(Self {
            connect: connect.clone(),
            regions,
            answered: Arc::default(),
            url: answer.socket_url.parse().map_err(|_| http::invalid_answer())?,
            edge: room.host.clone(),
            name,
            media: Media { audio: publish, video: publish, screen: false, hand: None },
            generation: 0,
            credential: Credential::Ticket(answer.ticket.try_into().map_err(|_| http::invalid_answer())?),
            waits_in_lobby,
        })
    }

    /// Uses another region from now on.
    pub fn move_to(&mut self, place: &Place) {
        self.open_at(&place.url);
        self.regions.use_region(place);
    }

    /// The address of a relay that the room offers.
    pub fn address(&self, offer: &RelayOffer) -> Result<RelayAddress, ConnectionEnd> {
        Ok(RelayAddress { connect: self.connect.clone(), ..dial::address(offer, &self.edge)? })
    }

    /// Opens sockets, and reaches relays, at this host instead of the one that gave the ticket. It has to be `https:` or `http:`.
    pub fn open_at(&mut self, host: &Url) {
        let scheme = if host.scheme() == "https" { "wss" } else { "ws" };
        let mut url = host.clone();
        let _always_is = url.set_scheme(scheme);
        url.set_path(self.url.path());
        url.set_query(self.url.query());
        self.url = url;
        self.edge = host.clone();
    }

    /// Stores a newer resume token.
    pub fn renew(&mut self, token: String) -> Result<(), ConnectionEnd> {
        self.credential = Credential::Resume(token.try_into().map_err(|_| http::invalid_answer())?);
        Ok(())
    }

    /// Opens a socket and waits until the service welcomes the participant.
    pub async fn open(&mut self) -> Result<(RoomSocket, Welcome), ConnectionEnd> {
        // Increased before each socket, as each needs a generation of its own (ROS-5).
        self.generation += 1;
        self.answered.store(false, Ordering::Relaxed);
        let first = self.first_message()?;
        let opened = timeout(ANSWER_TIMEOUT, self.connect.socket(&self.url, None)).await;
        let mut socket = RoomSocket::new(opened.map_err(|_| ConnectionEnd::lost("the room does not answer"))??);
        socket.send(&first).await?;
        let mut deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let event = tokio::select! {
                event = socket.receive() => event?,
                () = sleep_until(deadline) => return Err(ConnectionEnd::lost("the room does not answer")),
            };
            match event {
                SocketEvent::Message(Message::Welcome(welcome)) => {
                    self.renew(welcome.resume.clone())?;
                    self.regions.welcomed(welcome.regions.as_ref());
                    return Ok((socket, welcome));
                }
                // RES-13: the pod keeps the socket until its turn.
                SocketEvent::Message(Message::Wait(wait)) => {
                    let after = Duration::from_millis(wait.after_ms);
                    http::announce_turn(after);
                    self.answered.store(true, Ordering::Relaxed);
                    deadline = Instant::now() + after + ANSWER_TIMEOUT;
                }
                SocketEvent::Message(Message::LobbyWaiting(_)) if self.waits_in_lobby => {
                    eprintln!("parley: waiting in the lobby of the room");
                    deadline += LOBBY_TIMEOUT;
                }
                SocketEvent::Message(Message::LobbyWaiting(_)) => {
                    return Err(ConnectionEnd::Refused("the room has a lobby".into()));
                }
                _ => {}
            }
        }
    }

    fn first_message(&self) -> Result<client::Message, ConnectionEnd> {
        let generation = self.generation.try_into().map_err(|_| ConnectionEnd::Refused("too many sockets".into()))?;
        let (name, media) = (self.name.clone(), self.media.clone());
        Ok(match &self.credential {
            Credential::Ticket(ticket) => client::Message::Enter(client::Enter {
                ticket: ticket.clone(),
                generation,
                name,
                media,
                elapsed_ms: None,
            }),
            Credential::Resume(token) => {
                let (token, chat) = (token.clone(), List::default());
                client::Message::Resume(client::Resume { token, generation, name, media, chat })
            }
        })
    }
}
