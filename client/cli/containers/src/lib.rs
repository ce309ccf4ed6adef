//! What `parley publish` reads and `parley watch` writes: MP4 and MPEG-TS, to and from a broadcast and its catalog, by `moq-mux`.
//!
//! The readers and writers of `moq-mux` and `mp4-atom` are generic, and so compiled where they are used. That is here, once, and not in
//! the command and each of its tests: what crosses this crate's border is plain data, handles and boxed futures (ADR 12).
//!
//! | module | what |
//! |---|---|
//! | [`import`] | pieces of a container into frames, groups and the catalog that browsers read |
//! | [`boxes`] | where a piece of a fragmented MP4 ends, and when it is due |
//! | [`movie`] | an ordinary MP4 as the fragments that it could have been |
//! | [`export`] | a broadcast as fragmented MP4 |
//! | [`tracks`] | what a catalog lists |
pub mod boxes;
pub mod export;
pub mod import;
pub mod movie;
pub mod tracks;

use std::future::Future;
use std::pin::Pin;

/// What takes its time.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
