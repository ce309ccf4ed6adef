//! The contract of `services/protocol/src` in Rust. The modules of [`generated`] are written by `npm run generate -w services/protocol`, and
//! `make check` fails if they differ from the TypeScript. ADR 23.
//!
//! | module | contents |
//! |---|---|
//! | [`client`], [`server`] | messages on the socket of a room, each way |
//! | [`visitor`], [`visit`] | messages on the socket of pages, each way |
//! | [`link`], [`peer`] | messages between two visitors: before they are connected, and after |
//! | [`http`], [`tokens`], [`media`], [`manifest`] | bodies of `/v1`, claims of tokens, leases of media relays, manifests of pages |
//! | [`shared`] | types that several of these use |
//! | [`codes`], [`relay_codes`] | the codes of signaling, and of the stream relay |
//! | [`limits`], [`subjects`], [`routes`], [`audiences`] | names and numbers |
//! | [`bounded`], [`directed`] | not generated: bounds and patterns; the envelope of directed messages |
#[macro_use]
pub mod bounded;
pub mod directed;
// The generator writes long lines where rustfmt would break them.
#[rustfmt::skip]
#[allow(clippy::too_many_lines, reason = "a line for each code")]
pub mod generated;

pub use generated::*;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a message, a body or claims from JSON. `None` if it is malformed or outside of its bounds. Unknown fields are ignored.
pub fn decode<Message: DeserializeOwned>(json: &[u8]) -> Option<Message> {
    // serde also reads a struct from a list of its fields.
    json.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice(json).ok())?
}

/// A message, a body or claims as JSON.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    // Every key is a string and the serialization of no type fails, so there is always a result.
    serde_json::to_vec(message).unwrap_or_default()
}
