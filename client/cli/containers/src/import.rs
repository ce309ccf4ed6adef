//! Pieces of a container into frames, groups and a catalog.
use anyhow::{bail, ensure};
use hang::catalog::{AudioCodec, VideoCodec};
use moq_mux::catalog::{Config, Producer};
use moq_mux::container::{fmp4, ts};
use moq_net::broadcast;

/// An input that holds nothing to publish up to here will not.
const PATIENCE: usize = 8 << 20;
const NOTHING: &str = "there is neither H.264, VP8, VP9 or AV1 nor AAC or Opus in it";

/// What pieces are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Boxes of a fragmented MP4.
    Fragments,
    /// MPEG-TS.
    Packets,
}

/// Publishes what it is given.
pub struct Import {
    catalog: Producer,
    container: Container,
    /// Bytes taken before anything was found; none any more once it is known to be of use.
    searched: Option<usize>,
}

enum Container {
    Fragments(Box<fmp4::Import>),
    Packets(Box<ts::Import>),
}

impl Import {
    /// Into this broadcast, whose clock begins now, whatever that of the input says.
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

    /// Takes the next piece.
    pub fn decode(&mut self, piece: &[u8]) -> anyhow::Result<()> {
        match &mut self.container {
            Container::Fragments(import) => import.decode(piece)?,
            Container::Packets(import) => import.decode(piece)?,
        }
        let Some(searched) = &mut self.searched else { return Ok(()) };
        *searched += piece.len();
        let found = self.catalog.snapshot();
        let (videos, audios) = (&found.video.renditions, &found.audio.renditions);
        for config in videos.values() {
            match &config.codec {
                VideoCodec::H264(_) | VideoCodec::VP8 | VideoCodec::VP9(_) | VideoCodec::AV1(_) => {}
                VideoCodec::H265(_) => {
                    bail!("browsers do not play HEVC (H.265): ffmpeg -i … -c:v libx264 … makes H.264 of it")
                }
                other => bail!("video is {other}, and not H.264, VP8, VP9 or AV1"),
            }
        }
        for config in audios.values() {
            ensure!(
                matches!(config.codec, AudioCodec::AAC(_) | AudioCodec::Opus),
                "audio is {}, and not AAC or Opus: ffmpeg -i … -c:a aac … makes AAC of it",
                config.codec
            );
        }
        if !videos.is_empty() || !audios.is_empty() {
            // MPEG-TS tells its codecs one by one.
            self.searched = matches!(self.container, Container::Packets(_)).then_some(0).filter(|_| videos.is_empty());
        } else {
            ensure!(*searched < PATIENCE, NOTHING);
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
        ensure!(!found.video.renditions.is_empty() || !found.audio.renditions.is_empty(), NOTHING);
        Ok(self.catalog.finish()?)
    }
}
