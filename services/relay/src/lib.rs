//! Stream topics over WebSocket: whatever a client sends to a topic reaches everyone else who has it open.
//!
//! The wire behaviour is in `STREAMS.md`; its rules are cited as `STR-n`.
//!
//! The parts are crates, each of which knows those above it in this list and no others; this one puts them together.
//!
//! | crate | what |
//! |---|---|
//! | `parley_net` | frames: bytes in, whole messages out; codes; networks and sockets |
//! | `parley_metrics` | counters and histograms |
//! | `parley_streams` | topics. **A message is fanned out in `parley_streams::topic`** |
//! | `parley_access` | tokens, one-use codes, revocations |
//! | `parley_cluster` | other pods: finding them, and what crosses to and from them |
//! | `parley_media` | the second door: Media over QUIC |
//!
//! | module | what |
//! |---|---|
//! | [`config`], [`limits`] | the settings |
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
