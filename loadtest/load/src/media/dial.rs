//! Sessions with relays. Many sessions share a UDP socket, so that the generator reads the packets of all of them at once.
use super::plan::{place_of, without_token};
use anyhow::Context;
use moq_net::origin;
use moq_tokio::{Client, Connection, connect, quic};
use parley_cli::{BoxFuture, CertificateHash, ConnectOptions};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use url::{Host, Url};

/// The longest wait for a session.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How many sessions share a socket: its buffer must hold a key frame for each of them.
const SESSIONS_PER_SOCKET: usize = 16;

/// Opens sessions.
pub struct Dialer {
    fingerprints: Vec<String>,
    connect: ConnectOptions,
    /// By the network namespace that they are in.
    sockets: BTreeMap<String, Sockets>,
}

/// The sockets of one network namespace.
#[derive(Default)]
struct Sockets {
    all: Vec<Client>,
    sessions: usize,
}

impl Dialer {
    /// `hashes`: of the certificates of relays; empty where public CAs signed them.
    pub fn new(hashes: &[CertificateHash], connect: ConnectOptions) -> Self {
        Self { fingerprints: hashes.iter().map(ToString::to_string).collect(), connect, sockets: BTreeMap::new() }
    }

    /// Opens a session that publishes the broadcasts of one origin, and announces those of the relay in the other. A fragment of the URL is the network
    /// namespace from which the relay is reached.
    pub fn dial(
        &mut self,
        relay: Url,
        publish: Option<&origin::Producer>,
        subscribe: Option<origin::Producer>,
    ) -> anyhow::Result<BoxFuture<'static, anyhow::Result<Connection>>> {
        let mut client = self.socket(&relay)?;
        if let Some(origin) = publish {
            client = client.with_publisher(origin);
        }
        if let Some(origin) = subscribe {
            client = client.with_subscriber(origin);
        }
        let connect = self.connect.clone();
        Ok(Box::pin(async move {
            let mut address = relay.clone();
            address.set_fragment(None);
            let opened = client.connect(connect.relay_addr(address).await?).established().await;
            opened.with_context(|| format!("{} cannot be reached", without_token(&relay)))
        }))
    }

    /// A socket that has room for one more session, which it counts.
    fn socket(&mut self, relay: &Url) -> anyhow::Result<Client> {
        let place = place_of(relay);
        let full = self.sockets.get(place).is_none_or(|sockets| sockets.sessions.is_multiple_of(SESSIONS_PER_SOCKET));
        let opened = if full { Some(self.open_in(place, relay)?) } else { None };
        let sockets = self.sockets.entry(place.to_owned()).or_default();
        sockets.all.extend(opened);
        sockets.sessions += 1;
        Ok(sockets.all.last().context("there is a socket")?.clone())
    }

    /// Opens a socket in a network namespace, where it stays; empty: in that of this process.
    fn open_in(&self, namespace: &str, relay: &Url) -> anyhow::Result<Client> {
        if namespace.is_empty() {
            return self.open(relay);
        }
        let runtime = Handle::current();
        // A thread that enters a namespace stays in it: this one ends.
        let opened = thread::scope(|scope| {
            let opening = || {
                let _entered = runtime.enter();
                let entry = File::open(format!("/run/netns/{namespace}")).context("no such network namespace")?;
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(entry.as_fd(), kind).context("root is needed")?;
                self.open(relay)
            };
            scope.spawn(opening).join()
        });
        let opened = opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        opened.with_context(|| format!("in network namespace {namespace}"))
    }

    fn open(&self, relay: &Url) -> anyhow::Result<Client> {
        let mut config = connect::Config::default();
        config.timeout = CONNECT_TIMEOUT;
        // A lost session is counted and not dialed again.
        config.once = Some(true);
        config.websocket.enabled = Some(false);
        config.tls.fingerprint.clone_from(&self.fingerprints);
        self.connect.apply_tls(&mut config);
        // A machine without IPv6 has no dual-stack socket.
        if matches!(relay.host(), Some(Host::Ipv4(_))) {
            config.bind = Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
        }
        config.init(quic::Config::default()).context("cannot open a UDP socket for QUIC")
    }

    /// Closes all sessions.
    pub async fn close(self) {
        for socket in self.sockets.into_values().flat_map(|sockets| sockets.all) {
            socket.close().await;
        }
    }
}
