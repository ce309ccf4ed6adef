//! Several relays as processes, with a real NATS server. Titles cite the rules of STREAMS.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod access_codes;
mod access_contracts;
mod access_hostile;
mod access_revocations;
mod bus_tls;
#[path = "../client/mod.rs"]
mod client;
#[path = "../contracts/mod.rs"]
mod contracts;
mod crossing;
mod failures;
mod fake;
mod finding;
mod first_readers;
mod frozen;
mod guarded;
#[cfg(feature = "media")]
mod media;
mod messages;
mod nats;
mod oceans;
mod pod;
mod ports;
mod public_links;
mod regions;
mod replay;
#[path = "../resident/mod.rs"]
mod resident;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../signer/mod.rs"]
mod signer;
mod strangers;
mod tls;
mod wire;
