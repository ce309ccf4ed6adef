//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Server messages: Messages of a pod on a socket, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{ChatId, ChatLine, ChatProof, CodeName, DisplayName, IceServer, Media, Member, ParticipantId, PodId, ReactionEmoji, RegionList, RegionUrl, RelayOffer, RoomView, Waiting};
use crate::bounded::List;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Messages of a pod on a socket, as JSON text messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "welcome")]
    Welcome(Welcome),
    #[serde(rename = "joined")]
    Joined(Joined),
    #[serde(rename = "left")]
    Left(Left),
    #[serde(rename = "away")]
    Away(Away),
    #[serde(rename = "unreachable")]
    Unreachable(Unreachable),
    #[serde(rename = "back")]
    Back(Back),
    #[serde(rename = "changed")]
    Changed(Changed),
    #[serde(rename = "chat")]
    Chat(Chat),
    #[serde(rename = "chat-ack")]
    ChatAck(ChatAck),
    #[serde(rename = "reaction")]
    Reaction(Reaction),
    #[serde(rename = "resume-token")]
    ResumeToken(ResumeToken),
    #[serde(rename = "undelivered")]
    Undelivered(Undelivered),
    #[serde(rename = "ice")]
    Ice(Ice),
    #[serde(rename = "relay")]
    Relay(Relay),
    #[serde(rename = "room-deleted")]
    RoomDeleted,
    #[serde(rename = "wait")]
    Wait(Wait),
    #[serde(rename = "lobby-waiting")]
    LobbyWaiting(LobbyWaiting),
    #[serde(rename = "lobby-joined")]
    LobbyJoined(LobbyJoined),
    #[serde(rename = "lobby-left")]
    LobbyLeft(LobbyLeft),
    #[serde(rename = "room-changed")]
    RoomChanged(RoomChanged),
    #[serde(rename = "mute-requested")]
    MuteRequested,
    #[serde(rename = "hand-lowered")]
    HandLowered,
    #[serde(rename = "mutes")]
    Mutes(Mutes),
    #[serde(rename = "co-owners")]
    CoOwners(CoOwners),
    #[serde(rename = "goaway")]
    Goaway(Goaway),
    #[serde(rename = "pong")]
    Pong,
    #[serde(rename = "error")]
    Error(Error),
    /// A message of a newer service.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WelcomeMutes {
    /// Whether all but owners and `participants` are, and not only these.
    pub all: bool,
    pub participants: List<ParticipantId, 0, 1000>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WelcomeLimits {
    pub message_bytes: i64,
    pub name_chars: i64,
    pub chat_chars: i64,
    pub mesh_participants: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    pub participant: ParticipantId,
    pub room: RoomView,
    pub pod: PodId,
    /// All participants of the room, including the reader.
    pub roster: Vec<Member>,
    /// Token with which this client continues as the same participant on any pod.
    pub resume: String,
    pub grace_ms: u64,
    pub ice_servers: Vec<IceServer>,
    /// Seconds for which the credentials make new allocations; 0 where there are none.
    pub ice_ttl_s: u64,
    /// The reader joined with the owner key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub owner: Option<bool>,
    /// Newcomers in the lobby; sent to owners only.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub lobby: Option<Vec<Waiting>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub mutes: Option<WelcomeMutes>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub co_owners: Option<List<ParticipantId, 0, 100>>,
    /// A resume has opened the room again: participants may not be back yet, and the client keeps those it knew as away.
    pub recovering: bool,
    /// After a resume: lines the client may have missed, merged by id.
    pub chat: Vec<ChatLine>,
    pub limits: WelcomeLimits,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub regions: Option<RegionList>,
    /// The pod asks for a `quality` message that often; absent: for none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub report_every_ms: Option<NonZeroU64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Joined {
    pub member: Member,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LeftReason {
    #[serde(rename = "left")]
    Left,
    #[serde(rename = "lost")]
    Lost,
    #[serde(rename = "kicked")]
    Kicked,
    #[serde(rename = "banned")]
    Banned,
    #[serde(rename = "unreachable")]
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    pub participant: ParticipantId,
    pub reason: LeftReason,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Away {
    pub participant: ParticipantId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreachable {
    pub participant: ParticipantId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Back {
    pub participant: ParticipantId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    pub participant: ParticipantId,
    pub name: DisplayName,
    pub media: Media,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    pub line: ChatLine,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatAck {
    pub id: ChatId,
    pub name: DisplayName,
    pub at: i64,
    pub proof: ChatProof,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reaction {
    pub from: ParticipantId,
    pub emoji: ReactionEmoji,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeToken {
    /// As in the welcome.
    pub resume: String,
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
    pub to: ParticipantId,
    /// The id that the sender gave the directed message.
    pub id: String,
    pub reason: UndeliveredReason,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ice {
    pub ice_servers: Vec<IceServer>,
    /// Seconds for which the credentials make new allocations; 0 where there are none.
    pub ice_ttl_s: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayStandby {
    /// Address of the relay, for WebTransport and WebSocket.
    pub url: String,
    /// EdDSA token that grants publishing and subscribing to the paths in it.
    pub token: String,
    /// SHA-256, base64; empty where the certificate is from a public CA. Current and next.
    pub certificate_hashes: Vec<String>,
    pub api: RegionUrl,
    /// The client asks again after this time; the token opens sessions for twice as long.
    pub renew_after_ms: NonZeroU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relay {
    /// `null` where the region has no media relay now; `standby` may name one of another.
    #[serde(deserialize_with = "Option::deserialize")]
    pub relay: Option<RelayOffer>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub standby: Option<RelayStandby>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// An estimate of the time until its turn; a new one replaces it.
    pub after_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LobbyWaiting {
    pub room: RoomView,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LobbyJoined {
    pub waiting: Waiting,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LobbyLeft {
    pub participant: ParticipantId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomChanged {
    pub room: RoomView,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutesMutes {
    /// Whether all but owners and `participants` are, and not only these.
    pub all: bool,
    pub participants: List<ParticipantId, 0, 1000>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mutes {
    pub mutes: MutesMutes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CoOwners {
    pub co_owners: List<ParticipantId, 0, 100>,
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
