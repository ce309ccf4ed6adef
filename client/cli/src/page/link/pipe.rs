//! A topic of the stream relay on which two visitors meet (PAGE-15). What is sent before the other visitor subscribed is lost, as on any
//! topic, so the handshake is repeated.
use super::{EventSender, LinkCommand, LinkEvent, MAX_MESSAGE, Path};
use crate::connect::{ConnectOptions, WebSocket};
use crate::connection_end::ConnectionEnd;
use anyhow::{Context, ensure};
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// The path of pipes at Parley's edge.
const PIPES_PATH: &str = "/streams/pages/";
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A pipe.
pub struct Endpoint {
    /// `https://HOST/`.
    pub host: Url,
    /// How the host is reached.
    pub connect: ConnectOptions,
    /// The name of the pipe.
    pub pipe: String,
    /// The token for a relay that requires one; empty otherwise.
    pub token: String,
}

/// Carries messages until the connection is closed, and reports why.
pub async fn run(endpoint: Endpoint, commands: mpsc::Receiver<LinkCommand>, events: EventSender) {
    let why = match open(&endpoint).await {
        Ok(socket) => carry(socket, commands, &events)
            .await
            .map_or_else(|why| format!("{why:#}"), |()| "the connection was closed".into()),
        Err(why) => format!("{why:#}"),
    };
    events.send(LinkEvent::Closed(why)).await;
}

async fn open(endpoint: &Endpoint) -> anyhow::Result<WebSocket> {
    let mut url = endpoint.host.clone();
    url.set_path(&format!("{PIPES_PATH}{}", endpoint.pipe));
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    url.set_scheme(scheme).ok().context("the host has no WebSocket address")?;
    let header = (!endpoint.token.is_empty()).then(|| ("Authorization", format!("Bearer {}", endpoint.token)));
    let opened = timeout(OPEN_TIMEOUT, endpoint.connect.socket(&url, header))
        .await
        .context("the stream relay does not answer")?;
    opened.map_err(|end| anyhow::anyhow!("{}", end.reason()))
}

async fn carry(
    mut socket: WebSocket,
    mut commands: mpsc::Receiver<LinkCommand>,
    events: &EventSender,
) -> anyhow::Result<()> {
    events.send(LinkEvent::Open(Path::Relay)).await;
    loop {
        tokio::select! {
            message = socket.next() => match message.context("the stream relay ended the connection")? {
                Ok(Message::Text(text)) => drop(events.send(LinkEvent::Text(text.to_string())).await),
                Ok(Message::Binary(bytes)) => {
                    ensure!(bytes.len() <= MAX_MESSAGE as usize, "a message is too large");
                    events.send(LinkEvent::Binary(bytes)).await;
                }
                Ok(Message::Close(frame)) => return failed(&ConnectionEnd::from_close(frame.as_ref())),
                Ok(_) => {}
                Err(why) => return failed(&ConnectionEnd::from_error(why)),
            },
            command = commands.recv() => match command {
                Some(LinkCommand::Text(text)) => socket.send(Message::text(text)).await?,
                Some(LinkCommand::Chunk(bytes)) => {
                    socket.send(Message::binary(bytes)).await?;
                    events.send(LinkEvent::ChunkSent).await;
                }
                Some(LinkCommand::Answer(_) | LinkCommand::Candidate(_)) => {}
                Some(LinkCommand::Close) | None => {
                    let _late = timeout(CLOSE_TIMEOUT, socket.close(None)).await;
                    return Ok(());
                }
            },
        }
    }
}

fn failed(end: &ConnectionEnd) -> anyhow::Result<()> {
    Err(anyhow::anyhow!("{}", end.reason()))
}
