//! The network side of the relay, below everything that knows of topics, tokens or other pods.
//!
//! | module | what |
//! |---|---|
//! | [`ws`] | WebSocket frames (RFC 6455): bytes in, whole messages out. No I/O, no clock |
//! | [`codes`] | why a request is refused or a socket closed, with HTTP status and close code |
//! | [`socket`] | options of a TCP socket |
//! | [`visitor`] | who connects: the address behind proxies, the origin of a page |
//! | [`network`], [`addresses`] | the network that a client is counted for, and how many sockets each has |
pub mod addresses;
pub mod codes;
pub mod network;
pub mod socket;
pub mod visitor;
pub mod ws;

/// A 64-bit length or count as one in memory.
pub fn size(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
