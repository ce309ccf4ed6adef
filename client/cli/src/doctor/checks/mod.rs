//! One file for each check: `check` returns its findings, or the one that ended it early.
pub mod clock;
pub mod dns;
pub mod health;
pub mod join;
pub mod media;
pub mod stream;
pub mod tls;
pub mod turn;
