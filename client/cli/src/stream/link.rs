//! A socket on a topic, which is reopened when it is lost.
use super::credentials::Credentials;
use crate::connection_end::{ConnectionEnd, Retry};
use crate::exit::Exit;
use crate::retry::{STABLE_AFTER, Switch, pause};
use crate::stop::Stop;
use anyhow::{Context, ensure};
use futures_util::{FutureExt, SinkExt, StreamExt};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, interval_at, sleep, timeout, timeout_at};
use tokio_tungstenite::tungstenite::http::uri::PathAndQuery;
use tokio_tungstenite::tungstenite::http::{HeaderValue, Uri};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, ClientRequestBuilder, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

/// The topic, and what to do when the connection is lost.
#[derive(Clone, Debug, clap::Args)]
pub struct Link {
    /// The topic: ws://HOST/PATH or wss://HOST/PATH
    #[arg(value_name = "URL", value_parser = topic_url)]
    url: Uri,
    #[command(flatten)]
    credentials: Credentials,
    /// Whether to reconnect when the connection is lost
    #[arg(long, value_enum, default_value_t = Switch::On)]
    reconnect: Switch,
}

/// How long a server may take to answer.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that sends nothing for this long is pinged. After the same time again the connection is lost.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How long a server may take to answer a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Rule STR-100: a server without authentication handles a token as any message.
const NO_TOKEN_REQUIRED: &str = "the server requires no token and handled it as a message: omit it";
/// The largest message that is accepted: the maximum of `stream.messageBytes`.
const MAX_MESSAGE: usize = 64 << 20;

fn topic_url(text: &str) -> anyhow::Result<Uri> {
    let url: Uri = text.parse().context("must be ws://HOST/PATH or wss://HOST/PATH")?;
    let whole = matches!(url.scheme_str(), Some("ws" | "wss")) && url.host().is_some();
    ensure!(whole, "must be ws://HOST/PATH or wss://HOST/PATH");
    Ok(url)
}

/// An open socket.
pub struct Socket {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    ping: Interval,
    pinged: bool,
}

impl Link {
    /// Uses this path if the URL has none.
    pub fn or_path(mut self, path: &'static str) -> anyhow::Result<Self> {
        if self.url.path() == "/" {
            let mut parts = self.url.into_parts();
            parts.path_and_query = Some(PathAndQuery::from_static(path));
            self.url = Uri::from_parts(parts)?;
        }
        Ok(self)
    }

    /// Runs `serve` on a socket, and on a new one when it is lost, until `serve` or the user ends it or the server refuses.
    pub async fn keep(
        &self,
        mut serve: impl AsyncFnMut(&mut Socket) -> anyhow::Result<ConnectionEnd>,
    ) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let mut attempts = 0;
        loop {
            let began = Instant::now();
            let opened = tokio::select! {
                opened = self.open() => opened?,
                () = stop.requested() => return Ok(Exit::Done),
            };
            let end = match opened {
                Err(end) => end,
                Ok(mut socket) => {
                    let end = tokio::select! {
                        end = serve(&mut socket) => end?,
                        () = stop.requested() => ConnectionEnd::Done,
                    };
                    if end == ConnectionEnd::Done {
                        socket.close().await;
                    }
                    end
                }
            };
            if began.elapsed() > STABLE_AFTER {
                attempts = 0;
            }
            let (why, retry) = match end {
                ConnectionEnd::Done => return Ok(Exit::Done),
                ConnectionEnd::Refused(why) => {
                    eprintln!("parley: {why}");
                    return Ok(Exit::Refused);
                }
                ConnectionEnd::NoToken(why) if self.credentials.is_empty() => {
                    eprintln!("parley: {why}: give one with --token, --token-file or PARLEY_TOKEN");
                    return Ok(Exit::Refused);
                }
                ConnectionEnd::NoToken(why) => (why, Retry::Later),
                ConnectionEnd::Lost { why, retry } => (why, retry),
            };
            if self.reconnect == Switch::Off {
                eprintln!("parley: {why}");
                return Ok(Exit::Failed);
            }
            let pause = pause(retry, attempts);
            attempts += 1;
            eprintln!("parley: {why}; retrying in {:.1} s", pause.as_secs_f64());
            tokio::select! {
                () = sleep(pause) => {}
                () = stop.requested() => return Ok(Exit::Done),
            }
        }
    }

    async fn open(&self) -> anyhow::Result<Result<Socket, ConnectionEnd>> {
        let connection = match self.credentials.prepare(&self.url).await? {
            Ok(connection) => connection,
            Err(end) => return Ok(Err(end)),
        };
        let mut request = ClientRequestBuilder::new(connection.url);
        request = request.with_header("User-Agent", concat!("parley/", env!("CARGO_PKG_VERSION")));
        if let Some(header) = connection.header {
            HeaderValue::from_str(&header).context("the token")?;
            request = request.with_header("Authorization", header);
        }
        let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        let socket = match timeout(OPEN_TIMEOUT, connect_async_with_config(request, Some(config), true)).await {
            Err(_) => return Ok(Err(ConnectionEnd::lost("the server does not answer"))),
            Ok(Err(why)) => return Ok(Err(ConnectionEnd::from_error(why))),
            Ok(Ok((socket, _))) => socket,
        };
        let mut socket =
            Socket { socket, ping: interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL), pinged: false };
        match connection.message {
            None => Ok(Ok(socket)),
            Some(token) => Ok(socket.authenticate(token).await.map(|()| socket)),
        }
    }
}

impl Socket {
    /// Sends the token and waits for the answer `{"authorised": …, "reason": …}`. Rule STR-107.
    async fn authenticate(&mut self, token: String) -> Result<(), ConnectionEnd> {
        self.send(Message::text(token)).await?;
        // A server that answers the ping and not the token is alive and requires no token.
        self.send(Message::Ping(Bytes::new())).await?;
        let deadline = Instant::now() + OPEN_TIMEOUT;
        let mut alive = false;
        let answer = loop {
            match timeout_at(deadline, self.socket.next()).await {
                Err(_) if alive => return Err(ConnectionEnd::Refused(NO_TOKEN_REQUIRED.into())),
                Err(_) => return Err(ConnectionEnd::lost("no answer to the token")),
                Ok(Some(Ok(Message::Pong(_)))) => alive = true,
                Ok(next) => {
                    if let Some(message) = message_of(next)? {
                        break message;
                    }
                }
            }
        };
        let answer: serde_json::Value = serde_json::from_slice(&answer.into_data()).unwrap_or_default();
        match answer["authorised"].as_bool() {
            Some(true) => Ok(()),
            Some(false) => {
                let reason = answer["reason"].as_str().unwrap_or("no reason given");
                Err(ConnectionEnd::Refused(format!("the server refused the token: {reason}")))
            }
            None => Err(ConnectionEnd::Refused(NO_TOKEN_REQUIRED.into())),
        }
    }

    /// Sends a message after all messages before it.
    pub async fn send(&mut self, message: Message) -> Result<(), ConnectionEnd> {
        let Err(why) = self.socket.send(message).await else { return Ok(()) };
        // The close frame of the server, if it sent one, says why it stopped reading.
        let close = async {
            loop {
                message_of(self.socket.next().await)?;
            }
        };
        let close: Result<Result<(), ConnectionEnd>, _> = timeout(CLOSE_TIMEOUT, close).await;
        match close {
            Ok(Err(end @ ConnectionEnd::Refused(_))) => Err(end),
            _ => Err(ConnectionEnd::from_error(why)),
        }
    }

    /// Receives the next text or binary message, or returns how the socket ended. Cancel-safe.
    pub async fn receive(&mut self) -> Result<Message, ConnectionEnd> {
        loop {
            tokio::select! {
                next = self.socket.next() => {
                    (self.pinged, _) = (false, self.ping.reset());
                    if let Some(message) = message_of(next)? {
                        return Ok(message);
                    }
                }
                _ = self.ping.tick() => {
                    if std::mem::replace(&mut self.pinged, true) {
                        return Err(ConnectionEnd::lost("the server stopped answering"));
                    }
                    self.send(Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }

    /// Returns a message that has arrived already, without waiting.
    pub fn try_receive(&mut self) -> Option<Result<Message, ConnectionEnd>> {
        while let Some(next) = self.socket.next().now_or_never() {
            match message_of(next) {
                Ok(None) => {}
                Ok(Some(message)) => return Some(Ok(message)),
                Err(end) => return Some(Err(end)),
            }
        }
        None
    }

    /// Sends a close frame, and waits a moment for that of the server.
    async fn close(&mut self) {
        let closing = async {
            let frame = CloseFrame { code: 1000.into(), reason: "".into() };
            let _ = self.socket.close(Some(frame)).await;
            while let Some(Ok(_)) = self.socket.next().await {}
        };
        let _ = timeout(CLOSE_TIMEOUT, closing).await;
    }
}

fn message_of(
    next: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
) -> Result<Option<Message>, ConnectionEnd> {
    match next {
        Some(Ok(Message::Close(frame))) => Err(ConnectionEnd::from_close(frame.as_ref())),
        Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => Ok(Some(message)),
        Some(Ok(_)) => Ok(None),
        Some(Err(why)) => Err(ConnectionEnd::from_error(why)),
        None => Err(ConnectionEnd::lost("the server ended the connection")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_the_url_of_a_websocket() {
        for good in ["ws://h", "wss://h:1/a/b?c", "ws://[::1]:8111/x"] {
            assert!(topic_url(good).is_ok(), "{good}");
        }
        for bad in ["", "h:1", "http://h/x", "ws:///x", "/x", "ws://h/a b"] {
            assert!(topic_url(bad).is_err(), "{bad}");
        }
    }
}
