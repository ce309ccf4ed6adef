//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! What visitors of pages say: On the socket of pages, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{PageAddress, PipeName, VisitorId};
use crate::bounded::List;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// On the socket of pages, as JSON text messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "want")]
    Want(Want),
    #[serde(rename = "hold")]
    Hold(Hold),
    #[serde(rename = "drop")]
    Drop(Drop),
    #[serde(rename = "pipe")]
    Pipe(Pipe),
    #[serde(rename = "ice")]
    Ice,
    #[serde(rename = "ping")]
    Ping,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Want {
    pub page: PageAddress,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub without: Option<List<VisitorId, 0, 64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    pub page: PageAddress,
    pub whole: bool,
    /// Of the whole page.
    pub bytes: NonZeroU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drop {
    pub page: PageAddress,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pipe {
    pub pipe: PipeName,
}
