//! The relay over real sockets. Each test starts its own on a free port; titles cite the rules of STREAMS.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod access_codes;
mod access_credentials;
mod access_ends;
mod access_process;
mod access_statistics;
mod bad_input;
#[path = "../client/mod.rs"]
mod client;
mod crowds;
mod drain;
mod guarded;
mod ipv6;
mod life;
mod messages;
mod operators;
mod pages;
mod pod;
mod process;
mod raw;
mod readers;
mod replay;
#[path = "../resident/mod.rs"]
mod resident;
#[path = "../signer/mod.rs"]
mod signer;
mod statistics;
mod threads;
mod topics;
mod upgrade;
