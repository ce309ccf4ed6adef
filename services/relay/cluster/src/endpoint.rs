//! The media endpoint of a pod, a field of its lease: its addresses, and the key that admits other relays.
use crate::hash::Hash;
use crate::key::Key;
use crate::url::Url;
pub use parley_protocol::media::MediaRelayRole as Role;
use serde::{Deserialize, Deserializer, Serialize};
use std::net::SocketAddr;

/// The media endpoint of a relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaEndpoint {
    /// The role of the relay in the tree.
    pub role: Role,
    /// The address that other pods dial.
    pub address: SocketAddr,
    /// The URL for clients; the certificate is valid for its host.
    pub url: Url,
    /// The hashes of the current and the next certificate; none if a public CA signed the certificate.
    pub hashes: Vec<Hash>,
    /// The key that another relay presents when it dials.
    pub key: Key,
    /// The number of sessions that the relay accepts beyond the current ones.
    pub available: u64,
}

/// Deserializes the field of a lease. A value of another version is `None`, because pods link for streams whatever their media endpoints.
pub(crate) fn deserialize_if_known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<MediaEndpoint>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}
