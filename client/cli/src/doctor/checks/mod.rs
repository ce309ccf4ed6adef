//! What is looked at, one file each: `look` answers what it found, or the one finding that ended it.
pub mod clock;
pub mod dns;
pub mod health;
pub mod join;
pub mod media;
pub mod stream;
pub mod tls;
pub mod turn;
