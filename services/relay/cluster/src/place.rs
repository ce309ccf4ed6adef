//! What a pod's lease says of its media: where it is, and what opens it to other relays.
use crate::hash::Hash;
use crate::key::Key;
use crate::lease::Lease;
use crate::url::Url;
pub use parley_protocol::media::MediaRelayRole as Role;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// What a relay's lease says of its media.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its place in the tree.
    pub role: Role,
    /// Where other pods dial it.
    pub address: SocketAddr,
    /// Where clients reach it; its certificate is for that host.
    pub url: Url,
    /// Of its certificates: the current and the next; none where a public CA signed it.
    pub hashes: Vec<Hash>,
    /// What another relay that dials it presents.
    pub key: Key,
    /// Sessions that it takes beside those it has.
    pub available: u64,
}

/// The leases of other pods that live, by name.
pub type Others = BTreeMap<String, Lease>;

/// A lease's field, `None` where it is another version's: pods link for streams whatever they say of media.
pub fn if_known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Place>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}
