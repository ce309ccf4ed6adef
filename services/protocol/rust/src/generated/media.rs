//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Media relays: Leases of media relays, and the mutes that they enforce, published over core NATS as JSON.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{CertificateHash, ParticipantId, RelayName, RelayUrl};
use crate::bounded::List;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MediaRelayRole {
    #[serde(rename = "origin")]
    Origin,
    #[serde(rename = "leaf")]
    Leaf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaRelay {
    pub relay: RelayName,
    /// Orders the runs of the process: a later run has a greater epoch.
    pub epoch: NonZeroU64,
    /// A leaf serves clients and subscribes at its origins; an origin serves leaves, and clients where there is no leaf.
    pub role: MediaRelayRole,
    pub url: RelayUrl,
    /// Current and next; empty where the certificate is from a public CA.
    pub certificate_hashes: List<CertificateHash, 0, 4>,
    pub sessions: u64,
    /// Maximum number of sessions.
    pub capacity: NonZeroU64,
    /// The relay is about to end: no client is sent to it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub draining: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayMutes {
    /// Participants whose sounds relays withhold.
    pub muted: List<ParticipantId, 0, 1000>,
    /// Participants whose sounds relays deliver again.
    pub unmuted: List<ParticipantId, 0, 1000>,
}
