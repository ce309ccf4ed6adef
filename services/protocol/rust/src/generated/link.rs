//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Signaling between two visitors: Payloads of directed messages, as JSON.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{LinkId, PageAddress, PipeName};
use crate::bounded::Text;
use serde::{Deserialize, Serialize};

/// Payloads of directed messages, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "offer")]
    Offer(Offer),
    #[serde(rename = "answer")]
    Answer(Answer),
    #[serde(rename = "candidate")]
    Candidate(Candidate),
    #[serde(rename = "reject")]
    Reject(Reject),
    #[serde(rename = "pipe")]
    Pipe(Pipe),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    pub link: LinkId,
    pub page: PageAddress,
    pub sdp: Text<0, 16_384>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub link: LinkId,
    pub sdp: Text<0, 16_384>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    pub link: LinkId,
    pub candidate: Text<0, 1024>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub mid: Option<Text<0, 32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RejectReason {
    #[serde(rename = "busy")]
    Busy,
    #[serde(rename = "not-found")]
    NotFound,
    #[serde(rename = "glare")]
    Glare,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reject {
    pub link: LinkId,
    pub reason: RejectReason,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pipe {
    pub link: LinkId,
    pub page: PageAddress,
    pub pipe: PipeName,
}
