//! What a broadcast's catalog lists.
use crate::Boxed;
use anyhow::Result;
use moq_mux::catalog::{CatalogFormat, Consumer, Stream};
use moq_net::broadcast;
use moq_net::kio;

/// Reads a catalog.
pub struct Tracks(Consumer);

/// One rendition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Its name in the broadcast.
    pub name: String,
    /// Of a picture its size, nothing where that is not said; none of sound.
    pub pixels: Option<u64>,
}

impl Tracks {
    /// Of this broadcast.
    pub fn open(broadcast: &broadcast::Consumer) -> Boxed<'_, Result<Self>> {
        Box::pin(async move { Ok(Self(Consumer::new(broadcast, CatalogFormat::Hang).await?)) })
    }

    /// All tracks, each time that they change; `None` at the end. May be given up while it waits.
    pub fn read(&mut self) -> Boxed<'_, Result<Option<Vec<Track>>>> {
        Box::pin(async move {
            let found = kio::wait(|waiter| self.0.poll_next(waiter)).await?;
            let tracks = |found: moq_mux::catalog::hang::Catalog| {
                let pictures = found.video.renditions.into_iter().map(|(name, config)| {
                    let [width, height] = [config.coded_width, config.coded_height].map(Option::unwrap_or_default);
                    Track { name, pixels: Some(u64::from(width) * u64::from(height)) }
                });
                let sounds = found.audio.renditions.into_keys().map(|name| Track { name, pixels: None });
                pictures.chain(sounds).collect()
            };
            Ok(found.map(tracks))
        })
    }
}
