//! The host, and the connections that the checks open.
use crate::connect::ConnectOptions;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::{Host, Url};

/// How long leaving rooms and closing connections may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// A Parley host.
pub struct Site {
    /// `https://HOST/`.
    pub url: Url,
    /// How it is reached.
    pub connect: ConnectOptions,
    /// The token for streams.
    pub token: Option<String>,
    tasks: Mutex<JoinSet<()>>,
}

impl Site {
    /// A host without open connections.
    pub fn new(url: Url, connect: ConnectOptions, token: Option<String>) -> Self {
        Self { url, connect, token, tasks: Mutex::default() }
    }

    /// A URL of the host.
    pub fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    /// A WebSocket URL of the host.
    pub fn socket_at(&self, path: &str) -> Url {
        let mut url = self.at(path);
        let _always_is = url.set_scheme(if self.url.scheme() == "https" { "wss" } else { "ws" });
        url
    }

    /// The name and port of the host.
    pub fn host(&self) -> (&str, u16) {
        (self.url.host_str().unwrap_or_default(), self.url.port_or_known_default().unwrap_or(443))
    }

    /// Whether the host is this machine.
    pub fn is_local(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
            None => false,
        }
    }

    /// Tracks a task that ends soon after the check that uses it, also if the check is cancelled.
    pub fn track(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.lock().spawn(task);
    }

    /// Waits until the tracked tasks end.
    pub async fn close(self) {
        let mut tasks = self.tasks.into_inner();
        let all = async { while tasks.join_next().await.is_some() {} };
        let _late = timeout(CLOSE_TIMEOUT, all).await;
    }
}
