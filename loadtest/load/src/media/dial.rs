//! Sessions with relays. Many share a socket, so that the generator reads what came for all of them at once.
use super::plan::shown;
use anyhow::Context;
use moq_net::origin;
use moq_tokio::{Client, Connection, connect, quic};
use parley_cli::media::Boxed;
use parley_cli::media::dial::Hash;
use parley_cli::reach::Reach;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use url::{Host, Url};

/// A relay that answers later is not there.
const PATIENCE: Duration = Duration::from_secs(10);
/// Sessions of one socket: its buffer has to hold a key frame for each of them.
const PER_SOCKET: usize = 16;

/// Opens sessions.
pub struct Dialler {
    fingerprints: Vec<String>,
    reach: Reach,
    sockets: Vec<Client>,
    opened: usize,
}

impl Dialler {
    /// `hashes`: of certificates; none where public CAs signed them.
    pub fn new(hashes: &[Hash], reach: Reach) -> Self {
        Self { fingerprints: hashes.iter().map(ToString::to_string).collect(), reach, sockets: Vec::new(), opened: 0 }
    }

    /// Opens one more, which publishes what is in one origin and takes into the other whatever the relay offers.
    pub fn dial(
        &mut self,
        relay: Url,
        publish: Option<&origin::Producer>,
        watch: Option<origin::Producer>,
    ) -> anyhow::Result<Boxed<'static, anyhow::Result<Connection>>> {
        if self.opened.is_multiple_of(PER_SOCKET) {
            self.sockets.push(self.socket(&relay)?);
        }
        self.opened += 1;
        let mut client = self.sockets.last().context("there is a socket")?.clone();
        if let Some(origin) = publish {
            client = client.with_publisher(origin);
        }
        if let Some(origin) = watch {
            client = client.with_subscriber(origin);
        }
        let reach = self.reach.clone();
        Ok(Box::pin(async move {
            let opened = client.connect(reach.at(relay.clone()).await?).established().await;
            opened.with_context(|| format!("{} cannot be reached", shown(&relay)))
        }))
    }

    fn socket(&self, relay: &Url) -> anyhow::Result<Client> {
        let mut config = connect::Config::default();
        config.timeout = PATIENCE;
        // Whoever is lost is counted.
        config.once = Some(true);
        config.websocket.enabled = Some(false);
        config.tls.fingerprint.clone_from(&self.fingerprints);
        self.reach.trust(&mut config);
        // A machine without IPv6 has no socket for both.
        if matches!(relay.host(), Some(Host::Ipv4(_))) {
            config.bind = Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
        }
        config.init(quic::Config::default()).context("no socket for QUIC")
    }

    /// Tells all relays that it is over.
    pub async fn close(self) {
        for socket in self.sockets {
            socket.close().await;
        }
    }
}
