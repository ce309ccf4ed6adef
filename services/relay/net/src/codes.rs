//! The stable codes of the relay, with HTTP status and WebSocket close code: `RELAY_CODES` of `services/protocol/src/relay-codes.ts`.
pub use parley_protocol::relay_codes::Code;
