//! What a broadcast's catalog lists.
use crate::Boxed;
use anyhow::Result;
use moq_mux::catalog::{CatalogFormat, Consumer, Stream};
use moq_net::broadcast;
use moq_net::kio;

/// As browsers take from a stranger's catalog: more is left out, as each costs a subscription.
const MOST_RENDITIONS: usize = 8;
/// Names are printed, and asked of a relay.
const MOST_NAME: usize = 64;

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
                taken(pictures).chain(taken(sounds)).collect()
            };
            Ok(found.map(tracks))
        })
    }
}

/// What is taken of a stranger's pictures, or of their sounds. Names have the form that browsers insist on (`sfu/catalog.ts`
/// of the SDK), or capitals as well.
pub fn taken(tracks: impl Iterator<Item = Track>) -> impl Iterator<Item = Track> {
    let plain = |letter: u8| matches!(letter, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-');
    let fit = move |name: &str| (1..=MOST_NAME).contains(&name.len()) && name.bytes().all(plain);
    tracks.filter(move |track| fit(&track.name)).take(MOST_RENDITIONS)
}
