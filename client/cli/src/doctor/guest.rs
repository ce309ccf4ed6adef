//! Somebody in a room for the time of a check (JOIN-1 to JOIN-12, DIR-1). Nothing is tried again: what fails is what is looked for.
use super::site::Site;
use crate::ending::Ending;
use crate::http;
use crate::reach::Socket;
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use url::Url;

const NAME: &str = "parley doctor";
const CLOSING: Duration = Duration::from_secs(2);
/// Nobody else is in the room: a few at most wait to be heard.
const WAITING: usize = 64;
/// Crockford's base32 (ROOM-1).
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// What a join is answered with (JOIN-2).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Admission {
    participant: String,
    ticket: String,
    socket_url: Url,
}

/// As browsers take it: W3C WebRTC, `RTCIceServer`.
#[derive(Debug, Deserialize)]
#[allow(missing_docs, reason = "as there")]
pub struct IceServer {
    pub urls: Vec<String>,
    pub username: Option<String>,
    pub credential: Option<String>,
}

/// Somebody who leaves properly when this is dropped (JOIN-12).
pub struct Guest {
    /// Who it is.
    pub participant: String,
    /// Whom it found there, itself among them.
    pub roster: Vec<String>,
    /// STUN and TURN (TURN-10).
    pub ice_servers: Vec<IceServer>,
    say: mpsc::Sender<Message>,
    heard: mpsc::Receiver<Result<String, Ending>>,
}

/// The id of a room that nobody has been in (ROOM-2).
pub fn room() -> String {
    let group = || (0..4).map(|_| char::from(SYMBOLS[fastrand::usize(..SYMBOLS.len())])).collect::<String>();
    [group(), group(), group(), group()].join("-")
}

impl Admission {
    /// Asks to be let in.
    async fn ask(site: &Site, room: &str) -> Result<Self, Ending> {
        let url = site.at(&format!("/v1/rooms/{room}/join"));
        let answer = http::post_over(&site.reach, url, json!({ "name": NAME })).await?;
        serde_json::from_value(answer).map_err(|why| strange(&why.to_string()))
    }
}

impl Guest {
    /// Joins.
    pub async fn join(site: &Site, room: &str) -> Result<Self, Ending> {
        let Admission { participant, ticket, socket_url, .. } = Admission::ask(site, room).await?;
        let socket = site.reach.socket(&socket_url, None).await?;
        let (say, said) = mpsc::channel(WAITING);
        let (tell, heard) = mpsc::channel(WAITING);
        site.hold(stay(socket, said, tell));
        let mut guest = Self { participant, roster: Vec::new(), ice_servers: Vec::new(), say, heard };
        let media = json!({ "audio": false, "video": false, "screen": false });
        guest.say(&json!({ "type": "enter", "ticket": ticket, "generation": 1, "name": NAME, "media": media })).await;
        let mut welcome = guest.hear("welcome").await?;
        let members = welcome["roster"].as_array().into_iter().flatten();
        guest.roster = members.filter_map(|member| Some(member["participant"].as_str()?.to_owned())).collect();
        guest.ice_servers =
            serde_json::from_value(welcome["iceServers"].take()).map_err(|why| strange(&why.to_string()))?;
        Ok(guest)
    }

    /// Says something to the service.
    pub async fn say(&self, message: &Value) {
        // What cannot be said any more is not answered, and the reason is heard.
        let _ = self.say.send(Message::text(message.to_string())).await;
    }

    /// Says something to somebody else.
    pub async fn tell(&self, participant: &str, payload: &str) {
        let _ = self.say.send(Message::text(format!(">{participant} 1\n{payload}"))).await;
    }

    /// The next message of this type.
    pub async fn hear(&mut self, kind: &str) -> Result<Value, Ending> {
        self.next(|text| {
            let message = serde_json::from_str::<Value>(text).ok()?;
            (message["type"] == kind).then_some(message)
        })
        .await
    }

    /// What somebody else said to this one: who, and what.
    pub async fn hear_directed(&mut self) -> Result<(String, String), Ending> {
        self.next(|text| {
            let (from, payload) = text.strip_prefix('<')?.split_once('\n')?;
            Some((from.to_owned(), payload.to_owned()))
        })
        .await
    }

    async fn next<T>(&mut self, mut wanted: impl FnMut(&str) -> Option<T>) -> Result<T, Ending> {
        loop {
            let text = self.heard.recv().await.unwrap_or_else(|| Err(Ending::lost("the room was lost")))?;
            if let Some(found) = wanted(&text) {
                return Ok(found);
            }
            let message = serde_json::from_str::<Value>(&text).unwrap_or_default();
            match message["type"].as_str() {
                Some("error") => {
                    let code = message["code"].as_str().unwrap_or("INTERNAL");
                    return Err(Ending::Refused(format!("the room refused: {code}")));
                }
                Some("in-lobby") => return Err(strange("a lobby in a room that nobody made")),
                _ => {}
            }
        }
    }
}

/// Holds a socket until it is lost, or nobody speaks over it any more.
async fn stay(mut socket: Socket, mut said: mpsc::Receiver<Message>, tell: mpsc::Sender<Result<String, Ending>>) {
    loop {
        let heard = tokio::select! {
            message = said.recv() => match message {
                Some(message) => socket.send(message).await.map_err(Ending::of).map(|()| None),
                None => break,
            },
            next = socket.next() => match next {
                Some(Ok(Message::Text(text))) => Ok(Some(text.to_string())),
                Some(Ok(Message::Close(frame))) => Err(Ending::closed(frame.as_ref())),
                Some(Ok(_)) => Ok(None),
                Some(Err(why)) => Err(Ending::of(why)),
                None => Err(Ending::lost("the room was lost")),
            },
        };
        let over = heard.is_err();
        if let Some(heard) = heard.transpose() {
            // Whoever does not listen misses it.
            let _ = tell.try_send(heard);
        }
        if over {
            return;
        }
    }
    let leaving = async {
        let _ = socket.send(Message::text(json!({ "type": "leave" }).to_string())).await;
        let _ = socket.close(None).await;
        while let Some(Ok(_)) = socket.next().await {}
    };
    let _late = timeout(CLOSING, leaving).await;
}

fn strange(what: &str) -> Ending {
    Ending::Refused(format!("the service does not answer as Parley does: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_1_a_room_is_four_groups_of_four_symbols() {
        let room = room();
        assert_eq!(room.split('-').map(str::len).collect::<Vec<_>>(), [4; 4], "{room}");
        assert!(room.bytes().all(|byte| byte == b'-' || SYMBOLS.contains(&byte)), "{room}");
        assert_ne!(room, super::room());
    }
}
