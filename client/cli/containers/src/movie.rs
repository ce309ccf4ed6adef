//! An unfragmented MP4: its tables of samples, and fragments made from them (ISO/IEC 14496-12).
use crate::boxes::{correct_channels, seconds};
use anyhow::{Context, bail, ensure};
use mp4_atom::{
    Any, DecodeMaybe, Encode, Mfhd, Moof, Moov, Mvex, Stbl, Stsz, StszSamples, Tfdt, Tfhd, Traf, Trak, Trex, Trun,
    TrunEntry,
};
use std::fs::File;
use std::io::Cursor;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The most audio in one fragment. A fragment of video has one frame.
const AUDIO_FRAGMENT: Duration = Duration::from_millis(100);
/// The same for a file without video. Each of its fragments is a group, and MoQ carries few groups better than many.
const AUDIO_ONLY_FRAGMENT: Duration = Duration::from_secs(1);
/// The largest tables; enough for a file of days.
const MAX_TABLES: u64 = 512 << 20;
/// The flags of a sync sample, and of one that depends on others (`sample_depends_on`).
const KEY: u32 = 0x0200_0000;
const NOT_KEY: u32 = 0x0101_0000;

/// A file that is published fragment by fragment.
pub struct Movie {
    file: File,
    head: Vec<u8>,
    tracks: Vec<Track>,
    /// In the order of their due times.
    fragments: Vec<Fragment>,
    length: Duration,
}

struct Track {
    id: u32,
    scale: u64,
    samples: Vec<Sample>,
}

/// A sample. Times are in units of the track.
#[derive(Clone, Copy)]
struct Sample {
    at: u64,
    size: u32,
    decode: u64,
    duration: u32,
    /// The offset from decoding to presentation.
    shift: i64,
    key: bool,
}

struct Fragment {
    due: Duration,
    track: usize,
    first: usize,
    count: usize,
}

impl Movie {
    /// Reads the tables; `None` if the file is fragmented already.
    pub fn open(file: File) -> anyhow::Result<Option<Self>> {
        let Some(moov) = find(&file)? else { return Ok(None) };
        if moov.mvex.is_some() {
            return Ok(None);
        }
        let size = file.metadata()?.len();
        let kept: Vec<Trak> = moov.trak.iter().filter(|track| is_media(track)).cloned().collect();
        let mut tracks = Vec::new();
        for track in &kept {
            let samples = samples(track, moov.mvhd.timescale).context("the tables of the MP4 contradict each other")?;
            ensure!(samples.iter().all(|sample| sample.at + u64::from(sample.size) <= size), "the file ends too early");
            tracks.push(Track { id: track.tkhd.track_id, scale: u64::from(track.mdia.mdhd.timescale), samples });
        }
        let alone = !kept.iter().any(is_video);
        let mut fragments = Vec::new();
        for (index, (track, from)) in tracks.iter().zip(&kept).enumerate() {
            let longest = match (is_video(from), alone) {
                (true, _) => Duration::ZERO,
                (false, true) => AUDIO_ONLY_FRAGMENT,
                (false, false) => AUDIO_FRAGMENT,
            };
            track.cut(index, longest, &mut fragments);
        }
        ensure!(!fragments.is_empty(), "the file contains neither video nor audio");
        fragments.sort_by_key(|fragment| fragment.due);
        let length = tracks.iter().map(Track::length).max().unwrap_or_default();
        let mut head = Vec::new();
        bare(moov, kept).encode(&mut head)?;
        Ok(Some(Self { file, head, tracks, fragments, length }))
    }

    /// The header, which comes before the fragments.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// A fragment, and when it is due; `None` after the last. In later repetitions the timestamps continue.
    pub fn fragment(&self, index: usize, round: u32) -> anyhow::Result<Option<(Vec<u8>, Duration)>> {
        let Some(Fragment { due, track, first, count }) = self.fragments.get(index) else { return Ok(None) };
        let track = &self.tracks[*track];
        let samples = &track.samples[*first..first + count];
        let since = self.length * round;
        let later = since.as_nanos() * u128::from(track.scale) / 1_000_000_000;
        let entry = |sample: &Sample| {
            Ok(TrunEntry {
                duration: Some(sample.duration),
                size: Some(sample.size),
                flags: Some(if sample.key { KEY } else { NOT_KEY }),
                cts: Some(i32::try_from(sample.shift).context("the presentation offset of a frame is out of range")?),
            })
        };
        let run = Trun { data_offset: Some(0), entries: samples.iter().map(entry).collect::<anyhow::Result<_>>()? };
        let decode = samples[0].decode + u64::try_from(later)?;
        let mut moof = Moof {
            mfhd: Mfhd { sequence_number: u32::try_from(index + 1).unwrap_or(u32::MAX) },
            traf: vec![Traf {
                tfhd: Tfhd { track_id: track.id, default_base_is_moof: true, ..Tfhd::default() },
                tfdt: Some(Tfdt { base_media_decode_time: decode }),
                trun: vec![run],
                ..Traf::default()
            }],
        };
        let mut piece = Vec::new();
        moof.encode(&mut piece)?;
        moof.traf[0].trun[0].data_offset = Some(i32::try_from(piece.len() + 8)?);
        piece.clear();
        moof.encode(&mut piece)?;
        let size: usize = samples.iter().map(|sample| sample.size as usize).sum();
        piece.extend_from_slice(&u32::try_from(size + 8)?.to_be_bytes());
        piece.extend_from_slice(b"mdat");
        for sample in samples {
            let begin = piece.len();
            piece.resize(begin + sample.size as usize, 0);
            self.file.read_exact_at(&mut piece[begin..], sample.at)?;
        }
        Ok(Some((piece, since + *due)))
    }
}

impl Track {
    fn cut(&self, index: usize, longest: Duration, fragments: &mut Vec<Fragment>) {
        let at = |sample: &Sample| seconds(sample.decode, self.scale);
        let mut first = 0;
        while let Some(begin) = self.samples.get(first) {
            let until = at(begin) + longest;
            let more = self.samples[first + 1..].iter().take_while(|sample| at(sample) < until).count();
            fragments.push(Fragment { due: at(begin), track: index, first, count: more + 1 });
            first += more + 1;
        }
    }

    fn length(&self) -> Duration {
        self.samples.last().map(|last| seconds(last.decode + u64::from(last.duration), self.scale)).unwrap_or_default()
    }
}

fn find(file: &File) -> anyhow::Result<Option<Moov>> {
    let (mut at, end) = (0, file.metadata()?.len());
    while at + 8 <= end {
        let mut head = [0; 16];
        let some = usize::try_from((end - at).min(16))?;
        file.read_exact_at(&mut head[..some], at)?;
        let size = match u32::from_be_bytes([head[0], head[1], head[2], head[3]]) {
            0 => end - at,
            1 => u64::from_be_bytes([head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15]]),
            size => u64::from(size),
        };
        ensure!((8..=end - at).contains(&size), "the MP4 is cut off, or none: a box claims {size} bytes");
        match &head[4..8] {
            // Fragments may come before a box that announces them.
            b"moof" => return Ok(None),
            b"moov" => {
                ensure!(size <= MAX_TABLES, "the tables of the MP4 are too large");
                let mut whole = vec![0; usize::try_from(size)?];
                file.read_exact_at(&mut whole, at)?;
                return match Any::decode_maybe(&mut Cursor::new(&whole[..])).context("the MP4 cannot be read")? {
                    Some(Any::Moov(moov)) => Ok(Some(moov)),
                    _ => bail!("the MP4 cannot be read"),
                };
            }
            _ => at += size,
        }
    }
    bail!("the MP4 has no tables: it was not written to its end")
}

fn is_video(track: &Trak) -> bool {
    track.mdia.hdlr.handler == b"vide".into()
}

fn is_media(track: &Trak) -> bool {
    is_video(track) || track.mdia.hdlr.handler == b"soun".into()
}

/// The header without tables.
fn bare(mut moov: Moov, tracks: Vec<Trak>) -> Moov {
    moov.trak = tracks;
    correct_channels(&mut moov);
    for track in &mut moov.trak {
        track.edts = None;
        let stsd = std::mem::take(&mut track.mdia.minf.stbl.stsd);
        track.mdia.minf.stbl = Stbl { stsd, stco: Some(mp4_atom::Stco::default()), ..Stbl::default() };
    }
    let extend =
        |track: &Trak| Trex { track_id: track.tkhd.track_id, default_sample_description_index: 1, ..Trex::default() };
    moov.mvex = Some(Mvex { mehd: None, trex: moov.trak.iter().map(extend).collect() });
    moov.meta = None;
    moov.udta = None;
    moov
}

fn samples(track: &Trak, movie_scale: u32) -> anyhow::Result<Vec<Sample>> {
    let tables = &track.mdia.minf.stbl;
    let sizes: Vec<u32> = match &tables.stsz {
        Stsz { samples: StszSamples::Identical { count, size } } => vec![*size; *count as usize],
        Stsz { samples: StszSamples::Different { sizes } } => sizes.clone(),
    };
    let chunks: Vec<u64> = match (&tables.stco, &tables.co64) {
        (_, Some(wide)) => wide.entries.clone(),
        (Some(narrow), _) => narrow.entries.iter().map(|at| u64::from(*at)).collect(),
        _ => bail!("no table of chunks"),
    };
    let mut durations =
        tables.stts.entries.iter().flat_map(|run| std::iter::repeat_n(run.sample_delta, run.sample_count as usize));
    let shifts = tables.ctts.iter().flat_map(|table| &table.entries);
    let mut shifts = shifts.flat_map(|run| std::iter::repeat_n(run.sample_offset, run.sample_count as usize));
    let (delay, skipped) = edits(track, movie_scale);
    let mut of_chunks = tables.stsc.entries.iter().peekable();
    let (mut samples, mut decode, mut per_chunk) = (Vec::with_capacity(sizes.len()), delay, 0);
    let mut keys = tables.stss.as_ref().map(|table| table.entries.iter().copied().peekable());
    'chunks: for (number, chunk) in (1u32..).zip(chunks) {
        while let Some(run) = of_chunks.next_if(|run| run.first_chunk <= number) {
            per_chunk = run.samples_per_chunk;
            ensure!(run.sample_description_index == 1, "more than one form of samples");
        }
        let mut at = chunk;
        for _ in 0..per_chunk {
            let Some(size) = sizes.get(samples.len()) else { break 'chunks };
            let duration = durations.next().context("no duration of a sample")?;
            let number = u32::try_from(samples.len() + 1)?;
            let key = keys.as_mut().is_none_or(|keys| keys.next_if_eq(&number).is_some());
            let shift = shifts.next().unwrap_or(0) - skipped;
            samples.push(Sample { at, size: *size, decode, duration, shift, key });
            at += u64::from(*size);
            decode += u64::from(duration);
        }
    }
    ensure!(samples.len() == sizes.len(), "chunks for fewer samples than there are");
    Ok(samples)
}

/// The edit list: the initial delay, and the start of the presentation in the track.
fn edits(track: &Trak, movie_scale: u32) -> (u64, i64) {
    let list = track.edts.as_ref().and_then(|edits| edits.elst.as_ref());
    let (mut delay, scale) = (0, u64::from(track.mdia.mdhd.timescale));
    for edit in list.iter().flat_map(|list| &list.entries) {
        match edit.media_time {
            Some(begin) => return (delay, i64::try_from(begin).unwrap_or(0)),
            None => delay += edit.segment_duration.saturating_mul(scale) / u64::from(movie_scale.max(1)),
        }
    }
    (delay, 0)
}
