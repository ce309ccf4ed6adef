//! The door with real clients, over loopback; titles cite the rules of MEDIA.md. One binary, as whoever awaits QUIC compiles it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod certificates;
mod client;
mod failure;
mod relay;
mod sessions;
mod tree;
