//! From a room's address to a socket on which a participant was welcomed (JOIN-1 to JOIN-9, RES-1 to RES-5).
use super::socket::{Heard, RoomSocket};
use crate::ending::Ending;
use crate::http;
use crate::media::place::Room;
use crate::reach::Reach;
use parley_protocol::bounded::Text;
use parley_protocol::http::{JoinAnswer, JoinRequest};
use parley_protocol::server::{Message, Welcome};
use parley_protocol::shared::{DisplayName, Media};
use parley_protocol::{bounded::List, client, routes};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use url::Url;

/// A service that does not answer in this time is not there; in a lobby it may take as long as the owner likes.
const OPENING: Duration = Duration::from_secs(10);
const IN_LOBBY: Duration = Duration::from_secs(3600);

/// What makes a socket the participant's.
pub struct Entry {
    url: Url,
    reach: Reach,
    name: DisplayName,
    media: Media,
    generation: u64,
    credential: Credential,
    /// Waits in the lobby of a room that has one; otherwise that ends it.
    waits: bool,
}

/// What lets a participant in.
enum Credential {
    /// For the first socket.
    Ticket(Text<0, 2048>),
    /// For each further one: the newest, of the last welcome or of what came on its socket since (RES-11).
    Resume(Text<0, 2048>),
}

impl Entry {
    /// Asks for a ticket. `publish`: with a camera and a microphone.
    pub async fn ask(room: &Room, name: &str, publish: bool, waits: bool, reach: &Reach) -> Result<Self, Ending> {
        let name: DisplayName = name.parse().map_err(|_| Ending::Refused("the name is too long or empty".into()))?;
        let mut url = room.host.clone();
        url.set_path(&routes::join_room(&room.id));
        let request = JoinRequest { name: Some(name.clone()), device: None };
        let answer: JoinAnswer = http::post_over(reach, url, &request).await?;
        Ok(Self {
            url: answer.socket_url.parse().map_err(|_| http::strange())?,
            reach: reach.clone(),
            name,
            media: Media { audio: publish, video: publish, screen: false },
            generation: 0,
            credential: Credential::Ticket(answer.ticket.try_into().map_err(|_| http::strange())?),
            waits,
        })
    }

    /// A token to resume with, newer than the last one.
    pub fn renew(&mut self, token: String) -> Result<(), Ending> {
        self.credential = Credential::Resume(token.try_into().map_err(|_| http::strange())?);
        Ok(())
    }

    /// Opens a socket, and waits until the participant is welcomed on it.
    pub async fn open(&mut self) -> Result<(RoomSocket, Welcome), Ending> {
        // Raised before every socket, so that no two carry the same (ROS-5).
        self.generation += 1;
        let first = self.first()?;
        let opened = timeout(OPENING, self.reach.socket(&self.url, None)).await;
        let mut socket = RoomSocket::new(opened.map_err(|_| Ending::lost("the room does not answer"))??);
        socket.say(&first).await?;
        let mut until = Instant::now() + OPENING;
        loop {
            let heard = tokio::select! {
                heard = socket.hear() => heard?,
                () = sleep_until(until) => return Err(Ending::lost("the room does not answer")),
            };
            match heard {
                Heard::Message(Message::Welcome(welcome)) => {
                    self.renew(welcome.resume.clone())?;
                    return Ok((socket, welcome));
                }
                Heard::Message(Message::LobbyWaiting(_)) if self.waits => {
                    eprintln!("parley: waiting at the door of the room");
                    until += IN_LOBBY;
                }
                Heard::Message(Message::LobbyWaiting(_)) => return Err(Ending::Refused("the room has a lobby".into())),
                _ => {}
            }
        }
    }

    fn first(&self) -> Result<client::Message, Ending> {
        let generation = self.generation.try_into().map_err(|_| Ending::Refused("too many sockets".into()))?;
        let (name, media) = (self.name.clone(), self.media.clone());
        Ok(match &self.credential {
            Credential::Ticket(ticket) => {
                client::Message::Enter(client::Enter { ticket: ticket.clone(), generation, name, media })
            }
            Credential::Resume(token) => {
                let (token, chat) = (token.clone(), List::default());
                client::Message::Resume(client::Resume { token, generation, name, media, chat })
            }
        })
    }
}
