//! The host, and what has to be put back when the checks are over.
use crate::reach::Reach;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::{Host, Url};

/// How long leaving and closing may take.
const TIDYING: Duration = Duration::from_secs(3);

/// A Parley host.
pub struct Site {
    /// `https://HOST/`.
    pub url: Url,
    /// How it is reached.
    pub reach: Reach,
    /// For streams.
    pub token: Option<String>,
    open: Mutex<JoinSet<()>>,
}

impl Site {
    /// A host of which nothing is open yet.
    pub fn new(url: Url, reach: Reach, token: Option<String>) -> Self {
        Self { url, reach, token, open: Mutex::default() }
    }

    /// An address of it.
    pub fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    /// The address of a WebSocket of it.
    pub fn socket_at(&self, path: &str) -> Url {
        let mut url = self.at(path);
        let _always_is = url.set_scheme(if self.url.scheme() == "https" { "wss" } else { "ws" });
        url
    }

    /// Its name and port.
    pub fn host(&self) -> (&str, u16) {
        (self.url.host_str().unwrap_or_default(), self.url.port_or_known_default().unwrap_or(443))
    }

    /// Whether it is this machine itself.
    pub fn is_here(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
            None => false,
        }
    }

    /// Holds something open. It ends soon after whoever uses it has dropped its end, as a check does that is given up.
    pub fn hold(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.open.lock().spawn(task);
    }

    /// Waits until nothing is left of the checks.
    pub async fn tidy(self) {
        let mut open = self.open.into_inner();
        let all = async { while open.join_next().await.is_some() {} };
        let _late = timeout(TIDYING, all).await;
    }
}
