//! Sessions with relays. Many sessions share a UDP socket, so that the generator reads the packets of all of them at once.
use super::plan::without_token;
use anyhow::Context;
use moq_net::origin;
use moq_tokio::{Client, Connection, connect, quic};
use parley_cli::{BoxFuture, CertificateHash, ConnectOptions};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use url::{Host, Url};

/// The longest wait for a session.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How many sessions share a socket: its buffer must hold a key frame for each of them.
const SESSIONS_PER_SOCKET: usize = 16;

/// Opens sessions.
pub struct Dialer {
    fingerprints: Vec<String>,
    connect: ConnectOptions,
    sockets: Vec<Client>,
    opened: usize,
}

impl Dialer {
    /// `hashes`: of the certificates of relays; empty where public CAs signed them.
    pub fn new(hashes: &[CertificateHash], connect: ConnectOptions) -> Self {
        Self { fingerprints: hashes.iter().map(ToString::to_string).collect(), connect, sockets: Vec::new(), opened: 0 }
    }

    /// Opens a session that publishes the broadcasts of one origin, and announces those of the relay in the other.
    pub fn dial(
        &mut self,
        relay: Url,
        publish: Option<&origin::Producer>,
        subscribe: Option<origin::Producer>,
    ) -> anyhow::Result<BoxFuture<'static, anyhow::Result<Connection>>> {
        if self.opened.is_multiple_of(SESSIONS_PER_SOCKET) {
            self.sockets.push(self.socket(&relay)?);
        }
        self.opened += 1;
        let mut client = self.sockets.last().context("there is a socket")?.clone();
        if let Some(origin) = publish {
            client = client.with_publisher(origin);
        }
        if let Some(origin) = subscribe {
            client = client.with_subscriber(origin);
        }
        let connect = self.connect.clone();
        Ok(Box::pin(async move {
            let opened = client.connect(connect.relay_addr(relay.clone()).await?).established().await;
            opened.with_context(|| format!("{} cannot be reached", without_token(&relay)))
        }))
    }

    fn socket(&self, relay: &Url) -> anyhow::Result<Client> {
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
        for socket in self.sockets {
            socket.close().await;
        }
    }
}
