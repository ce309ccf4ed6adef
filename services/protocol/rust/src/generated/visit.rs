//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Messages to page visitors: Messages of a pod on the socket of pages, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{CodeName, Holder, IceServer, PageAddress, PageLimits, PipeName, PodId, VisitorId};
use crate::bounded::List;
use serde::{Deserialize, Serialize};

/// Messages of a pod on the socket of pages, as JSON text messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "welcome")]
    Welcome(Welcome),
    #[serde(rename = "holders")]
    Holders(Holders),
    #[serde(rename = "count")]
    Count(Count),
    #[serde(rename = "visitors")]
    Visitors(Visitors),
    #[serde(rename = "pipe")]
    Pipe(Pipe),
    #[serde(rename = "ice")]
    Ice(Ice),
    #[serde(rename = "pong")]
    Pong,
    #[serde(rename = "undelivered")]
    Undelivered(Undelivered),
    #[serde(rename = "goaway")]
    Goaway(Goaway),
    #[serde(rename = "error")]
    Error(Error),
    /// A message of a newer service.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    pub visitor: VisitorId,
    pub pod: PodId,
    /// STUN only: `ice` answers credentials for TURN.
    pub ice_servers: Vec<IceServer>,
    pub limits: PageLimits,
    pub visitors: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holders {
    pub page: PageAddress,
    pub holders: List<Holder, 0, 64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    pub page: PageAddress,
    pub holders: u64,
    pub readers: u64,
    /// The count includes every holder. 0 holders then means that the page is gone.
    pub settled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Visitors {
    pub visitors: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pipe {
    pub pipe: PipeName,
    pub token: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ice {
    pub ice_servers: Vec<IceServer>,
    /// Seconds for which the credentials make new allocations; 0 where there are none.
    pub ice_ttl_s: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UndeliveredReason {
    #[serde(rename = "unknown")]
    Unknown,
    #[serde(rename = "away")]
    Away,
    #[serde(rename = "timeout")]
    Timeout,
    #[serde(rename = "slow")]
    Slow,
    #[serde(rename = "unreachable")]
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undelivered {
    pub to: VisitorId,
    /// The id that the sender gave the directed message.
    pub id: String,
    pub reason: UndeliveredReason,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Goaway {
    /// Time until this client resumes on another pod.
    pub after_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    pub code: CodeName,
    pub message: String,
    /// The pod closes the socket next, with the close code of the table.
    pub fatal: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub retry_after_ms: Option<u64>,
    /// The id of the refused message, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub r#ref: Option<String>,
}
