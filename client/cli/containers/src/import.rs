//! Parts of a container to frames, groups and a catalog.
use anyhow::{bail, ensure};
use hang::catalog::{AudioCodec, VideoCodec};
use moq_mux::catalog::{Config, Producer};
use moq_mux::container::{fmp4, ts};
use moq_net::broadcast;

/// The most bytes without a track that can be published.
const MAX_SEARCHED: usize = 8 << 20;
const NO_TRACKS: &str = "the input contains neither H.264, VP8, VP9 or AV1 nor AAC or Opus";

/// The format of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Boxes of a fragmented MP4.
    Fragments,
    /// MPEG-TS.
    Packets,
}

/// Publishes an input.
pub struct Import {
    catalog: Producer,
    container: Container,
    /// The bytes read before a track was found; `None` once the input is known to be usable.
    searched: Option<usize>,
}

enum Container {
    Fragments(Box<fmp4::Import>),
    Packets(Box<ts::Import>),
}

impl Import {
    /// Imports into a broadcast. Its clock begins now, whatever the first timestamp of the input is.
    pub fn new(broadcast: &mut broadcast::Producer, form: Form) -> anyhow::Result<Self> {
        let catalog = Producer::new(broadcast, Config::default())?;
        let container = match form {
            Form::Fragments => {
                Container::Fragments(Box::new(fmp4::Import::new(broadcast.clone(), catalog.reserve()).live()))
            }
            Form::Packets => Container::Packets(Box::new(ts::Import::new(broadcast.clone(), catalog.reserve()).live())),
        };
        Ok(Self { catalog, container, searched: Some(0) })
    }

    /// Imports the next part.
    pub fn decode(&mut self, part: &[u8]) -> anyhow::Result<()> {
        match &mut self.container {
            Container::Fragments(import) => import.decode(part)?,
            Container::Packets(import) => import.decode(part)?,
        }
        let Some(searched) = &mut self.searched else { return Ok(()) };
        *searched += part.len();
        let found = self.catalog.snapshot();
        let (videos, audios) = (&found.video.renditions, &found.audio.renditions);
        for config in videos.values() {
            match &config.codec {
                VideoCodec::H264(_) | VideoCodec::VP8 | VideoCodec::VP9(_) | VideoCodec::AV1(_) => {}
                VideoCodec::H265(_) => {
                    bail!("browsers do not play HEVC (H.265): convert it with ffmpeg -i … -c:v libx264 …")
                }
                other => bail!("the video codec is {other}, but must be H.264, VP8, VP9 or AV1"),
            }
        }
        for config in audios.values() {
            ensure!(
                matches!(config.codec, AudioCodec::AAC(_) | AudioCodec::Opus),
                "the audio codec is {}, but must be AAC or Opus: convert it with ffmpeg -i … -c:a aac …",
                config.codec
            );
        }
        if !videos.is_empty() || !audios.is_empty() {
            // MPEG-TS lists its codecs one by one.
            self.searched = matches!(self.container, Container::Packets(_)).then_some(0).filter(|_| videos.is_empty());
        } else {
            ensure!(*searched < MAX_SEARCHED, NO_TRACKS);
        }
        Ok(())
    }

    /// Ends all tracks.
    pub fn finish(mut self) -> anyhow::Result<()> {
        match &mut self.container {
            Container::Fragments(import) => import.finish()?,
            Container::Packets(import) => import.finish()?,
        }
        let found = self.catalog.snapshot();
        ensure!(!found.video.renditions.is_empty() || !found.audio.renditions.is_empty(), NO_TRACKS);
        Ok(self.catalog.finish()?)
    }
}
