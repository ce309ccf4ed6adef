//! The `parley-load` command as a process: against a relay's process, and against servers that each do one thing wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step fails the test")]

/// The program under test, which [`parley`] starts.
const PROGRAM: &str = env!("CARGO_BIN_EXE_parley-load");

mod crowd_load;
#[path = "../../../../client/cli/tests/command/fake.rs"]
#[allow(dead_code, reason = "shared with the tests of `parley`")]
mod fake;
#[path = "../../../../client/cli/tests/command/media.rs"]
#[allow(dead_code, reason = "shared with the tests of `parley`")]
mod media;
mod media_load;
mod pages_load;
#[path = "../../../../client/cli/tests/command/parley.rs"]
#[allow(dead_code, reason = "shared with the tests of `parley`")]
mod parley;
mod refusing;
#[path = "../../../../client/cli/tests/command/relay.rs"]
#[allow(dead_code, reason = "shared with the tests of `parley`")]
mod relay;
mod room_load;
#[path = "../../../../client/cli/tests/command/service.rs"]
#[allow(dead_code, reason = "shared with the tests of `parley`")]
mod service;
#[path = "../../../../client/cli/tests/command/site.rs"]
#[allow(dead_code, reason = "shared with the tests of `parley`")]
mod site;
mod sockets_load;
mod streams_load;
