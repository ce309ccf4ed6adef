//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Messages between two connected visitors: Messages on a data channel or a pipe, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::PageAddress;
use crate::bounded::Text;
use serde::{Deserialize, Serialize};

/// Messages on a data channel or a pipe, as JSON text messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "handshake")]
    Handshake(Handshake),
    #[serde(rename = "bitfield")]
    Bitfield(Bitfield),
    #[serde(rename = "have")]
    Have(Have),
    #[serde(rename = "request")]
    Request(Request),
    #[serde(rename = "reject")]
    Reject(Reject),
    #[serde(rename = "bye")]
    Bye,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handshake {
    pub page: PageAddress,
    /// The exact bytes: their SHA-256 is the address.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub manifest: Option<Text<0, 262_144>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bitfield {
    pub chunks: Text<0, 1024>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Have {
    pub chunk: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub chunk: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reject {
    pub chunk: u64,
}
