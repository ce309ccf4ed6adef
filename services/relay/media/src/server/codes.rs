//! Codes of refused and ended sessions, apart from those of the admission (MED-13).
use moq_net::Error;

use crate::server::Refusal;

/// The relay drains.
pub(crate) const GOAWAY: Refusal = "GOAWAY";
/// The peer left, or its idle timeout expired.
pub(crate) const LEFT: Refusal = "LEFT";
/// The URL has a path. Names of broadcasts begin at the root.
pub(crate) const PATH_INVALID: Refusal = "PATH_INVALID";
/// The cache exceeds twice `media.cacheBytes` and this client sends the most, or the client exceeds `media.controlBytes`.
pub(crate) const MEMORY_LIMIT_EXCEEDED: Refusal = "MEMORY_LIMIT_EXCEEDED";
/// The token has an invalid pattern.
pub(crate) const TOKEN_INVALID: Refusal = "TOKEN_INVALID";
/// The client exceeds `media.broadcasts`.
pub(crate) const TOO_MANY_BROADCASTS: Refusal = "TOO_MANY_BROADCASTS";
/// `media.handshakes` handshakes are in progress.
pub(crate) const TOO_MANY_HANDSHAKES: Refusal = "TOO_MANY_HANDSHAKES";
/// There are `media.sessions` sessions, or `media.addressSessions` of the network.
pub(crate) const TOO_MANY_SESSIONS: Refusal = "TOO_MANY_SESSIONS";
/// The client exceeds `media.subscriptions`.
pub(crate) const TOO_MANY_SUBSCRIPTIONS: Refusal = "TOO_MANY_SUBSCRIPTIONS";

/// Codes with a number, which clients see as 64 plus this number.
pub use parley_protocol::relay_codes::session::ALL as NUMBERS;

/// Returns the error that closes a session. A code without a number is one of the credential: unauthorized.
pub(crate) fn error(code: Refusal) -> Error {
    let number = NUMBERS.iter().find(|(name, _)| *name == code);
    number.map_or(Error::Unauthorized, |(_, number)| Error::App(*number))
}
