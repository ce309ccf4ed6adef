//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! HTTP bodies: Requests and answers of `/v1`.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{Ban, CodeName, DeviceId, DisplayName, ListedParticipant, ParticipantId, RegionList, RelayOffer, RoomName, RoomView};
use crate::bounded::{Text, Whole};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateRoomRequest {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub name: Option<RoomName>,
    /// Maximum number of participants, enforced exactly; the installation may allow fewer. Only with a name.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub cap: Option<Whole<1, 1000>>,
    /// Newcomers wait until the owner admits them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub lobby: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateRoomAnswer {
    pub room: RoomView,
    /// Address of the page of the room.
    pub link: String,
    /// Shown once; send it as `Authorization: Bearer`.
    pub owner_key: String,
    /// The room is deleted when it was not used for this time. One for a call that was used has more of it.
    pub idle_ms: NonZeroU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeRoomRequest {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub locked: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub lobby: Option<bool>,
    /// Whether everyone but owners is muted, also those who join later. Both values end all single mutes and exceptions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub muted: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BanRequest {
    /// Also bans the network address; always the case for a client that sent no device id.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub network: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BanList {
    pub bans: Vec<Ban>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParticipantList {
    pub participants: Vec<ListedParticipant>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinRequest {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub name: Option<DisplayName>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub device: Option<DeviceId>,
    /// The slot of an earlier answer `BUSY`, whose time has come.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub slot: Option<Text<0, 64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinAnswer {
    pub participant: ParticipantId,
    pub ticket: String,
    pub ticket_ttl_ms: i64,
    /// WebSocket address; the first message carries the ticket.
    pub socket_url: String,
    pub room: RoomView,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub regions: Option<RegionList>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveRequest {
    /// Whether to publish the broadcast, and not only to subscribe to it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub publish: Option<bool>,
    /// The address of a relay that was lost or drains: the answer is another one if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub exclude: Option<Text<0, 256>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveAnswer {
    /// Its path on the relay: `live/{name}`.
    pub broadcast: String,
    pub relay: RelayOffer,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorAnswer {
    pub code: CodeName,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub retry_after_ms: Option<u64>,
    /// With `BUSY`: a place that is kept. The same request with it is accepted once, from `retryAfterMs` on for `slot.keep`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub slot: Option<Text<0, 64>>,
}
