//! A broadcast as fragmented MP4. Each fragment has one frame of video or little audio, so that players show it at once.
use crate::BoxFuture;
use anyhow::Result;
use moq_mux::Source;
use moq_mux::catalog::{CatalogFormat, Consumer as Catalog, Select, Stream};
use moq_mux::container::fmp4;
use moq_mux::select::{Audio, Broadcast, Video};
use moq_net::bytes::Bytes;
use moq_net::origin::Consumer;
use std::time::Duration;

/// How long a late group is waited for.
const MAX_GROUP_AGE: Duration = Duration::from_secs(2);

/// Reads a broadcast.
pub struct Export(fmp4::Export<Select<Catalog>>);

/// A part of the output.
pub enum Chunk {
    /// The header, which comes first and describes the tracks.
    Head(Bytes),
    /// A fragment.
    Fragment(Bytes),
}

impl Export {
    /// Opens a broadcast of the origin, with or without its sounds.
    pub fn open(origin: Consumer, broadcast: &str, sounds: bool) -> BoxFuture<'_, Result<Self>> {
        Box::pin(async move {
            let source = Source::new(origin, broadcast);
            let catalog = source.catalog(CatalogFormat::Hang).await?;
            let pictures = Broadcast::default().video(Video::default());
            let selected = if sounds { pictures.audio(Audio::default()) } else { pictures };
            let export = fmp4::Export::new(source, catalog.select(selected));
            Ok(Self(export.with_max_age(MAX_GROUP_AGE).with_fragment_duration(Duration::ZERO)))
        })
    }

    /// Reads the next chunk; `None` at the end of the broadcast. Cancel-safe.
    pub fn read(&mut self) -> BoxFuture<'_, Result<Option<Chunk>>> {
        Box::pin(async move {
            Ok(self.0.next_chunk().await?.map(|chunk| match chunk {
                fmp4::Chunk::Init(head) => Chunk::Head(head),
                fragment => Chunk::Fragment(fragment.into_data()),
            }))
        })
    }
}
