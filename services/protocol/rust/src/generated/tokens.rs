//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Token claims: Claims of the signed tokens: EdDSA JWTs whose header names the key (`kid`).
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{Incarnation, ParticipantId, RoomId, SpanId, TraceClaim, VisitorMarks};
use crate::bounded::List;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TicketClaimsIss {
    #[serde(rename = "parley")]
    Parley,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TicketClaimsAud {
    #[serde(rename = "parley:ticket")]
    ParleyTicket,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TicketClaims {
    pub iss: TicketClaimsIss,
    pub aud: TicketClaimsAud,
    pub sub: ParticipantId,
    pub room: RoomId,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub incarnation: Option<Incarnation>,
    /// The join carried the owner key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub owner: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub visitor: Option<VisitorMarks>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub trace: Option<TraceClaim>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub caller: Option<SpanId>,
    pub exp: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ResumeClaimsIss {
    #[serde(rename = "parley")]
    Parley,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ResumeClaimsAud {
    #[serde(rename = "parley:resume")]
    ParleyResume,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeClaims {
    pub iss: ResumeClaimsIss,
    pub aud: ResumeClaimsAud,
    pub sub: ParticipantId,
    pub room: RoomId,
    /// The generation at welcome: a resume must be above it.
    pub generation: NonZeroU64,
    /// When the participant first entered, Unix ms: it gets no earlier chat lines.
    pub since: u64,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub incarnation: Option<Incarnation>,
    /// The join carried the owner key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub owner: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub visitor: Option<VisitorMarks>,
    /// A pod lets in a participant that it does not know yet with a young token.
    pub iat: i64,
    pub exp: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MediaClaimsIss {
    #[serde(rename = "parley")]
    Parley,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MediaClaimsAud {
    #[serde(rename = "parley:media")]
    ParleyMedia,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaClaims {
    pub iss: MediaClaimsIss,
    pub aud: MediaClaimsAud,
    pub sub: ParticipantId,
    /// That of the participant when the token was signed: a revocation names the highest that it covers. Absent for a live broadcast.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub generation: Option<NonZeroU64>,
    pub publish: List<String, 0, 16>,
    pub subscribe: List<String, 0, 16>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub trace: Option<TraceClaim>,
    /// The token opens sessions for `media.tokenMaxAge` from this time on.
    pub iat: i64,
    /// When a session that the token opened ends.
    pub exp: i64,
}
