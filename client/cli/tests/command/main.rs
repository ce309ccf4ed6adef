//! The `parley` command as users run it: the process, against a relay process or a server that violates one rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod fake;
mod joining;
mod judging;
mod live;
mod live_tokens;
mod media;
mod media_load;
mod pages;
mod pages_load;
mod parley;
mod publishing;
mod reconnecting;
mod refusing;
mod relay;
mod room_load;
mod service;
mod site;
mod sockets;
mod statistics;
mod tokens;
