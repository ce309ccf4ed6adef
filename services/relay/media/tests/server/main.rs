//! The media server with real clients over loopback; titles cite the rules of MEDIA.md. They are one binary, as each binary that awaits QUIC
//! compiles it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod certificates;
mod client;
mod disturbed;
mod failure;
mod fanout;
mod hostile;
mod limits;
mod misbehaving;
mod mutes;
mod path;
mod process;
mod processes;
mod relay;
mod sessions;
mod spread;
mod tokens;
mod tree;
mod udp_path;
