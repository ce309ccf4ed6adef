//! Several relays as processes, with a real NATS server. Titles cite the rules of STREAMS.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod crossing;
mod failures;
mod finding;
mod frozen;
mod messages;
mod nats;
mod pod;
mod replay;
mod strangers;
mod wire;
