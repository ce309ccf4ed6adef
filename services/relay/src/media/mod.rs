//! The pod's second door: Media over QUIC, which the crate `parley-media` carries. Here is what makes it a part of this relay: who
//! comes in, whom it dials, what it says of itself. Rules MEDIA-1, MEDIA-2, MEDIA-5 and MEDIA-7 of the protocol's `SPEC.md`.
//!
//! | file | what |
//! |---|---|
//! | [`hosts`] | the hosts that clients may be sent to |
//! | [`tree`] | whom it dials and where its clients go, by the leases of others. No I/O, no clock |
//! | [`word`] | what it says to signaling |
//! | `admission` | who may: tokens, links |
//! | `certificates` | where its own certificates are |
//! | `running` | the open door: what it says and hears while it lives, how it drains |
//! | `without` | a relay that is built without media |
pub mod hosts;
pub mod tree;
pub mod word;

#[cfg(feature = "media")]
mod admission;
#[cfg(feature = "media")]
mod certificates;
#[cfg(feature = "media")]
mod running;
#[cfg(not(feature = "media"))]
mod without;

#[cfg(feature = "media")]
pub use running::Media;
#[cfg(not(feature = "media"))]
pub use without::Media;

use crate::limits::Limits;
use hosts::Hosts;
use parley_access::{Keys, Ports};
use parley_cluster::key::Key;
use parley_cluster::place::Role;
use parley_cluster::url::Url;
use parley_net::visitor::Origins;
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
    #[cfg(feature = "media")]
    parley_media::choose_cryptography();
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
    /// The limits in force.
    pub limits: Limits,
}
