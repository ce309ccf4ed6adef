//! One socket of a participant: typed messages each way (JOIN-5, DIR-1, ERR-3).
use crate::ending::Ending;
use crate::reach::Socket;
use futures_util::{SinkExt, StreamExt};
use parley_protocol::codes::Code;
use parley_protocol::{client, decode, directed, encode, server};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

const CLOSING: Duration = Duration::from_secs(2);

/// A socket of a room.
pub struct RoomSocket(Socket);

/// What a socket brings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Heard {
    /// From the service.
    Message(server::Message),
    /// From another participant: who, and the payload.
    Directed(String, Vec<u8>),
}

impl RoomSocket {
    /// Takes a socket that is open.
    pub fn new(socket: Socket) -> Self {
        Self(socket)
    }

    /// Sends a message to the service.
    pub async fn say(&mut self, message: &client::Message) -> Result<(), Ending> {
        let text = String::from_utf8(encode(message)).unwrap_or_default();
        self.0.send(Message::text(text)).await.map_err(Ending::of)
    }

    /// Sends a directed message to a participant.
    pub async fn tell(&mut self, to: &str, id: &str, payload: &str) -> Result<(), Ending> {
        self.0.send(Message::text(directed::text(to, id, payload))).await.map_err(Ending::of)
    }

    /// The next message. A message of a newer service is skipped. Cancel-safe.
    pub async fn hear(&mut self) -> Result<Heard, Ending> {
        loop {
            let message = match self.0.next().await {
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => message.into_data(),
                Some(Ok(Message::Close(frame))) => return Err(lost(Ending::closed(frame.as_ref()))),
                Some(Ok(_)) => continue,
                Some(Err(why)) => return Err(lost(Ending::of(why))),
                None => return Err(Ending::lost("the room was lost")),
            };
            if let Some((from, payload)) = directed::received(&message) {
                return Ok(Heard::Directed(from.to_owned(), payload.to_vec()));
            }
            match decode(&message) {
                None | Some(server::Message::Unknown) => {}
                Some(server::Message::RoomDeleted) => return Err(over(Code::RoomDeleted.name())),
                Some(server::Message::Error(error)) if error.fatal => return Err(over(&error.code)),
                Some(message) => return Ok(Heard::Message(message)),
            }
        }
    }

    /// Leaves the room at once (JOIN-12) and closes the socket.
    pub async fn leave(mut self) {
        let leaving = async {
            let _gone_already = self.say(&client::Message::Leave).await;
            let _gone_already = self.0.close(None).await;
            while let Some(Ok(_)) = self.0.next().await {}
        };
        let _late = timeout(CLOSING, leaving).await;
    }
}

/// The service closes the socket next. A code of a newer service is a fault of its own.
fn over(code: &str) -> Ending {
    let why = format!("the room is over for us: {code}");
    let reconnects = Code::named(code).unwrap_or(Code::Internal).reconnect();
    if reconnects { Ending::lost(why) } else { Ending::Refused(why) }
}

/// A socket that closes without a reason is opened again.
fn lost(ending: Ending) -> Ending {
    if ending == Ending::Done { Ending::lost("the room closed the socket") } else { ending }
}
