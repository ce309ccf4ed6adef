//! One socket of a participant: typed messages each way (JOIN-5, DIR-1, ERR-3).
use crate::connect::WebSocket;
use crate::connection_end::ConnectionEnd;
use futures_util::{SinkExt, StreamExt};
use parley_protocol::codes::Code;
use parley_protocol::{client, decode, directed, encode, server};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// A socket of a room.
pub struct RoomSocket(WebSocket);

/// What a socket receives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum SocketEvent {
    /// A message of the service.
    Message(server::Message),
    /// A directed message: its sender and payload.
    Directed(String, Vec<u8>),
}

impl RoomSocket {
    /// Wraps an open socket.
    pub fn new(socket: WebSocket) -> Self {
        Self(socket)
    }

    /// Sends a message to the service.
    pub async fn send(&mut self, message: &client::Message) -> Result<(), ConnectionEnd> {
        let text = String::from_utf8(encode(message)).unwrap_or_default();
        self.0.send(Message::text(text)).await.map_err(ConnectionEnd::from_error)
    }

    /// Sends a directed message to a participant.
    pub async fn send_directed(&mut self, to: &str, id: &str, payload: &str) -> Result<(), ConnectionEnd> {
        self.0.send(Message::text(directed::text(to, id, payload))).await.map_err(ConnectionEnd::from_error)
    }

    /// Reads the next message that is known. Cancel-safe.
    pub async fn receive(&mut self) -> Result<SocketEvent, ConnectionEnd> {
        loop {
            let message = match self.0.next().await {
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => message.into_data(),
                Some(Ok(Message::Close(frame))) => return Err(lost(ConnectionEnd::from_close(frame.as_ref()))),
                Some(Ok(_)) => continue,
                Some(Err(why)) => return Err(lost(ConnectionEnd::from_error(why))),
                None => return Err(ConnectionEnd::lost("the room was lost")),
            };
            if let Some((from, payload)) = directed::received(&message) {
                return Ok(SocketEvent::Directed(from.to_owned(), payload.to_vec()));
            }
            match decode(&message) {
                None | Some(server::Message::Unknown) => {}
                Some(server::Message::RoomDeleted) => return Err(ended_by_service(Code::RoomDeleted.name())),
                Some(server::Message::Error(error)) if error.fatal => return Err(ended_by_service(&error.code)),
                Some(message) => return Ok(SocketEvent::Message(message)),
            }
        }
    }

    /// Leaves the room at once (JOIN-12) and closes the socket.
    pub async fn leave(mut self) {
        let leaving = async {
            let _closed = self.send(&client::Message::Leave).await;
            let _closed = self.0.close(None).await;
            while let Some(Ok(_)) = self.0.next().await {}
        };
        let _late = timeout(LEAVE_TIMEOUT, leaving).await;
    }
}

/// The service closes the socket next. An unknown code of a newer service counts as an internal error.
fn ended_by_service(code: &str) -> ConnectionEnd {
    let why = format!("the service ended the participation: {code}");
    let reconnects = Code::named(code).unwrap_or(Code::Internal).reconnect();
    if reconnects { ConnectionEnd::lost(why) } else { ConnectionEnd::Refused(why) }
}

/// A socket that closes without a code is reopened.
fn lost(end: ConnectionEnd) -> ConnectionEnd {
    if end == ConnectionEnd::Done { ConnectionEnd::lost("the room closed the socket") } else { end }
}
