//! What a broadcast's catalog lists.
use crate::Boxed;
use anyhow::Result;
use moq_mux::catalog::{CatalogFormat, Consumer, Stream};
use moq_net::broadcast;
use moq_net::kio;

/// Reads a catalog.
pub struct Tracks(Consumer);

impl Tracks {
    /// Of this broadcast.
    pub fn open(broadcast: &broadcast::Consumer) -> Boxed<'_, Result<Self>> {
        Box::pin(async move { Ok(Self(Consumer::new(broadcast, CatalogFormat::Hang).await?)) })
    }

    /// The names of all tracks, each time that they change; `None` at the end.
    pub fn read(&mut self) -> Boxed<'_, Result<Option<Vec<String>>>> {
        Box::pin(async move {
            let found = kio::wait(|waiter| self.0.poll_next(waiter)).await?;
            let names = |found: moq_mux::catalog::hang::Catalog| {
                found.video.renditions.into_keys().chain(found.audio.renditions.into_keys()).collect()
            };
            Ok(found.map(names))
        })
    }
}
