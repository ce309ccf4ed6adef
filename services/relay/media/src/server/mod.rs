//! The server of Media over QUIC. `MEDIA.md` specifies the wire behaviour; its rules are cited as `MED-n`.
//!
//! The interface consists of plain data, handles and boxed futures: an `async fn` would be compiled again, with all of QUIC, in each binary and
//! test that awaits it (ADR 12).
use crate::Limits;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

mod accept;
mod certificates;
mod codes;
mod control_bytes;
mod counted;
mod dial;
mod fanout;
mod limiter;
mod links;
mod lookup;
mod metrics;
mod network;
mod open;
mod patterns;
mod quic;
mod session;
mod sessions;
mod traces;
mod upgrade;

pub use codes::NUMBERS;
pub use open::Server;

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The UDP address for QUIC and WebTransport.
    pub listen: SocketAddr,
    /// The TCP address for clients without WebTransport. The edge in front of it has the certificate.
    pub websocket: SocketAddr,
    /// Whether proxies in front of `websocket` report the addresses of clients.
    pub proxied: bool,
    /// The certificates of the server.
    pub certificates: Certificates,
    /// The limits.
    pub limits: Limits,
}

/// The source of certificates. The server watches the files, and new connections get the newest certificate.
#[derive(Clone, Debug)]
pub enum Certificates {
    /// PEM files of a public CA, which are replaced by rename.
    Public {
        /// The certificate chain.
        certificate: PathBuf,
        /// The private key.
        key: PathBuf,
    },
    /// ECDSA P-256 certificates that the relay makes and rotates in a directory of its own; clients pin their hashes. `certificate_life` is at
    /// least two rotations and an hour.
    Pinned {
        /// The directory.
        directory: PathBuf,
        /// The host names and addresses in the certificates.
        names: Vec<String>,
    },
}

/// What an authenticated session may do.
#[derive(Clone, Debug)]
pub enum Grant {
    /// A client, with patterns of broadcasts in the syntax of tokens (STR-105).
    Client {
        /// The broadcasts that it may publish.
        publish: Vec<String>,
        /// The broadcasts to which it may subscribe.
        subscribe: Vec<String>,
    },
    /// Another relay of the region.
    Link,
    /// A relay of another region.
    RegionLink,
}

/// The code of a refusal or of the end of a session, as clients see it.
pub type Refusal = &'static str;

/// The authorization of one session.
pub trait Authorization: Send + Sync {
    /// Returns what the session may do.
    fn grant(&self) -> Grant;
    /// Returns the span before, if the session is part of a traced join: `traceparent` of W3C Trace Context.
    fn trace(&self) -> Option<&str> {
        None
    }
    /// Returns why the authorization has ended, if it has. The server calls this every 250 ms.
    fn ended(&self) -> Option<Refusal>;
}

/// **A port**: authenticates sessions, and knows who is muted.
pub trait Admission: Send + Sync {
    /// Checks the origin of a request, and returns the network that the session counts for.
    fn check_request(&self, request: &HandshakeRequest<'_>) -> Result<IpAddr, Refusal>;
    /// Returns the network that an address counts for, before any byte of it is read.
    fn network(&self, address: IpAddr) -> IpAddr;
    /// Whether an owner muted the participant: clients get none of its sounds. Called for about each frame of a sound.
    fn is_muted(&self, participant: &str) -> bool;
    /// Authenticates the credential in the query of the URL: `jwt=` of clients, `key=` of links.
    fn authenticate(&self, credential: Credential<'_>) -> Result<Box<dyn Authorization>, Refusal>;
}

/// The headers of a request for a session.
#[derive(Clone, Debug)]
pub struct HandshakeRequest<'a> {
    /// The address of the peer: the client, or the last proxy.
    pub direct: IpAddr,
    /// The origin of the page. Only browsers send it.
    pub origin: Option<&'a str>,
    /// The requested host.
    pub host: &'a str,
    /// The entries of `X-Forwarded-For`, in their order.
    pub forwarded: Vec<&'a str>,
}

/// The credential of a session.
#[derive(Clone, Copy, Debug)]
pub enum Credential<'a> {
    /// No credential.
    None,
    /// The token of a client.
    Token(&'a str),
    /// The key that another relay read in this relay's lease.
    Key(&'a str),
}

/// A relay to dial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The name of the relay.
    pub name: String,
    /// The address of its QUIC endpoint. `None`: that of `host`, which is looked up for each attempt.
    pub address: Option<SocketAddr>,
    /// The port of its QUIC endpoint.
    pub port: u16,
    /// The key that it requires in `key=`.
    pub key: String,
    /// SHA-256 of its certificates, base64; empty if a public CA signed them for `host`.
    pub certificate_hashes: Vec<String>,
    /// The host name in its certificate.
    pub host: String,
    /// The cost of the link, for both directions. MoQ selects the route of least cost.
    pub cost: u64,
    /// Whether it is a relay of another region.
    pub in_other_region: bool,
}

/// The state of a server that its leases announce.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// SHA-256 of the current and the next certificate, base64; empty with a public CA.
    pub certificate_hashes: Vec<String>,
    /// The number of sessions of clients.
    pub sessions: usize,
}

/// Returns the time.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Makes the provider of QUIC the default of TLS in the process, unless there is a default already.
pub fn choose_cryptography() {
    let _chosen_before = moq_tokio::crypto::install_default();
}

/// Starts a server.
pub fn open(config: Config, admission: Arc<dyn Admission>) -> Boxed<'static, anyhow::Result<Server>> {
    open_at(config, admission, Arc::new(SystemTime::now))
}

/// Starts a server that rotates certificates by the caller's clock.
pub fn open_at(config: Config, admission: Arc<dyn Admission>, clock: Clock) -> Boxed<'static, anyhow::Result<Server>> {
    Box::pin(open::open(config, admission, clock))
}
