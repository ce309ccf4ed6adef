//! Media over QUIC. A client publishes a broadcast once, to a nearby relay, and it reaches its viewers through a tree of relays. Rules MEDIA-1,
//! MEDIA-2, MEDIA-5, MEDIA-7, MEDIA-18 to MEDIA-21 and MEDIA-29 of the protocol's `SPEC.md`, and those of `MEDIA.md` (`MED-n`).
//!
//! | module | responsibility |
//! |---|---|
//! | [`hosts`] | the hosts to which clients may be redirected |
//! | [`tree`] | the relays to dial and the successor of a drain, from the leases of other relays. No I/O, no clock |
//! | `regions` | the origins of other regions: which are dialled and when they are forgotten. No I/O, no clock |
//! | [`origin_lease`], `other_regions` | the lease of an origin for other regions, and its exchange on NATS |
//! | [`mutes`] | the participants whom owners muted. No I/O, no clock |
//! | `admission` | authentication of clients by token and of links by key |
//! | `directory` | the directory of the relay's own certificates |
//! | [`server`] | QUIC, WebTransport and WebSocket: sessions, links, certificates. It depends neither on tokens nor on NATS |
//! | `running` | the running server: its leases, its links, its drain |
//! | `disabled` | the substitute in a relay that is built without media |
pub mod hosts;
mod limits;
pub mod mutes;
pub mod origin_lease;
pub mod tree;

#[cfg(feature = "quic")]
mod other_regions;
#[cfg(feature = "quic")]
mod regions;

#[cfg(feature = "quic")]
mod admission;
#[cfg(feature = "quic")]
mod directory;
#[cfg(not(feature = "quic"))]
mod disabled;
#[cfg(feature = "quic")]
mod running;
#[cfg(feature = "quic")]
pub mod server;

#[cfg(not(feature = "quic"))]
pub use disabled::Media;
#[cfg(feature = "quic")]
pub use running::Media;

pub use limits::Limits;

use hosts::Hosts;
use mutes::Mutes;
use parley_access::{Keys, Ports};
use parley_cluster::endpoint::Role;
use parley_cluster::key::Key;
use parley_cluster::url::Url;
use parley_net::origins::Origins;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The configuration of media.
#[derive(Clone, Debug)]
pub struct Config {
    /// The UDP address for QUIC and WebTransport.
    pub listen: SocketAddr,
    /// The TCP address for WebSocket, to which the edge forwards.
    pub websocket: SocketAddr,
    /// The address at which other pods reach `listen`.
    pub advertise: Option<SocketAddr>,
    /// The URL at which clients reach `listen`; `None`: `listen` itself, which is a loopback address.
    pub url: Option<Url>,
    /// The hosts of relays to which clients may be redirected, and of origins of other regions.
    pub hosts: Hosts,
    /// The role in the tree of relays.
    pub role: Role,
    /// The certificates of the server.
    pub certificates: Certificates,
    /// The keys that verify tokens; `None`: access is open.
    pub keys: Option<Keys>,
    /// The OTLP/HTTP receiver of a collector for traces; `None`: nothing is traced.
    pub traces_url: Option<String>,
}

/// The source of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificates {
    /// PEM files of a public CA, which are replaced by rename.
    Public {
        /// The certificate chain.
        certificate: PathBuf,
        /// The private key.
        key: PathBuf,
    },
    /// Certificates that the relay makes in this directory; `None`: in a new directory, which it removes when it ends.
    Pinned(Option<PathBuf>),
}

/// Selects the provider of cryptography for TLS in the whole process. With media there are two, that of QUIC and that of the connection to NATS,
/// and rustls does not choose between them.
pub fn choose_cryptography() {
    #[cfg(feature = "quic")]
    server::choose_cryptography();
}

/// The keys with which other relays authenticate: one for relays of the region, and one for relays of other regions.
#[derive(Clone)]
pub struct LinkKeys {
    /// In the lease for the region.
    pub region: Key,
    /// In the lease for other regions.
    pub other_regions: Key,
}

impl LinkKeys {
    /// New random keys.
    pub fn random() -> Self {
        Self { region: Key::random(), other_regions: Key::random() }
    }
}

/// Authenticates clients and links.
pub struct Guard {
    /// The keys that verify tokens, and the revocations; `None`: access is open.
    pub tokens: Option<(Keys, Arc<Ports>)>,
    /// The keys in this pod's leases, with which other relays authenticate; `None`: the pod is alone.
    pub link_keys: Option<LinkKeys>,
    /// The participants whose sounds clients do not get.
    pub mutes: Arc<Mutes>,
    /// The origins of pages that may open sessions.
    pub origins: Origins,
    /// The number of proxies in front of WebSocket whose entries in X-Forwarded-For are trusted.
    pub trusted_proxies: usize,
    /// The limits of tokens.
    pub limits: parley_access::Limits,
    /// The age up to which a token opens sessions, in ms.
    pub token_age: u64,
}
