//! A session with a relay that reconnects when it is lost.
use super::dial::{Broadcasts, CertificateHash, RelayAddress, Session, Transport, dial};
use super::live::LiveRelays;
use super::session_end;
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use crate::retry::{STABLE_AFTER, Switch, pause};
use crate::room::RelayRequester;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use url::Url;

/// How relays are reached.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Flags {
    /// With a relay's own address: SHA-256 of its certificate in base64 or hex; repeatable
    #[arg(long = "hash", value_name = "SHA256")]
    hashes: Vec<CertificateHash>,
    #[command(flatten)]
    session: SessionFlags,
}

/// Flags of a session.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct SessionFlags {
    /// The transport of the session [QUIC, and WebSocket where UDP is blocked]
    #[arg(long, value_enum)]
    transport: Option<Transport>,
    /// Whether to reconnect when the connection is lost
    #[arg(long, value_enum, default_value_t = Switch::On)]
    reconnect: Switch,
}

impl From<SessionFlags> for Flags {
    /// The flags for a relay that the service chooses.
    fn from(session: SessionFlags) -> Self {
        Self { hashes: Vec::new(), session }
    }
}

/// Where the address of a relay comes from before each session.
pub enum RelaySource {
    /// A known address.
    Relay(RelayAddress),
    /// Signaling, for a live broadcast.
    Live(LiveRelays),
    /// The room.
    Room(RelayRequester),
}

/// A session that reconnects. `keep` may be cancelled, and `close` called after it.
pub struct Link {
    source: RelaySource,
    broadcasts: Broadcasts,
    flags: Flags,
    session: Option<Session>,
    /// The relay that was lost or did not answer.
    lost: Option<String>,
    is_up: watch::Sender<bool>,
    attempts: u32,
}

impl RelaySource {
    /// The address of a relay itself: `https://HOST:PORT/?jwt=TOKEN`, or that of its WebSocket.
    pub fn from_url(url: Url, flags: &Flags) -> Self {
        let websocket = matches!(url.scheme(), "ws" | "wss");
        let (quic, websocket) = if websocket { (None, Some(url)) } else { (Some(url), None) };
        RelaySource::Relay(RelayAddress { quic, hashes: flags.hashes.clone(), websocket, ..RelayAddress::default() })
    }

    /// `lost`: a relay that another one is to replace, if there is another.
    async fn address(&mut self, lost: Option<&str>) -> Result<RelayAddress, ConnectionEnd> {
        match self {
            RelaySource::Relay(address) => Ok(address.clone()),
            RelaySource::Live(live) => live.request(lost).await,
            RelaySource::Room(room) => room.request(lost).await,
        }
    }

    /// Whether each session gets a new token.
    fn renews_token(&self) -> bool {
        !matches!(self, RelaySource::Relay(_))
    }
}

impl Link {
    /// A link that is not connected yet. The published and the received broadcasts continue after a reconnect.
    pub fn new(source: RelaySource, broadcasts: Broadcasts, flags: Flags) -> Self {
        Self { source, broadcasts, flags, session: None, lost: None, is_up: watch::Sender::new(false), attempts: 0 }
    }

    /// Whether the session is connected.
    pub fn is_up(&self) -> watch::Receiver<bool> {
        self.is_up.subscribe()
    }

    /// Connects, and reconnects when the connection is lost, until retrying cannot help.
    pub async fn keep(&mut self) -> Exit {
        loop {
            let began = Instant::now();
            let end = self.run_session().await;
            self.is_up.send_replace(false);
            self.session = None;
            if began.elapsed() > STABLE_AFTER {
                self.attempts = 0;
            }
            let (why, retry) = match end {
                ConnectionEnd::Lost { why, retry } if self.flags.session.reconnect == Switch::On => (why, retry),
                over => return over.report(),
            };
            let pause = pause(retry, self.attempts);
            self.attempts += 1;
            eprintln!("parley: {why}; retrying in {:.1} s", pause.as_secs_f64());
            sleep(pause).await;
        }
    }

    /// Runs one session to its end.
    async fn run_session(&mut self) -> ConnectionEnd {
        let address = match self.source.address(self.lost.as_deref()).await {
            Ok(address) => address,
            Err(end) => return end,
        };
        self.lost = address.offered.clone();
        let dialled = match dial(address, self.flags.session.transport, self.broadcasts.clone()).await {
            Ok(dialled) => dialled,
            Err(why) => return session_end::not_connected(why, self.source.renews_token()),
        };
        eprintln!("parley: connected over {}", dialled.over);
        self.is_up.send_replace(true);
        let connection = self.session.insert(dialled).connection.clone();
        let ended = connection.closed().await;
        if session_end::is_of_token(&ended) {
            self.lost = None;
        }
        session_end::closed(ended, self.source.renews_token())
    }

    /// Ends the session when the relay has received everything that was published.
    pub async fn close(mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }
}
