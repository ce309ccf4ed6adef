//! Sessions with a relay's second door: Media over QUIC. Rules cited as `MED-n` are those of `services/relay/MEDIA.md`, as `MEDIA-n`
//! those of `services/protocol/SPEC.md`.
//!
//! | module | what |
//! |---|---|
//! | [`dial`] | one session: an [`Address`](dial::Address) is dialled over QUIC, or WebSocket where UDP does not get through |
//! | [`place`] | what somebody means by the address they give |
//! | [`live`] | asks a Parley host for a relay |
//! | [`link`] | a session that comes back; **what ends it for good is [`ending`]** |
//! | [`crate::room`] | asks a room for a relay |
pub mod dial;
pub mod ending;
pub mod link;
pub mod live;
pub mod place;

use std::future::Future;
use std::pin::Pin;

/// What takes its time.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
