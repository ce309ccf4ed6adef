//! WebSocket frames (RFC 6455): bytes from a socket become whole messages, framed once for everyone who gets them.
//! Nothing here does I/O or knows the time.
pub mod batch;
pub mod close;
pub mod decoder;
pub mod frame;
pub mod mask;

pub use batch::Batch;
pub use decoder::{Decoder, Event};
pub use frame::{Kind, Violation};
