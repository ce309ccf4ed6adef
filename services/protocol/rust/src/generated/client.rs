//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Client messages: Messages of a client on its socket, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{ChatId, ChatText, DisplayName, Generation, Media, ReactionEmoji, ResumeChatLine};
use crate::bounded::{List, Text, Whole};
use serde::{Deserialize, Serialize};

/// Messages of a client on its socket, as JSON text messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]
#[serde(tag = "type")]
pub enum Message {
    #[serde(rename = "enter")]
    Enter(Enter),
    #[serde(rename = "resume")]
    Resume(Resume),
    #[serde(rename = "change")]
    Change(Change),
    #[serde(rename = "chat")]
    Chat(Chat),
    #[serde(rename = "reaction")]
    Reaction(Reaction),
    #[serde(rename = "leave")]
    Leave,
    #[serde(rename = "ping")]
    Ping,
    #[serde(rename = "ice")]
    Ice,
    #[serde(rename = "relay")]
    Relay(Relay),
    #[serde(rename = "quality")]
    Quality(Quality),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enter {
    pub ticket: Text<0, 2048>,
    pub generation: Generation,
    pub name: DisplayName,
    pub media: Media,
    /// Since the client began to join. SPEC rule TRACE-3.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub elapsed_ms: Option<Whole<0, 600_000>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    pub token: Text<0, 2048>,
    pub generation: Generation,
    pub name: DisplayName,
    pub media: Media,
    /// The last lines the client has, so that a room whose pods all died gets them back.
    pub chat: List<ResumeChatLine, 0, 20>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub name: Option<DisplayName>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub media: Option<Media>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    pub id: ChatId,
    pub text: ChatText,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reaction {
    pub emoji: ReactionEmoji,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relay {
    /// The address of a relay that was lost or drains: the answer is another one if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub exclude: Option<Text<0, 256>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QualityPath {
    #[serde(rename = "mesh")]
    Mesh,
    #[serde(rename = "turn")]
    Turn,
    #[serde(rename = "relay")]
    Relay,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quality {
    /// How voices arrived: `turn` where any came through a TURN server, `relay` where any came through a relay.
    pub path: QualityPath,
    /// From the join, the end of a wait, or the arrival of another participant, to the first media; sent once.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub setup_ms: Option<Whole<0, 600_000>>,
    /// To those whose voices arrived, or to the relay.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub round_trip_ms: Option<Whole<0, 60_000>>,
    /// Of packets of voices.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub loss_permille: Option<Whole<0, 1000>>,
    /// Delay of the jitter buffer of voices.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub buffer_ms: Option<Whole<0, 60_000>>,
    /// Times that a picture stood still.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub freezes: Option<Whole<0, 300>>,
    /// Times that the socket was resumed since the last report.
    pub reconnects: Whole<0, 100>,
}
