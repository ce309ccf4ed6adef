//! A socket on a topic, and opening it again when it is lost.
use super::door::Credentials;
use crate::again::{GOOD, Switch, pause};
use crate::ending::{Again, Ending};
use crate::exit::Exit;
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

/// Where to connect, and what to do when the connection is lost.
#[derive(Clone, Debug, clap::Args)]
pub struct Link {
    /// The topic: ws://HOST/PATH or wss://HOST/PATH
    #[arg(value_name = "URL", value_parser = address)]
    url: Uri,
    #[command(flatten)]
    credentials: Credentials,
    /// Whether to connect again when the connection is lost
    #[arg(long, value_enum, default_value_t = Switch::On)]
    reconnect: Switch,
}

/// A server that does not answer in this time is not there.
const OPENING: Duration = Duration::from_secs(10);
/// A server that was quiet this long is pinged; one that is quiet as long again is gone.
const PING: Duration = Duration::from_secs(30);
/// How long a server may take to answer a close frame.
const CLOSING: Duration = Duration::from_secs(2);
/// Rule STR-100: to an open server a token is a message like any other.
const OPEN: &str = "the server does not ask for a token, and handed it on as a message: leave it out";
/// The largest message that is taken: as `stream.messageBytes` may be.
const MESSAGE_MAX: usize = 64 << 20;

fn address(text: &str) -> anyhow::Result<Uri> {
    let url: Uri = text.parse().context("must be ws://HOST/PATH or wss://HOST/PATH")?;
    let whole = matches!(url.scheme_str(), Some("ws" | "wss")) && url.host().is_some();
    ensure!(whole, "must be ws://HOST/PATH or wss://HOST/PATH");
    Ok(url)
}

/// An open socket.
pub struct Socket {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    quiet: Interval,
    pinged: bool,
}

impl Link {
    /// The same with this path, if the address has none.
    pub fn or_path(mut self, path: &'static str) -> anyhow::Result<Self> {
        if self.url.path() == "/" {
            let mut parts = self.url.into_parts();
            parts.path_and_query = Some(PathAndQuery::from_static(path));
            self.url = Uri::from_parts(parts)?;
        }
        Ok(self)
    }

    /// Talks over a socket, and over another one when it is lost, until the talk or the user ends it, or the server refuses.
    pub async fn keep(&self, mut talk: impl AsyncFnMut(&mut Socket) -> anyhow::Result<Ending>) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let mut tries = 0;
        loop {
            let began = Instant::now();
            let opened = tokio::select! {
                opened = self.open() => opened?,
                () = stop.told() => return Ok(Exit::Done),
            };
            let ending = match opened {
                Err(ending) => ending,
                Ok(mut socket) => {
                    let ending = tokio::select! {
                        ending = talk(&mut socket) => ending?,
                        () = stop.told() => Ending::Done,
                    };
                    if ending == Ending::Done {
                        socket.close().await;
                    }
                    ending
                }
            };
            if began.elapsed() > GOOD {
                tries = 0;
            }
            let (why, again) = match ending {
                Ending::Done => return Ok(Exit::Done),
                Ending::Refused(why) => {
                    eprintln!("parley: {why}");
                    return Ok(Exit::Refused);
                }
                Ending::NoToken(why) if self.credentials.none() => {
                    eprintln!("parley: {why}: give one with --token, --token-file or PARLEY_TOKEN");
                    return Ok(Exit::Refused);
                }
                Ending::NoToken(why) => (why, Again::Later),
                Ending::Lost { why, again } => (why, again),
            };
            if self.reconnect == Switch::Off {
                eprintln!("parley: {why}");
                return Ok(Exit::Failed);
            }
            let pause = pause(again, tries);
            tries += 1;
            eprintln!("parley: {why}; trying again in {:.1} s", pause.as_secs_f64());
            tokio::select! {
                () = sleep(pause) => {}
                () = stop.told() => return Ok(Exit::Done),
            }
        }
    }

    async fn open(&self) -> anyhow::Result<Result<Socket, Ending>> {
        let entry = match self.credentials.prepare(&self.url).await? {
            Ok(entry) => entry,
            Err(ending) => return Ok(Err(ending)),
        };
        let mut request = ClientRequestBuilder::new(entry.url);
        request = request.with_header("User-Agent", concat!("parley/", env!("CARGO_PKG_VERSION")));
        if let Some(header) = entry.header {
            HeaderValue::from_str(&header).context("the token")?;
            request = request.with_header("Authorization", header);
        }
        let config = WebSocketConfig::default().max_message_size(Some(MESSAGE_MAX)).max_frame_size(Some(MESSAGE_MAX));
        let socket = match timeout(OPENING, connect_async_with_config(request, Some(config), true)).await {
            Err(_) => return Ok(Err(Ending::lost("the server does not answer"))),
            Ok(Err(why)) => return Ok(Err(Ending::of(why))),
            Ok(Ok((socket, _))) => socket,
        };
        let mut socket = Socket { socket, quiet: interval_at(Instant::now() + PING, PING), pinged: false };
        match entry.message {
            None => Ok(Ok(socket)),
            Some(token) => Ok(socket.introduce(token).await.map(|()| socket)),
        }
    }
}

impl Socket {
    /// Sends a token and waits for what the server says to it: `{"authorised": …, "reason": …}`. Rule STR-107.
    async fn introduce(&mut self, token: String) -> Result<(), Ending> {
        self.send(Message::text(token)).await?;
        // A server that answers this and not the token lives, and asks for none.
        self.send(Message::Ping(Bytes::new())).await?;
        let deadline = Instant::now() + OPENING;
        let mut lives = false;
        let answer = loop {
            match timeout_at(deadline, self.socket.next()).await {
                Err(_) if lives => return Err(Ending::Refused(OPEN.into())),
                Err(_) => return Err(Ending::lost("no answer to the token")),
                Ok(Some(Ok(Message::Pong(_)))) => lives = true,
                Ok(next) => {
                    if let Some(message) = judge(next)? {
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
                Err(Ending::Refused(format!("the server does not take the token: {reason}")))
            }
            None => Err(Ending::Refused(OPEN.into())),
        }
    }

    /// Sends a message, once everything before it is on its way.
    pub async fn send(&mut self, message: Message) -> Result<(), Ending> {
        let Err(why) = self.socket.send(message).await else { return Ok(()) };
        // A server that took no more has said why, if it said anything.
        let said = async {
            loop {
                judge(self.socket.next().await)?;
            }
        };
        let said: Result<Result<(), Ending>, _> = timeout(CLOSING, said).await;
        match said {
            Ok(Err(ending @ Ending::Refused(_))) => Err(ending),
            _ => Err(Ending::of(why)),
        }
    }

    /// The next text or binary message, or how the socket ended. May be given up halfway.
    pub async fn hear(&mut self) -> Result<Message, Ending> {
        loop {
            tokio::select! {
                next = self.socket.next() => {
                    (self.pinged, _) = (false, self.quiet.reset());
                    if let Some(message) = judge(next)? {
                        return Ok(message);
                    }
                }
                _ = self.quiet.tick() => {
                    if std::mem::replace(&mut self.pinged, true) {
                        return Err(Ending::lost("the server went silent"));
                    }
                    self.send(Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }

    /// What is here already, without waiting.
    pub fn heard(&mut self) -> Option<Result<Message, Ending>> {
        while let Some(next) = self.socket.next().now_or_never() {
            match judge(next) {
                Ok(None) => {}
                Ok(Some(message)) => return Some(Ok(message)),
                Err(ending) => return Some(Err(ending)),
            }
        }
        None
    }

    /// Says goodbye, and waits a moment for the server to do so too.
    async fn close(&mut self) {
        let goodbye = async {
            let frame = CloseFrame { code: 1000.into(), reason: "".into() };
            let _ = self.socket.close(Some(frame)).await;
            while let Some(Ok(_)) = self.socket.next().await {}
        };
        let _ = timeout(CLOSING, goodbye).await;
    }
}

fn judge(next: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>) -> Result<Option<Message>, Ending> {
    match next {
        Some(Ok(Message::Close(frame))) => Err(Ending::closed(frame.as_ref())),
        Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => Ok(Some(message)),
        Some(Ok(_)) => Ok(None),
        Some(Err(why)) => Err(Ending::of(why)),
        None => Err(Ending::lost("the server ended the connection")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_a_web_socket() {
        for good in ["ws://h", "wss://h:1/a/b?c", "ws://[::1]:8111/x"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in ["", "h:1", "http://h/x", "ws:///x", "/x", "ws://h/a b"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
