//! Why a session was refused or ended, beside what the admission says (MED-13).
use moq_net::Error;

use crate::server::Refusal;

/// The relay is about to end.
pub(crate) const GOAWAY: Refusal = "GOAWAY";
/// The other end left, or was not heard for too long.
pub(crate) const LEFT: Refusal = "LEFT";
/// Names of broadcasts begin at the root, so the address has no path.
pub(crate) const PATH_INVALID: Refusal = "PATH_INVALID";
/// More is kept than twice `media.cacheBytes`, and this client brings the most; or it sends more than `media.controlBytes` beside media.
pub(crate) const MEMORY_LIMIT_EXCEEDED: Refusal = "MEMORY_LIMIT_EXCEEDED";
/// The token's patterns are none.
pub(crate) const TOKEN_INVALID: Refusal = "TOKEN_INVALID";
/// More than `media.broadcasts` are published.
pub(crate) const TOO_MANY_BROADCASTS: Refusal = "TOO_MANY_BROADCASTS";
/// There are `media.handshakes` already.
pub(crate) const TOO_MANY_HANDSHAKES: Refusal = "TOO_MANY_HANDSHAKES";
/// There are `media.sessions` already, or `media.addressSessions` of the address.
pub(crate) const TOO_MANY_SESSIONS: Refusal = "TOO_MANY_SESSIONS";
/// More than `media.subscriptions` tracks are watched.
pub(crate) const TOO_MANY_SUBSCRIPTIONS: Refusal = "TOO_MANY_SUBSCRIPTIONS";

/// Codes that clients see as a number above 64: this one.
pub use parley_protocol::relay_codes::session::ALL as NUMBERS;

/// What closes a session; the credential is not good where it has no number.
pub(crate) fn error(code: Refusal) -> Error {
    let number = NUMBERS.iter().find(|(name, _)| *name == code);
    number.map_or(Error::Unauthorized, |(_, number)| Error::App(*number))
}
