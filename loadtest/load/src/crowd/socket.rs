//! One socket of a participant: its first message, and what the service says on it (JOIN-5 to JOIN-9, RES-3, RES-8).
use super::plan::Edge;
use futures_util::{SinkExt, StreamExt};
use parley_protocol::codes::Code;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long a connection, and after it the answer to the first message, may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The buffer of a socket: ten thousand of the usual ones would be a gigabyte.
const READ_BUFFER_BYTES: usize = 4096;
/// A socket that ended without a code of the protocol.
pub const SOCKET_LOST: &str = "SOCKET_LOST";
/// A first message without an answer in time.
pub const WELCOME_MISSING: &str = "WELCOME_MISSING";

/// A socket on which the participant was welcomed.
pub struct RoomSocket(WebSocketStream<TcpStream>);

/// The service's answer to the first message.
#[derive(Debug)]
pub struct Welcome {
    /// The participant that this socket is of.
    pub participant: String,
    /// The token to come back with.
    pub token: String,
    /// For how long the service keeps a participant without a socket.
    pub grace: Duration,
}

/// Why a socket ended, or was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The code of the protocol, or one of this file.
    pub code: String,
    /// How long the service asks the client to wait.
    pub after: Duration,
    /// Whether the client comes back by itself.
    pub comes_back: bool,
}

/// What a participant has to know of what the service says.
#[derive(Debug)]
pub enum Event {
    /// A newer token (RES-11).
    Token(String),
    /// The pod drains: the participant moves after this time (RES-8).
    Move(Duration),
}

/// The messages that matter here.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Said {
    Welcome {
        participant: String,
        resume: String,
        grace_ms: u64,
    },
    Wait {
        after_ms: u64,
    },
    ResumeToken {
        resume: String,
    },
    Goaway {
        after_ms: u64,
    },
    Error {
        code: String,
        fatal: bool,
        retry_after_ms: Option<u64>,
    },
    #[serde(other)]
    Other,
}

/// The first message of a socket. `credential`: its field and value, of a ticket or of a token.
pub fn first_message(name: &str, generation: u64, credential: &Credential) -> Value {
    let media = json!({ "audio": true, "video": true, "screen": false });
    match credential {
        Credential::Ticket(ticket) => {
            json!({ "type": "enter", "ticket": ticket, "generation": generation, "name": name, "media": media })
        }
        Credential::Token(token) => {
            json!({ "type": "resume", "token": token, "generation": generation, "name": name, "media": media, "chat": [] })
        }
    }
}

/// What admits a socket.
#[derive(Clone, Debug)]
pub enum Credential {
    /// Of the request for a ticket.
    Ticket(String),
    /// The newest token.
    Token(String),
}

impl RoomSocket {
    /// Opens a socket and waits for the welcome, as long as the service says. Calls `waits` where it lets the participant wait.
    pub async fn open(edge: &Edge, path: &str, first: &Value, waits: impl Fn()) -> Result<(Self, Welcome), Loss> {
        let mut until = Instant::now() + ANSWER_TIMEOUT;
        let opening = timeout_at(until, open(edge, path, first)).await;
        let mut socket = Self(opening.unwrap_or_else(|_| Err(Loss::of(WELCOME_MISSING)))?);
        loop {
            match timeout_at(until, socket.said()).await.unwrap_or_else(|_| Err(Loss::of(WELCOME_MISSING)))? {
                Said::Welcome { participant, resume, grace_ms } => {
                    let grace = Duration::from_millis(grace_ms);
                    return Ok((socket, Welcome { participant, token: resume, grace }));
                }
                Said::Wait { after_ms } => {
                    waits();
                    until = Instant::now() + Duration::from_millis(after_ms) + ANSWER_TIMEOUT;
                }
                _ => {}
            }
        }
    }

    /// What the service says next that the participant has to know. Cancel-safe.
    pub async fn event(&mut self) -> Result<Event, Loss> {
        loop {
            match self.said().await? {
                Said::ResumeToken { resume } => return Ok(Event::Token(resume)),
                Said::Goaway { after_ms } => return Ok(Event::Move(Duration::from_millis(after_ms))),
                _ => {}
            }
        }
    }

    /// The next message. An error that ends the socket is its loss.
    async fn said(&mut self) -> Result<Said, Loss> {
        loop {
            let text = match self.0.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(frame))) => return Err(Loss::of_close(frame.map(|frame| frame.code.into()))),
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => return Err(Loss::of(SOCKET_LOST)),
            };
            match serde_json::from_str(&text) {
                Ok(Said::Error { code, fatal: true, retry_after_ms }) => {
                    return Err(Loss { after: Duration::from_millis(retry_after_ms.unwrap_or(0)), ..Loss::of(&code) });
                }
                Ok(said) => return Ok(said),
                // A directed message, or one that this version does not know.
                Err(_) => {}
            }
        }
    }

    /// Leaves the room (JOIN-12).
    pub async fn leave(mut self) {
        let _gone = self.0.send(Message::text(r#"{"type":"leave"}"#)).await;
        let _gone = self.0.close(None).await;
    }
}

async fn open(edge: &Edge, path: &str, first: &Value) -> Result<WebSocketStream<TcpStream>, Loss> {
    let lost = |_| Loss::of(SOCKET_LOST);
    let stream = TcpStream::connect(edge.address).await.map_err(lost)?;
    stream.set_nodelay(true).map_err(lost)?;
    let uri = format!("ws://{}{path}", edge.host).parse().map_err(|_| Loss::of(SOCKET_LOST))?;
    let config = WebSocketConfig::default().read_buffer_size(READ_BUFFER_BYTES);
    let opened = client_async_with_config(ClientRequestBuilder::new(uri), stream, Some(config)).await;
    let (mut socket, _) = opened.map_err(|why| Loss::of_refused(&why))?;
    socket.send(Message::text(first.to_string())).await.map_err(|_| Loss::of(SOCKET_LOST))?;
    Ok(socket)
}

impl Loss {
    /// Of a code. One that is not of the protocol may pass.
    pub fn of(code: &str) -> Self {
        let comes_back = Code::named(code).is_none_or(Code::reconnect);
        Self { code: code.to_owned(), after: Duration::ZERO, comes_back }
    }

    fn of_close(close: Option<u16>) -> Self {
        Self::of(close.and_then(Code::of_close).map_or(SOCKET_LOST, Code::name))
    }

    /// Of a refused upgrade. A browser does not learn why, so each of them may pass.
    fn of_refused(why: &Error) -> Self {
        let Error::Http(answer) = why else { return Self::of(SOCKET_LOST) };
        let body = answer.body().as_deref().unwrap_or_default();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let code = body["code"].as_str().map_or_else(|| format!("HTTP_{}", answer.status().as_u16()), str::to_owned);
        Self { code, after: Duration::ZERO, comes_back: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_final_where_a_client_of_the_protocol_ends() {
        assert!(Loss::of("GOAWAY").comes_back && Loss::of(SOCKET_LOST).comes_back);
        assert!(!Loss::of("REPLACED").comes_back && !Loss::of("RESUME_EXPIRED").comes_back);
        assert_eq!(Loss::of_close(Some(1012)).code, "GOAWAY");
        assert_eq!(Loss::of_close(Some(1006)).code, SOCKET_LOST);
        assert_eq!(Loss::of_close(None).code, SOCKET_LOST);
    }

    #[test]
    fn messages_that_do_not_matter_are_read_as_such() {
        let other = serde_json::from_str::<Said>(r#"{"type":"away","participant":"p1"}"#).unwrap();
        assert!(matches!(other, Said::Other));
        let wait = serde_json::from_str::<Said>(r#"{"type":"wait","afterMs":20}"#).unwrap();
        assert!(matches!(wait, Said::Wait { after_ms: 20 }));
    }
}
