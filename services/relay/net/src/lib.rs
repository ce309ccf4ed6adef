//! The network layer of the relay. It knows nothing of topics, tokens or other pods.
//!
//! | module | contents |
//! |---|---|
//! | [`ws`] | WebSocket frames (RFC 6455): bytes in, whole messages out. No I/O, no clock |
//! | [`codes`] | the codes of refusals and of closed sockets, with HTTP status and close code |
//! | [`socket`] | options of a TCP socket |
//! | [`forwarded`], [`origins`] | the address of a client behind proxies, and the origins of pages |
//! | [`network`], [`addresses`] | the network of a client, and the sockets of each network |
//! | [`per_second`] | how much of something there was in a second |
pub mod addresses;
pub mod codes;
pub mod forwarded;
pub mod network;
pub mod origins;
pub mod per_second;
pub mod socket;
pub mod ws;

/// Converts a 64-bit length or count to `usize`.
pub fn size(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
