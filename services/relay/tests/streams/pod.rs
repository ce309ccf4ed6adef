//! A relay in the test's process.
pub use super::client::{Client, DEADLINE};
use parley_relay::config::{self, Settings};
use parley_relay::start::{self, Running};
use std::ffi::OsString;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::ClientRequestBuilder;
use tokio_tungstenite::{MaybeTlsStream, client_async};

pub struct Pod(pub Running);

pub fn settings(flags: &[&str]) -> Settings {
    let listens = flags.iter().any(|flag| flag.starts_with("--listen="));
    let usual = if listens { &["parley-relay"][..] } else { &["parley-relay", "--listen=127.0.0.1:0"] };
    config::read(usual.iter().chain(flags).map(OsString::from), std::iter::empty()).unwrap()
}

/// Starts a relay with these flags.
pub async fn start(flags: &[&str]) -> Pod {
    Pod(start::relay(settings(flags)).await.unwrap())
}

impl Pod {
    pub fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.0.address)
    }

    pub async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.0.address).await.unwrap()
    }

    pub async fn join(&self, path: &str) -> Client {
        self.join_with(path, |request| request).await
    }

    pub async fn join_with(
        &self,
        path: &str,
        with: impl FnOnce(ClientRequestBuilder) -> ClientRequestBuilder,
    ) -> Client {
        let request = with(ClientRequestBuilder::new(self.url(path).parse().unwrap()));
        let stream = MaybeTlsStream::Plain(self.tcp().await);
        let (socket, response) = timeout(DEADLINE, client_async(request, stream)).await.unwrap().unwrap();
        let protocol = response.headers().get("sec-websocket-protocol").map(|name| name.to_str().unwrap().to_owned());
        let client = Client { socket, protocol };
        self.settled().await;
        client
    }

    /// Waits until all sockets with an answered handshake are on their topics.
    async fn settled(&self) {
        let relay = &self.0.relay;
        self.until("sockets are on their topics", || {
            relay.clients.count() as u64 + relay.stats_sockets.load(std::sync::atomic::Ordering::Relaxed) > 0
        })
        .await;
    }

    /// Waits for a condition that no message reports.
    pub async fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let wait = async {
            while !is_so() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(timeout(DEADLINE, wait).await.is_ok(), "never: {what}");
    }

    pub async fn until_clients(&self, count: usize) {
        self.until(&format!("{count} clients"), || self.0.relay.clients.count() == count).await;
    }
}
