//! Sessions with a media relay: Media over QUIC. Rules cited as `MED-n` are those of `services/relay/MEDIA.md`, as `MEDIA-n`
//! those of `services/protocol/SPEC.md`.
//!
//! | module | content |
//! |---|---|
//! | [`dial`] | one session: connects to an [`RelayAddress`](dial::Address) over QUIC, or WebSocket where UDP is blocked |
//! | [`url`] | the URLs that commands accept |
//! | [`live`] | requests a relay from a Parley host |
//! | [`link`] | a session that reconnects; **[`session_end`] decides whether it does** |
//! | [`crate::room`] | requests a relay from a room |
pub mod dial;
pub mod link;
pub mod live;
pub mod session_end;
pub mod url;

use std::future::Future;
use std::pin::Pin;

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
