//! Stream topics over WebSocket: whatever a client sends to a topic reaches everyone else who has it open.
//!
//! The wire behaviour is in `STREAMS.md`; its rules are cited as `STR-n`.
//!
//! | module | what |
//! |---|---|
//! | `parley_net` | frames: bytes in, whole messages out. No I/O, no clock; codes; networks and sockets |
//! | [`server`] | sockets: accepting, the upgrade, one connection's life, the sweep that pings and times out |
//! | [`stats`] | what is counted, and how it is shown |
//! | [`relay`] | starts all of it, in order |
pub mod config;
pub mod drain;
pub mod limits;
pub mod log;
pub mod relay;
pub mod server;
pub mod stats;
