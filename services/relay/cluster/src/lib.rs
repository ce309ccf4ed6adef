//! Joins the pods of a region into one relay. Pods discover each other through leases on NATS and exchange the messages of topics over direct
//! links. One-use codes and revocations are valid on all pods. Relays that other regions reach join the topics of the regions. Rules STR-90 to STR-99,
//! STR-117 to STR-119 and STR-139 to STR-145.
//!
//! | module | contents |
//! |---|---|
//! | [`cluster`] | starts and ends the participation of a pod |
//! | [`discovery`], [`lease`], [`bus`], [`peers`] | leases: their exchange on NATS, and which pods are dialled and forgotten |
//! | [`codes`], [`revocations`], [`revocation_message`] | one-use codes and revocations that are valid on every pod |
//! | [`tls`], [`stream`] | the identity of the peer of a link, and the encrypted stream |
//! | [`frames`] | the wire protocol of a link: bytes in, requests or batches out |
//! | [`shared`] | the state that all links share |
//! | [`dial`] | the receiving end of a link: subscribes to topics and delivers their messages |
//! | [`serve`], [`accepted`] | the sending end of a link: accepts dialers and serves their subscriptions |
//! | [`outgoing`], [`fair_queue`] | what waits to be sent on a link |
//! | [`endpoint`], [`url`], [`hash`], [`key`] | the fields of a lease about media and certificates |
//! | [`idle_timeout`], [`end`], [`counts`], [`metrics`] | liveness of a link, why it ended, its counters |
pub mod accepted;
pub mod bus;
pub mod cluster;
pub mod codes;
pub mod counts;
pub mod dial;
pub mod discovery;
pub mod end;
pub mod endpoint;
mod fair_queue;
pub mod frames;
pub mod hash;
pub mod idle_timeout;
pub mod key;
pub mod lease;
mod limits;
pub mod metrics;
pub mod outgoing;
pub mod peers;
pub mod revocation_message;
pub mod revocations;
pub mod serve;
pub mod shared;
pub mod stream;
pub mod tls;
pub mod url;

pub use cluster::{Cluster, Config, Joined, LinkCounts, Public, join, ports, start};
pub use limits::Limits;
pub use shared::{Shared, Streams};
