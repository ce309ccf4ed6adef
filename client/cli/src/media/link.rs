//! A session with a relay that comes back when it is lost.
use super::dial::{Address, Dialled, Ends, Hash, Transport, dial};
use super::ending;
use super::live::Live;
use crate::again::{GOOD, Switch, pause};
use crate::ending::Ending;
use crate::exit::Exit;
use crate::room::Asker;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use url::Url;

/// How relays are reached.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Flags {
    /// Of a relay's own address: SHA-256 of its certificate, base64 or hex; repeatable
    #[arg(long = "hash", value_name = "SHA256")]
    hashes: Vec<Hash>,
    #[command(flatten)]
    session: Session,
}

/// How a session is held.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Session {
    /// What carries the session [QUIC, and WebSocket where UDP does not get through]
    #[arg(long, value_enum)]
    transport: Option<Transport>,
    /// Whether to connect again when the connection is lost
    #[arg(long, value_enum, default_value_t = Switch::On)]
    reconnect: Switch,
}

impl From<Session> for Flags {
    /// Of a relay that somebody else names.
    fn from(session: Session) -> Self {
        Self { hashes: Vec::new(), session }
    }
}

/// Where the address of a relay comes from, each time.
pub enum Way {
    /// It is known.
    Relay(Address),
    /// Signaling knows: to watch, or also to publish.
    Live(Live, bool),
    /// The room knows, of the host that it is on.
    Room(Asker, Url),
}

/// A session that comes back. It may be given up while it waits, and closed then.
pub struct Link {
    way: Way,
    ends: Ends,
    flags: Flags,
    up: Option<Dialled>,
    is_up: watch::Sender<bool>,
    tries: u32,
}

impl Way {
    /// A relay's own address: `https://HOST:PORT/?jwt=TOKEN`, or that of its WebSocket.
    pub fn to(url: Url, flags: &Flags) -> Self {
        let websocket = matches!(url.scheme(), "ws" | "wss");
        let (quic, websocket) = if websocket { (None, Some(url)) } else { (Some(url), None) };
        Way::Relay(Address { quic, hashes: flags.hashes.clone(), websocket, ..Address::default() })
    }

    async fn ask(&mut self) -> Result<Address, Ending> {
        match self {
            Way::Relay(address) => Ok(address.clone()),
            Way::Live(live, publish) => live.ask(*publish).await,
            Way::Room(room, host) => room.ask(host, None).await,
        }
    }

    /// Whether another token is given for the next session.
    fn asks(&self) -> bool {
        !matches!(self, Way::Relay(_))
    }
}

impl Link {
    /// What it carries goes on when it comes back.
    pub fn new(way: Way, ends: Ends, flags: Flags) -> Self {
        Self { way, ends, flags, up: None, is_up: watch::Sender::new(false), tries: 0 }
    }

    /// Whether it is connected.
    pub fn is_up(&self) -> watch::Receiver<bool> {
        self.is_up.subscribe()
    }

    /// Connects, and again when the connection is lost, until trying again cannot help.
    pub async fn keep(&mut self) -> Exit {
        loop {
            let began = Instant::now();
            let ending = self.hold().await;
            self.is_up.send_replace(false);
            self.up = None;
            if began.elapsed() > GOOD {
                self.tries = 0;
            }
            let (why, again) = match ending {
                Ending::Lost { why, again } if self.flags.session.reconnect == Switch::On => (why, again),
                over => return over.say(),
            };
            let pause = pause(again, self.tries);
            self.tries += 1;
            eprintln!("parley: {why}; trying again in {:.1} s", pause.as_secs_f64());
            sleep(pause).await;
        }
    }

    /// One session, to its end.
    async fn hold(&mut self) -> Ending {
        let address = match self.way.ask().await {
            Ok(address) => address,
            Err(ending) => return ending,
        };
        let dialled = match dial(address, self.flags.session.transport, self.ends.clone()).await {
            Ok(dialled) => dialled,
            Err(why) => return ending::undialled(why, self.way.asks()),
        };
        eprintln!("parley: connected over {}", dialled.over);
        self.is_up.send_replace(true);
        let connection = self.up.insert(dialled).connection.clone();
        ending::closed(connection.closed().await, self.way.asks())
    }

    /// Ends the session once the relay has everything that was published.
    pub async fn close(mut self) {
        if let Some(up) = self.up.take() {
            up.close().await;
        }
    }
}
