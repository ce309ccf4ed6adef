//! A visitor's socket to the service, which is reopened when it is lost (PAGE-5).
use super::message::{ClientMessage, ServerMessage, Signal};
use crate::connect::{ConnectOptions, WebSocket};
use crate::connection_end::{ConnectionEnd, Retry};
use crate::retry::{STABLE_AFTER, pause};
use futures_util::{SinkExt, StreamExt};
use parley_protocol::codes::Code;
use parley_protocol::routes::PAGES_SOCKET;
use parley_protocol::visit::Welcome;
use parley_protocol::{decode, directed};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// How long the service may take to accept a socket.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// A socket without messages for this long is pinged. After the same time again it is lost.
const PING_INTERVAL: Duration = Duration::from_secs(15);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// A message to send. It is discarded while there is no socket.
#[derive(Debug)]
pub enum Outgoing {
    /// A message to the service.
    ToService(ClientMessage),
    /// A message to another visitor: its id, an id of the message (DIR-3), and the payload.
    ToVisitor(String, String, Signal),
}

/// What happens on the socket.
#[derive(Debug)]
pub enum SocketEvent {
    /// A socket is open, and the service welcomed it as a new visitor.
    Connected(Welcome),
    /// A message of the service.
    Message(ServerMessage),
    /// A message of another visitor.
    Signal(String, Signal),
    /// The socket is lost and will be reopened.
    Disconnected(String),
    /// Retrying cannot help.
    Failed(ConnectionEnd),
}

/// The URL of the service's socket for visitors.
pub fn visitor_url(host: &Url) -> Result<Url, ConnectionEnd> {
    let mut url = host.clone();
    url.set_path(PAGES_SOCKET);
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    url.set_scheme(scheme).map_err(|()| ConnectionEnd::Refused(format!("{host} is not a host")))?;
    Ok(url)
}

/// Keeps a socket open until the sender of messages is dropped.
pub async fn keep(
    url: Url,
    connect: ConnectOptions,
    mut outgoing: mpsc::Receiver<Outgoing>,
    events: mpsc::Sender<SocketEvent>,
) {
    let mut attempts = 0;
    loop {
        let began = Instant::now();
        let Err(end) = visit(&url, &connect, &mut outgoing, &events).await else { return };
        let ConnectionEnd::Lost { why, retry } = end else { return drop(events.send(SocketEvent::Failed(end)).await) };
        if began.elapsed() > STABLE_AFTER {
            attempts = 0;
        }
        let woken = Instant::now() + pause(retry, attempts);
        attempts += 1;
        if events.send(SocketEvent::Disconnected(why)).await.is_err() {
            return;
        }
        loop {
            tokio::select! {
                () = sleep_until(woken) => break,
                message = outgoing.recv() => if message.is_none() { return },
            }
        }
    }
}

/// Serves one socket until it is lost or the sender of messages is dropped.
async fn visit(
    url: &Url,
    connect: &ConnectOptions,
    outgoing: &mut mpsc::Receiver<Outgoing>,
    events: &mpsc::Sender<SocketEvent>,
) -> Result<(), ConnectionEnd> {
    let opened = timeout(OPEN_TIMEOUT, connect.socket(url, None)).await;
    let mut socket = opened.map_err(|_| ConnectionEnd::lost("the service does not answer"))??;
    let (mut ping_at, mut pinged, mut move_at) = (Instant::now() + PING_INTERVAL, false, None);
    loop {
        tokio::select! {
            event = receive(&mut socket) => {
                let event = event?;
                (ping_at, pinged) = (Instant::now() + PING_INTERVAL, false);
                if let SocketEvent::Message(ServerMessage::Goaway(goaway)) = event {
                    move_at = Some(Instant::now() + Duration::from_millis(goaway.after_ms));
                } else if events.send(event).await.is_err() {
                    return Ok(());
                }
            }
            message = outgoing.recv() => match message {
                Some(Outgoing::ToService(ask)) => send(&mut socket, json(&ask)?).await?,
                Some(Outgoing::ToVisitor(to, id, signal)) => send(&mut socket, directed::text(&to, &id, &json(&signal)?)).await?,
                None => {
                    let _late = timeout(CLOSE_TIMEOUT, socket.close(None)).await;
                    return Ok(());
                }
            },
            () = sleep_until(ping_at) => {
                if std::mem::replace(&mut pinged, true) {
                    return Err(ConnectionEnd::lost("the service stopped answering"));
                }
                ping_at += PING_INTERVAL;
                send(&mut socket, json(&ClientMessage::Ping)?).await?;
            }
            () = sleep_until(move_at.unwrap_or(ping_at)), if move_at.is_some() => {
                return Err(ConnectionEnd::Lost { why: "the pod of the service is draining".into(), retry: Retry::AtOnce });
            }
        }
    }
}

/// Reads the next message that is known. Cancel-safe.
async fn receive(socket: &mut WebSocket) -> Result<SocketEvent, ConnectionEnd> {
    loop {
        let message = match socket.next().await {
            Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => message.into_data(),
            Some(Ok(Message::Close(frame))) => return Err(closed(ConnectionEnd::from_close(frame.as_ref()))),
            Some(Ok(_)) => continue,
            Some(Err(why)) => return Err(closed(ConnectionEnd::from_error(why))),
            None => return Err(ConnectionEnd::lost("the service was lost")),
        };
        if let Some((from, payload)) = directed::received(&message) {
            match decode(payload) {
                Some(signal) => return Ok(SocketEvent::Signal(from.to_owned(), signal)),
                None => continue,
            }
        }
        return match decode(&message) {
            Some(ServerMessage::Welcome(welcome)) => Ok(SocketEvent::Connected(welcome)),
            Some(ServerMessage::Error(error)) if error.fatal => Err(refused(&error.code)),
            Some(message) => Ok(SocketEvent::Message(message)),
            // A message of a newer service.
            None => continue,
        };
    }
}

fn refused(code: &str) -> ConnectionEnd {
    let why = format!("the service refused: {code}");
    let reconnects = Code::named(code).unwrap_or(Code::Internal).reconnect();
    if reconnects { ConnectionEnd::lost(why) } else { ConnectionEnd::Refused(why) }
}

/// A socket that closes without a code is reopened.
fn closed(end: ConnectionEnd) -> ConnectionEnd {
    if end == ConnectionEnd::Done { ConnectionEnd::lost("the service closed the socket") } else { end }
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), ConnectionEnd> {
    socket.send(Message::text(text)).await.map_err(ConnectionEnd::from_error)
}

fn json(message: &impl serde::Serialize) -> Result<String, ConnectionEnd> {
    serde_json::to_string(message).map_err(|why| ConnectionEnd::Refused(why.to_string()))
}
