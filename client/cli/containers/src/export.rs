//! A broadcast as fragmented MP4: a picture or some sound a fragment, so that players show it at once.
use crate::Boxed;
use anyhow::Result;
use moq_mux::Source;
use moq_mux::catalog::{CatalogFormat, Consumer as Catalog};
use moq_mux::container::fmp4;
use moq_net::bytes::Bytes;
use moq_net::origin::Consumer;
use std::time::Duration;

/// How long a group is waited for before it is left out.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads a broadcast.
pub struct Export(fmp4::Export<Catalog>);

/// What is written.
pub enum Chunk {
    /// Comes first, and says what it is all about.
    Head(Bytes),
    /// A fragment.
    Fragment(Bytes),
}

impl Export {
    /// Of a broadcast that the origin has.
    pub fn open(origin: Consumer, broadcast: &str) -> Boxed<'_, Result<Self>> {
        Box::pin(async move {
            let source = Source::new(origin, broadcast);
            let catalog = source.catalog(CatalogFormat::Hang).await?;
            let export = fmp4::Export::new(source, catalog);
            Ok(Self(export.with_max_age(PATIENCE).with_fragment_duration(Duration::ZERO)))
        })
    }

    /// The next chunk; `None` once the broadcast has ended. May be given up halfway.
    pub fn read(&mut self) -> Boxed<'_, Result<Option<Chunk>>> {
        Box::pin(async move {
            Ok(self.0.next_chunk().await?.map(|chunk| match chunk {
                fmp4::Chunk::Init(head) => Chunk::Head(head),
                fragment => Chunk::Fragment(fragment.into_data()),
            }))
        })
    }
}
