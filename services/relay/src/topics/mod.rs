//! Who hears what: the path of a request names a topic, and a topic hands each message to everyone who reads it.
pub mod interest;
pub mod queue;
pub mod reader;
pub mod registry;
pub mod replay;
pub mod route;
pub mod topic;

pub use interest::Interest;
pub use reader::Reader;
pub use registry::{Membership, Topics};
pub use route::{Role, Route};
pub use topic::{Remote, Topic};
