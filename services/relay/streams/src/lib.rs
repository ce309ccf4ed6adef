//! Who hears what: the path of a request names a topic, and a topic hands each message to everyone who reads it. The wire behaviour is
//! in `STREAMS.md`; its rules are cited as `STR-n`. No sockets here: bytes leave through [`reader::Outlet`].
//!
//! | file | what |
//! |---|---|
//! | [`route`] | from a path to a topic and a role |
//! | [`registry`] | the topics that exist |
//! | [`topic`] | **a message is fanned out here** |
//! | [`reader`], [`queue`] | a reader, and what waits for it |
//! | [`replay`] | what a topic keeps for late joiners |
//! | [`interest`] | what is read here, for other pods |
//! | [`counters`], [`clock`] | what is counted, and the time |
pub mod clock;
pub mod counters;
pub mod interest;
pub mod queue;
pub mod reader;
pub mod registry;
pub mod replay;
pub mod route;
pub mod topic;

pub use clock::Clock;
pub use counters::Counters;
pub use interest::Interest;
pub use reader::Reader;
pub use registry::{Membership, Topics};
pub use route::{Role, Route};
pub use topic::{Remote, Topic};
