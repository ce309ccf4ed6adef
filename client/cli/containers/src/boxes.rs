//! Fragmented MP4 (ISO/IEC 14496-12), box by box.
use anyhow::{Context, bail, ensure};
use mp4_atom::{Any, Codec, DecodeMaybe, Encode, Moov, Traf, Trak};
use std::collections::HashMap;
use std::io::Cursor;
use std::time::Duration;

/// The largest box of a live stream.
const MAX_BOX: u64 = 64 << 20;
const UNFRAGMENTED: &str = "an ordinary MP4 can be published as a file, not from standard input; \
    ffmpeg writes it for a pipe with -movflags frag_keyframe+empty_moov+default_base_moof";

/// Divides a stream into boxes.
#[derive(Default)]
pub struct Boxes {
    buffer: Vec<u8>,
    tracks: HashMap<u32, Track>,
    begun: bool,
}

/// The time scale of a track, and the duration of samples without one of their own.
#[derive(Clone, Copy)]
struct Track {
    scale: u64,
    duration: u32,
}

/// A complete box, and when it is due: at the end of its media if it begins a fragment.
pub type Cut = (Vec<u8>, Option<Duration>);

/// Whether an input is MP4.
pub fn is_mp4(input: &[u8]) -> bool {
    let kinds: [&[u8]; 8] = [b"ftyp", b"styp", b"moov", b"moof", b"sidx", b"free", b"skip", b"emsg"];
    input.get(4..8).is_some_and(|kind| kinds.contains(&kind) || kind == b"mdat" || kind == b"wide")
}

impl Boxes {
    /// Appends input.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Begins the file again. The known header is kept.
    pub fn rewind(&mut self) {
        self.buffer.clear();
    }

    /// The next complete box.
    pub fn cut(&mut self) -> anyhow::Result<Option<Cut>> {
        loop {
            let Some(size) = self.size()? else { return Ok(None) };
            if self.buffer.len() < size {
                return Ok(None);
            }
            let rest = self.buffer.split_off(size);
            let mut whole = std::mem::replace(&mut self.buffer, rest);
            let due = match &whole[4..8] {
                b"moov" if self.begun => continue,
                b"moov" | b"moof" => self.read(&mut whole)?,
                b"mdat" if !self.begun => bail!(UNFRAGMENTED),
                _ => None,
            };
            return Ok(Some((whole, due)));
        }
    }

    /// The size of the next box.
    fn size(&self) -> anyhow::Result<Option<usize>> {
        let number =
            |at: usize| self.buffer.get(at..at + 4).and_then(|bytes| Some(u32::from_be_bytes(bytes.try_into().ok()?)));
        let size = match (number(0), number(8), number(12)) {
            (Some(1), Some(high), Some(low)) => u64::from(high) << 32 | u64::from(low),
            (Some(1) | None, ..) => return Ok(None),
            (Some(size), ..) => u64::from(size),
        };
        if self.buffer.len() >= 8 && !self.begun && &self.buffer[4..8] == b"mdat" {
            bail!(UNFRAGMENTED);
        }
        ensure!((8..=MAX_BOX).contains(&size), "a box of the MP4 claims {size} bytes");
        Ok(Some(usize::try_from(size)?))
    }

    fn read(&mut self, whole: &mut Vec<u8>) -> anyhow::Result<Option<Duration>> {
        match Any::decode_maybe(&mut Cursor::new(&whole[..])).context("the MP4 cannot be read")? {
            Some(Any::Moov(mut moov)) => {
                ensure!(moov.mvex.is_some(), UNFRAGMENTED);
                correct_channels(&mut moov);
                whole.clear();
                moov.encode(whole)?;
                self.begun = true;
                self.tracks = tracks(&moov);
                Ok(None)
            }
            Some(Any::Moof(moof)) => Ok(moof.traf.first().and_then(|run| self.end(run))),
            _ => bail!("the MP4 ends within a box"),
        }
    }

    fn end(&self, run: &Traf) -> Option<Duration> {
        let track = self.tracks.get(&run.tfhd.track_id)?;
        let usual = run.tfhd.default_sample_duration.unwrap_or(track.duration);
        let samples = run.trun.iter().flat_map(|run| &run.entries);
        let length: u64 = samples.map(|sample| u64::from(sample.duration.unwrap_or(usual))).sum();
        Some(seconds(run.tfdt.as_ref()?.base_media_decode_time + length, track.scale))
    }
}

fn tracks(moov: &Moov) -> HashMap<u32, Track> {
    let extended = |id: u32| moov.mvex.iter().flat_map(|extends| &extends.trex).find(|extend| extend.track_id == id);
    let track = |track: &Trak| {
        let id = track.tkhd.track_id;
        let duration = extended(id).map_or(0, |extend| extend.default_sample_duration);
        (id, Track { scale: u64::from(track.mdia.mdhd.timescale), duration })
    };
    moov.trak.iter().map(track).collect()
}

/// AAC-LC (ISO/IEC 14496-3).
const AAC_LC: u8 = 2;

/// Corrects the number of audio channels. For AAC, MP4 files say two even for mono, and browsers that rely on it play nothing.
pub(crate) fn correct_channels(moov: &mut Moov) {
    for codec in moov.trak.iter_mut().flat_map(|track| &mut track.mdia.minf.stbl.stsd.codecs) {
        if let Codec::Mp4a(sound) = codec
            && let Some(specific) = &sound.esds.es_desc.dec_config.dec_specific
            && specific.profile == AAC_LC
        {
            sound.audio.channel_count = match specific.chan_conf {
                count @ 1..=6 => count.into(),
                7 => 8,
                _ => sound.audio.channel_count,
            };
        }
    }
}

/// The duration of `units` at `scale` units per second.
pub fn seconds(units: u64, scale: u64) -> Duration {
    let scale = scale.max(1);
    let nanos = u128::from(units % scale) * 1_000_000_000 / u128::from(scale);
    Duration::from_secs(units / scale) + Duration::from_nanos(u64::try_from(nanos).unwrap_or_default())
}
