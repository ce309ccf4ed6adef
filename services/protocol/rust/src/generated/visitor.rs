//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Messages of page visitors: Messages of a visitor on the socket of pages, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{PageAddress, PipeName, VisitorId};
use crate::bounded::List;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Messages of a visitor on the socket of pages, as JSON text messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "subscribe")]
    Subscribe(Subscribe),
    #[serde(rename = "announce")]
    Announce(Announce),
    #[serde(rename = "leave")]
    Leave(Leave),
    #[serde(rename = "pipe")]
    Pipe(Pipe),
    #[serde(rename = "ice")]
    Ice,
    #[serde(rename = "ping")]
    Ping,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscribe {
    pub page: PageAddress,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub exclude: Option<List<VisitorId, 0, 64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Announce {
    pub page: PageAddress,
    pub whole: bool,
    /// Size of the whole page.
    pub bytes: NonZeroU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Leave {
    pub page: PageAddress,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pipe {
    pub pipe: PipeName,
}
