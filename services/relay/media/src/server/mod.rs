//! The second door of the relay: Media over QUIC. A broadcast is published once, to a relay nearby, and reaches whoever watches through
//! a tree of relays. The wire behaviour is in `MEDIA.md`; its rules are cited as `MED-n`.
//!
//! What crosses this crate's border is plain data, handles and boxed futures: an `async fn` of it would be compiled again in every
//! binary and test that awaits it, with all of QUIC (ADR 12).
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
mod limiter;
mod links;
mod metrics;
mod open;
mod patterns;
mod quic;
mod sessions;
mod upgrade;

pub use codes::NUMBERS;
pub use open::Server;

/// What takes its time.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How a relay carries media.
#[derive(Clone, Debug)]
pub struct Config {
    /// UDP, for QUIC and WebTransport.
    pub listen: SocketAddr,
    /// TCP, for clients without WebTransport: behind the edge, which has the certificate.
    pub websocket: SocketAddr,
    /// Whether proxies stand before `websocket` that say who comes.
    pub proxied: bool,
    /// What it shows that it is the one.
    pub certificates: Certificates,
    /// The limits in force.
    pub limits: Limits,
}

/// Where certificates come from. Both are watched, and new connections get the newest.
#[derive(Clone, Debug)]
pub enum Certificates {
    /// Of a public CA: PEM files, replaced by rename.
    Public {
        /// The chain.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// Its own, ECDSA P-256, made and rotated in a directory where nothing else is; clients pin their hashes.
    /// `certificate_life` is at least two rotations and an hour.
    Pinned {
        /// The directory.
        directory: PathBuf,
        /// The host names and addresses in them.
        names: Vec<String>,
    },
}

/// What somebody who was let in may do.
#[derive(Clone, Debug)]
pub enum Grant {
    /// A client, with patterns of broadcasts as tokens have them (STR-105).
    Client {
        /// May publish these.
        publish: Vec<String>,
        /// May subscribe to these.
        subscribe: Vec<String>,
    },
    /// Another relay of the region.
    Link,
}

/// Why somebody is not let in, or is sent away: the code as clients see it.
pub type Refusal = &'static str;

/// One that was let in, as whoever let it in knows it.
pub trait Authorization: Send + Sync {
    /// What it may do.
    fn grant(&self) -> Grant;
    /// Why it is over, if it is. Asked every second.
    fn ended(&self) -> Option<Refusal>;
}

/// **A port**: who may come in.
pub trait Admission: Send + Sync {
    /// Whether a page of that origin may come in, and the network that it is counted for.
    fn check_request(&self, request: &HandshakeRequest<'_>) -> Result<IpAddr, Refusal>;
    /// The network that an address is counted for, before anything is read from it.
    fn network(&self, address: IpAddr) -> IpAddr;
    /// Judges what stood in the address behind `jwt=` (clients) or `key=` (links).
    fn authenticate(&self, credential: Credential<'_>) -> Result<Box<dyn Authorization>, Refusal>;
}

/// Whoever asks to come in, by the headers of its request.
#[derive(Clone, Debug)]
pub struct HandshakeRequest<'a> {
    /// Where it, or the last proxy before it, is.
    pub direct: IpAddr,
    /// That of a page; programs that are no browser send none.
    pub origin: Option<&'a str>,
    /// The host that it asked for.
    pub host: &'a str,
    /// What proxies wrote (`X-Forwarded-For`), the last one last.
    pub forwarded: Vec<&'a str>,
}

/// What somebody brings.
#[derive(Clone, Copy, Debug)]
pub enum Credential<'a> {
    /// Nothing.
    None,
    /// A client's token.
    Token(&'a str),
    /// What another relay of the region read in this one's lease.
    Key(&'a str),
}

/// Another relay that this one dials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Where its QUIC is.
    pub address: SocketAddr,
    /// What it wants to see, for `key=`.
    pub key: String,
    /// SHA-256 of its certificates, base64; none where a public CA signed them for `host`.
    pub certificate_hashes: Vec<String>,
    /// The name in its certificate.
    pub host: String,
    /// What the way to it costs, in both directions: MoQ takes the cheapest way.
    pub cost: u64,
}

/// What a relay says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// SHA-256 of its certificates, base64: the current and the next; none with a public CA.
    pub certificate_hashes: Vec<String>,
    /// Clients' sessions now.
    pub sessions: usize,
}

/// What time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Has all TLS of the process take the cryptography of QUIC, where nothing was chosen before.
pub fn choose_cryptography() {
    let _chosen_before = moq_tokio::crypto::install_default();
}

/// Opens the door.
pub fn open(config: Config, admission: Arc<dyn Admission>) -> Boxed<'static, anyhow::Result<Server>> {
    open_at(config, admission, Arc::new(SystemTime::now))
}

/// The same with a clock of the caller's, which certificates go by.
pub fn open_at(config: Config, admission: Arc<dyn Admission>, clock: Clock) -> Boxed<'static, anyhow::Result<Server>> {
    Box::pin(open::open(config, admission, clock))
}
