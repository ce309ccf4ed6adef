//! Media over QUIC: the relay's second door. A broadcast is published once, to a relay nearby, and reaches its viewers through a tree of
//! relays. Rules MEDIA-1, MEDIA-2, MEDIA-5 and MEDIA-7 of the protocol's `SPEC.md`, and those of `MEDIA.md` (`MED-n`).
//!
//! | file | what |
//! |---|---|
//! | [`hosts`] | the hosts that clients may be sent to |
//! | [`tree`] | whom it dials and where its clients go, by the leases of others. No I/O, no clock |
//! | `admission` | who may: tokens, links |
//! | `directory` | where its own certificates are |
//! | [`door`] | QUIC, WebTransport and WebSocket: sessions, links, certificates. It knows of no token and no NATS |
//! | `running` | the open door: what it says and hears while it lives, how it drains |
//! | `without` | a relay that is built without media |
pub mod hosts;
mod limits;
pub mod tree;

#[cfg(feature = "quic")]
mod admission;
#[cfg(feature = "quic")]
mod directory;
#[cfg(feature = "quic")]
pub mod door;
#[cfg(feature = "quic")]
mod running;
#[cfg(not(feature = "quic"))]
mod without;

#[cfg(feature = "quic")]
pub use running::Media;
#[cfg(not(feature = "quic"))]
pub use without::Media;

pub use limits::Limits;

use hosts::Hosts;
use parley_access::{Keys, Ports};
use parley_cluster::endpoint::Role;
use parley_cluster::key::Key;
use parley_cluster::url::Url;
use parley_net::origins::Origins;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// How a pod carries media.
#[derive(Clone, Debug)]
pub struct Config {
    /// UDP, for QUIC and WebTransport.
    pub listen: SocketAddr,
    /// TCP, for WebSocket: the edge leads there.
    pub websocket: SocketAddr,
    /// Where other pods reach `listen`.
    pub advertise: Option<SocketAddr>,
    /// Where clients reach it; `None`: at `listen`, which is this machine alone.
    pub url: Option<Url>,
    /// The hosts of relays that clients may be sent to.
    pub hosts: Hosts,
    /// Its place in the tree.
    pub role: Role,
    /// What it shows that it is the one.
    pub certificates: Certificates,
    /// What tokens are verified with; `None`: none is asked for.
    pub keys: Option<Keys>,
}

/// Where certificates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificates {
    /// Of a public CA: PEM files, replaced by rename.
    Public {
        /// The chain.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// Its own, in this directory, or in one that ends with it.
    Pinned(Option<PathBuf>),
}

/// Says which cryptography TLS takes, in the whole process: with media there are two, that of QUIC and that of the connection to NATS,
/// and rustls does not choose.
pub fn choose_cryptography() {
    #[cfg(feature = "quic")]
    door::choose_cryptography();
}

/// Who comes in.
pub struct Guard {
    /// What tokens are verified with, and what was revoked; `None`: none is asked for.
    pub tokens: Option<(Keys, Arc<Ports>)>,
    /// What other pods read in this one's lease; `None`: there are no others.
    pub key: Option<Key>,
    /// Pages that may come in.
    pub origins: Origins,
    /// Proxies in front of WebSocket that are believed about who comes.
    pub trusted_proxies: usize,
    /// The limits of tokens.
    pub limits: parley_access::Limits,
    /// A token opens sessions until it is this old, in ms.
    pub token_age: u64,
}
