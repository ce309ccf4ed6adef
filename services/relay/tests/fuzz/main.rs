//! Fuzz targets for input from clients and other pods, apart from WebSocket frames and paths (`decoder.rs`) and links (`link.rs`). Seeds,
//! budgets and the corpus: `random/mod.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod bus;
mod heads;
#[path = "../random/mod.rs"]
mod random;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../signer/mod.rs"]
mod signer;
mod tokens;

use random::Random;

/// Concatenates random parts.
fn text(random: &mut Random, parts: &[&str], most: usize) -> String {
    (0..random.below(most)).map(|_| parts[random.below(parts.len())]).collect()
}
