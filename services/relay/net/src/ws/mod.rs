//! WebSocket frames (RFC 6455): decodes the bytes of a socket to whole messages, which are framed once for all readers.
//! No I/O, no clock.
pub mod batch;
pub mod close;
pub mod decoder;
pub mod frame;
pub mod mask;

pub use batch::Batch;
pub use decoder::{Decoder, Event};
pub use frame::{Kind, Violation};
