//! Directed messages: an envelope line and an opaque payload, in one text or binary WebSocket message (DIR-1 to DIR-6, PAGE-9). The TypeScript
//! of it is `services/protocol/src/directed.ts`.
//!
//! ```text
//! client to pod     >{participant} {id}\n{payload}
//! pod to client     <{participant}\n{payload}
//! ```

/// Bytes of the id of a participant or a visitor.
const ID_BYTES: usize = 17;

/// The text message of a client. `id` is unique among the sender's recent messages and has at most 24 bytes (DIR-3).
pub fn text(to: &str, id: &str, payload: &str) -> String {
    format!(">{to} {id}\n{payload}")
}

/// Sender and payload of a directed message as a client receives it; `None` if it is another message.
pub fn received(message: &[u8]) -> Option<(&str, &[u8])> {
    let (from, payload) = message.strip_prefix(b"<")?.split_at_checked(ID_BYTES)?;
    let payload = payload.strip_prefix(b"\n")?;
    let from = std::str::from_utf8(from).ok().filter(|from| from.bytes().all(|byte| byte.is_ascii_graphic()))?;
    Some((from, payload))
}
