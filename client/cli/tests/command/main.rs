//! The `parley` command as users run it: the process, against a relay process or a server that violates one rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

/// The program under test, which [`parley`] starts.
const PROGRAM: &str = env!("CARGO_BIN_EXE_parley");

mod fake;
mod joining;
mod live;
mod live_tokens;
mod media;
mod pages;
mod parley;
mod promoting;
mod publishing;
mod reconnecting;
mod refusing;
mod regions;
mod relay;
mod service;
#[allow(dead_code, reason = "shared with the tests of `parley-load`")]
mod site;
mod statistics;
mod tokens;
