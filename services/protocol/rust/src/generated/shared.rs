//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Types that several messages use.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use crate::bounded::{List, Text, Whole};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

pub type Generation = Whole<1, 2_147_483_648>;

pub type DisplayName = Text<1, 256>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    pub audio: bool,
    pub video: bool,
    pub screen: bool,
    /// Present while a hand is raised: lower numbers were raised earlier. SPEC rule HAND-2.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub hand: Option<Whole<1, 2_147_483_648>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeChatLine {
    pub id: ChatId,
    pub from: ParticipantId,
    pub name: DisplayName,
    pub text: ChatText,
    /// Unix time in ms by the clock of the pod that accepted the line; for display, never for ordering state.
    pub at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub proof: Option<ChatProof>,
}

pattern!(
    /// Chosen by the sender; readers merge lines by it.
    ChatId, r"^[A-Za-z0-9_-]{8,36}$", usize::MAX
);

pub type ChatText = Text<1, 8000>;

pattern!(
    ReactionEmoji, r"^(?:👍|❤️|👏|😂|😮|🎉)$", usize::MAX
);

pattern!(
    /// Chosen by the server at join; a participant keeps it through every resume.
    ParticipantId, r"^p[0-9a-hjkmnp-tv-z]{16}$", usize::MAX
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RoomViewKind {
    #[serde(rename = "ad-hoc")]
    AdHoc,
    #[serde(rename = "named")]
    Named,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomView {
    pub room: RoomId,
    pub kind: RoomViewKind,
    #[serde(deserialize_with = "Option::deserialize")]
    pub home_region: Option<RegionId>,
    pub cap: NonZeroU64,
    pub locked: bool,
    /// Newcomers wait until the owner admits them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub lobby: Option<bool>,
    /// The cap is enforced exactly, by seats in the home region.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub hard_cap: Option<bool>,
}

pattern!(
    /// The region and the name of a pod, with `_` between them: unique in all regions.
    PodId, r"^(?:[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?_)?[a-zA-Z0-9][a-zA-Z0-9-]{0,62}$", 80
);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub participant: ParticipantId,
    pub name: DisplayName,
    pub media: Media,
    pub state: Presence,
    /// Joined with the owner key of the room.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub owner: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IceServer {
    pub urls: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub username: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub credential: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    pub participant: ParticipantId,
    pub name: DisplayName,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatLine {
    pub id: ChatId,
    pub from: ParticipantId,
    pub name: DisplayName,
    pub text: ChatText,
    /// Unix time in ms by the clock of the pod that accepted the line; for display, never for ordering state.
    pub at: u64,
    pub proof: ChatProof,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegionList {
    pub region: RegionId,
    /// All regions of the installation; a participant may use any of them.
    pub regions: List<Region, 1, 32>,
}

pattern!(
    /// Proves that a pod accepted this line from this participant; a client keeps it with the line.
    ChatProof, r"^[A-Za-z0-9_-]{22}$", usize::MAX
);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayOffer {
    /// Address of the relay, for WebTransport and WebSocket.
    pub url: String,
    /// EdDSA token that grants publishing and subscribing to the paths in it.
    pub token: String,
    /// SHA-256, base64; empty where the certificate is from a public CA. Current and next.
    pub certificate_hashes: Vec<String>,
}

pattern!(
    /// Origin of the API of a region: scheme and host, with a port where it is not the usual one.
    RegionUrl, r"^https?://[^/?#@\s]+$", 255
);

pattern!(
    /// A code of the table of codes; a reader treats an unknown one as INTERNAL.
    CodeName, r"^[A-Z][A-Z0-9_]{1,63}$", usize::MAX
);

pattern!(
    /// The part of a named room before `@`; unique in its home region.
    RoomName, r"^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$", 48
);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ban {
    pub id: String,
    pub name: DisplayName,
    /// Whether it covers the network address too.
    pub network: bool,
    /// Unix time in ms.
    pub at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ListedParticipantState {
    #[serde(rename = "here")]
    Here,
    #[serde(rename = "away")]
    Away,
    #[serde(rename = "unreachable")]
    Unreachable,
    #[serde(rename = "waiting")]
    Waiting,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedParticipant {
    pub participant: ParticipantId,
    pub name: DisplayName,
    /// As in the roster, or `waiting` in the lobby.
    pub state: ListedParticipantState,
    /// Joined with the owner key of the room.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub owner: Option<bool>,
}

pattern!(
    /// A random id that the client keeps. A ban matches it, or the network address.
    DeviceId, r"^[A-Za-z0-9_-]{16,64}$", usize::MAX
);

pattern!(
    /// An ad-hoc room (`xxxx-xxxx-xxxx-xxxx`) or a named room with its home region (`standup@eu`).
    RoomId, r"^(?:[0-9a-hjkmnp-tv-z]{4}(?:-[0-9a-hjkmnp-tv-z]{4}){3}|[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?@[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?)$", 65
);

pub type Incarnation = Text<1, 64>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VisitorMarks {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub device: Option<Mark>,
    pub network: Mark,
}

pattern!(
    /// The span before, of a sampled trace, as `traceparent` of W3C Trace Context. SPEC rule TRACE-2.
    TraceClaim, r"^00-[0-9a-f]{32}-[0-9a-f]{16}-01$", usize::MAX
);

pattern!(
    /// The id of a span of W3C Trace Context.
    SpanId, r"^[0-9a-f]{16}$", usize::MAX
);

pattern!(
    /// Name of the relay, which stays the same over restarts.
    RelayName, r"^[A-Za-z0-9_-]+$", 128
);

pattern!(
    /// Address to which clients connect: WebTransport, QUIC or WebSocket.
    RelayUrl, r"^https://[^\s/]+/?$", 256
);

pattern!(
    CertificateHash, r"^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$", usize::MAX
);

pattern!(
    /// SHA-256 of the manifest of a page, in lower-case hex.
    PageAddress, r"^[0-9a-f]{64}$", usize::MAX
);

pattern!(
    /// One socket of one tab. Seven symbols identify its pod, nine are random.
    VisitorId, r"^v[0-9a-hjkmnp-tv-z]{16}$", usize::MAX
);

pattern!(
    PipeName, r"^[A-Za-z0-9_-]{22}$", usize::MAX
);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageLimits {
    pub page_bytes: NonZeroU64,
    pub chunk_bytes: NonZeroU64,
    /// Pages that one visitor holds or wants.
    pub per_visitor: NonZeroU64,
    /// Holders that a reader is connected with at once.
    pub max_holders: NonZeroU64,
    /// Readers that a holder serves at once.
    pub max_readers: NonZeroU64,
    /// All pages of one visitor together.
    pub memory_bytes: NonZeroU64,
    /// One message on this socket.
    pub message_bytes: NonZeroU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    pub visitor: VisitorId,
    pub whole: bool,
}

pattern!(
    LinkId, r"^[A-Za-z0-9_-]{8,22}$", usize::MAX
);

pattern!(
    /// Media type, without parameters; text is UTF-8. Of an encrypted page application/octet-stream.
    MediaType, r"^[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*$", 100
);

pattern!(
    /// SHA-256, base64url.
    Sha256, r"^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$", usize::MAX
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PageSealScheme {
    #[serde(rename = "AES-128-GCM")]
    Aes128Gcm,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageSeal {
    pub scheme: PageSealScheme,
    pub head: EncryptedHead,
}

pattern!(
    RegionId, r"^[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?$", 16
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Presence {
    #[serde(rename = "here")]
    Here,
    #[serde(rename = "away")]
    Away,
    #[serde(rename = "unreachable")]
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    pub name: RegionId,
    pub url: RegionUrl,
}

pattern!(
    /// 128 bits of HMAC-SHA-256, base64url.
    Mark, r"^[A-Za-z0-9_-]{22}$", usize::MAX
);

pattern!(
    /// Type and name of the page as encrypted JSON, base64url.
    EncryptedHead, r"^[A-Za-z0-9_-]+$", 1024
);
