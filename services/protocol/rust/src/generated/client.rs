//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Client messages: Messages of a client on its socket, as JSON text messages.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{ChatId, ChatText, DisplayName, Generation, Media, ResumeChatLine};
use crate::bounded::{List, Text};
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
    #[serde(rename = "leave")]
    Leave,
    #[serde(rename = "ping")]
    Ping,
    #[serde(rename = "ice")]
    Ice,
    #[serde(rename = "relay")]
    Relay(Relay),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enter {
    pub ticket: Text<0, 2048>,
    pub generation: Generation,
    pub name: DisplayName,
    pub media: Media,
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
pub struct Relay {
    /// The address of a relay that was lost or drains: the answer is another one if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub exclude: Option<Text<0, 256>>,
}
