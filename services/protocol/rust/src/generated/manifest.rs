//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Manifests: The address of a page is the hash of its manifest.
#![allow(missing_docs, reason = "the schemas do not describe every field")]

use super::shared::{MediaType, PageSeal, Sha256};
use crate::bounded::{List, Text, Whole};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageManifest {
    pub v: Whole<1, 1>,
    pub r#type: MediaType,
    /// Name of the file, for display only.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub name: Option<Text<1, 200>>,
    /// Size of all chunks together.
    pub bytes: NonZeroU64,
    /// Size of every chunk except the last, which may be shorter.
    pub chunk_bytes: NonZeroU64,
    pub sha256: Sha256,
    pub chunks: List<Sha256, 1, 4096>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::bounded::present")]
    pub seal: Option<PageSeal>,
}
