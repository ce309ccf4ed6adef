//! The formats that `parley publish` reads and `parley watch` writes: MP4 and MPEG-TS, to and from a broadcast and its catalog, by `moq-mux`.
//!
//! The readers and writers of `moq-mux` and `mp4-atom` are generic, so they are compiled in each crate that uses them. Only this crate uses them,
//! and its interface has plain data, handles and boxed futures, so that the command and its tests do not compile them again (ADR 12).
//!
//! | module | content |
//! |---|---|
//! | [`import`] | parts of a container to frames, groups and the catalog that browsers read |
//! | [`boxes`] | the parts of a fragmented MP4, and when each is due |
//! | [`movie`] | an unfragmented MP4 as fragments |
//! | [`export`] | a broadcast as fragmented MP4 |
//! | [`tracks`] | the tracks of a catalog |
pub mod boxes;
pub mod export;
pub mod import;
pub mod movie;
pub mod tracks;

use std::future::Future;
use std::pin::Pin;

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
