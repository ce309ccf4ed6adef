//! Stream topics over WebSocket: every message that a client sends to a topic is delivered to all other clients of the topic.
//!
//! The wire behaviour is in `STREAMS.md`; its rules are cited as `STR-n`.
//!
//! The parts are crates. Each uses only crates above it in this list; this crate combines them.
//!
//! | crate | contents |
//! |---|---|
//! | `parley_net` | WebSocket frames: bytes in, whole messages out; codes; networks and sockets |
//! | `parley_metrics` | counters and histograms |
//! | `parley_streams` | topics. **A message is fanned out in `parley_streams::topic`** |
//! | `parley_access` | tokens, one-use codes, revocations |
//! | `parley_cluster` | other pods: their discovery, and the links to them |
//! | `parley_media` | Media over QUIC |
//!
//! The modules of this crate use only modules below them in this list:
//!
//! | module | contents |
//! |---|---|
//! | [`drain`] | ends a running relay |
//! | [`start`] | starts all parts, in order |
//! | [`key_files`] | follows the files of key sets |
//! | [`server`] | sockets: accepting, the upgrade, the connection of a client, the sweep that pings and times out |
//! | [`stats`] | statistics and metrics as JSON, as a page and for Prometheus |
//! | [`relay`] | the state that all parts share |
//! | [`traces`] | spans of media sessions, for a collector |
//! | [`config`], [`limits`], [`log`] | settings, limits, and the log |
pub mod config;
pub mod drain;
pub mod key_files;
pub mod limits;
pub mod log;
pub mod relay;
pub mod server;
pub mod start;
pub mod stats;
#[cfg(feature = "media")]
pub mod traces;
