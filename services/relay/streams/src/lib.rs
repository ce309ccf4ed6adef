//! Topics: the path of a request names a topic, and a topic delivers each message to all of its readers. The wire behaviour is
//! in `STREAMS.md`; its rules are cited as `STR-n`. This crate opens no sockets: bytes leave through [`reader::Outlet`].
//!
//! | file | contents |
//! |---|---|
//! | [`route`] | from a path to a topic and a role |
//! | [`registry`] | the open topics |
//! | [`topic`] | **a message is fanned out here** |
//! | [`reader`], [`queue`] | a reader, and its queue |
//! | [`replay`] | the messages that a topic keeps for late subscribers |
//! | [`interest`], [`crossing`], [`rendezvous`] | what the pod subscribes to at other pods, and the ports of topics between regions |
//! | [`hop`], [`seen`] | how far a message has come, and messages that come twice |
//! | [`counters`], [`clock`] | counters, and the clock |
pub mod clock;
pub mod counters;
pub mod crossing;
pub mod hop;
pub mod interest;
pub mod queue;
pub mod reader;
pub mod registry;
mod rendezvous;
pub mod replay;
pub mod route;
mod seen;
pub mod topic;

pub use clock::Clock;
pub use counters::Counters;
pub use hop::{Hop, Stamp};
pub use interest::Interest;
pub use reader::Reader;
pub use registry::{Membership, Topics};
pub use route::{Role, Route};
pub use topic::{RemoteSubscriber, Topic};
