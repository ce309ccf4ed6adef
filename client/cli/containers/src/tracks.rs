//! The tracks of a broadcast's catalog.
use crate::BoxFuture;
use anyhow::Result;
use moq_mux::catalog::{CatalogFormat, Consumer, Stream};
use moq_net::broadcast;
use moq_net::kio;

/// The most tracks of a kind, as in browsers: each costs a subscription.
const MAX_RENDITIONS: usize = 8;
/// The longest name of a track: names are printed and sent to the relay.
const MAX_NAME: usize = 64;

/// Reads a catalog.
pub struct Tracks(Consumer);

/// A rendition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Its name in the broadcast.
    pub name: String,
    /// Width times height of a video track, 0 if unknown; `None` for audio.
    pub pixels: Option<u64>,
}

impl Tracks {
    /// Opens the catalog of a broadcast.
    pub fn open(broadcast: &broadcast::Consumer) -> BoxFuture<'_, Result<Self>> {
        Box::pin(async move { Ok(Self(Consumer::new(broadcast, CatalogFormat::Hang).await?)) })
    }

    /// Waits for the first or a changed list of tracks; `None` at the end. May be cancelled.
    pub fn read(&mut self) -> BoxFuture<'_, Result<Option<Vec<Track>>>> {
        Box::pin(async move {
            let found = kio::wait(|waiter| self.0.poll_next(waiter)).await?;
            let tracks = |found: moq_mux::catalog::hang::Catalog| {
                let video = found.video.renditions.into_iter().map(|(name, config)| {
                    let [width, height] = [config.coded_width, config.coded_height].map(Option::unwrap_or_default);
                    Track { name, pixels: Some(u64::from(width) * u64::from(height)) }
                });
                let audio = found.audio.renditions.into_keys().map(|name| Track { name, pixels: None });
                accepted(video).chain(accepted(audio)).collect()
            };
            Ok(found.map(tracks))
        })
    }
}

/// The accepted tracks of a catalog. Names consist of the letters that browsers accept (`sfu/catalog.ts` of the SDK), or
/// capital letters.
pub fn accepted(tracks: impl Iterator<Item = Track>) -> impl Iterator<Item = Track> {
    let allowed = |letter: u8| matches!(letter, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-');
    let valid = move |name: &str| (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed);
    tracks.filter(move |track| valid(&track.name)).take(MAX_RENDITIONS)
}
