//! What publishers send: the frames of an encoded video, or audio of the usual size. ffmpeg encodes and takes apart.
use crate::load::payload::HEADER;
use anyhow::{Context, ensure};
use moq_net::bytes::Bytes;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Frames that are sent again and again.
#[derive(Debug)]
pub struct Source {
    /// At least one; the first begins a group.
    pub frames: Vec<Frame>,
    /// From the first frame to the first of the next time.
    pub length: Duration,
}

/// One encoded frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What the encoder made.
    pub body: Bytes,
    /// Since the first.
    pub at: Duration,
    /// A group begins here.
    pub key: bool,
}

/// The test picture, once encoded, is kept under this name, which changes with how it is made.
const KEPT: &str = "load-video-720p30-1mbps-gop2s.mp4";
const PICTURE: &str = "testsrc2=size=1280x720:rate=30:duration=20";
/// About 1 Mbit/s; key frames every 2 s and nowhere else.
const ENCODER: &[&str] = &[
    "-c:v",
    "libx264",
    "-preset",
    "veryfast",
    "-pix_fmt",
    "yuv420p",
    "-b:v",
    "1M",
    "-maxrate",
    "1M",
    "-bufsize",
    "1M",
    "-g",
    "60",
    "-keyint_min",
    "60",
    "-sc_threshold",
    "0",
    "-bf",
    "0",
];

/// Between two frames of audio, and how many are a group: 50 a second, and a stream for each would cost the relay more than they do.
const AUDIO_PACE: Duration = Duration::from_millis(20);
const AUDIO_GROUP: usize = 50;
/// Of a frame, its stamp and hash included: Opus at 32 to 64 kbit/s.
const AUDIO_BYTES: std::ops::RangeInclusive<usize> = 80..=160;
const AUDIO_FRAMES: usize = 500;

impl Source {
    /// Frames of audio.
    pub fn audio() -> Self {
        let mut chance = fastrand::Rng::with_seed(1);
        let mut frame = |index: usize| {
            let body: Vec<u8> = std::iter::repeat_with(|| chance.u8(..)).take(chance_size(index)).collect();
            Frame {
                body: body.into(),
                at: AUDIO_PACE * u32::try_from(index).unwrap_or(0),
                key: index.is_multiple_of(AUDIO_GROUP),
            }
        };
        let frames: Vec<Frame> = (0..AUDIO_FRAMES).map(&mut frame).collect();
        Self { length: AUDIO_PACE * u32::try_from(frames.len()).unwrap_or(1), frames }
    }

    /// The frames of a video file; without one, of the test picture.
    pub fn video(file: Option<&Path>) -> anyhow::Result<Self> {
        match file {
            Some(file) => take_apart(file),
            None => take_apart(&picture()?),
        }
    }

    /// The length of its first group.
    pub fn group(&self) -> Duration {
        self.frames.iter().skip(1).find(|frame| frame.key).map_or(self.length, |frame| frame.at)
    }

    /// Bytes a second of what is sent, stamps included.
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    pub fn rate(&self) -> f64 {
        let bytes: usize = self.frames.iter().map(|frame| HEADER + frame.body.len()).sum();
        bytes as f64 / self.length.as_secs_f64()
    }
}

/// Sizes that change from frame to frame, the same in every run.
fn chance_size(index: usize) -> usize {
    let spread = AUDIO_BYTES.end() - AUDIO_BYTES.start() + 1;
    AUDIO_BYTES.start() + index * 37 % spread - HEADER
}

/// The test picture, encoded where it was not yet.
fn picture() -> anyhow::Result<PathBuf> {
    let kept = cache()?.join(KEPT);
    if kept.exists() {
        return Ok(kept);
    }
    let unfinished = kept.with_extension(format!("{}.mp4", std::process::id()));
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", PICTURE]).args(ENCODER).arg(&unfinished);
    run(&mut ffmpeg)?;
    std::fs::rename(&unfinished, &kept).with_context(|| kept.display().to_string())?;
    Ok(kept)
}

fn cache() -> anyhow::Result<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = given("PARLEY_CACHE")
        .or_else(|| given("XDG_CACHE_HOME").map(|cache| cache.join("parley")))
        .or_else(|| given("HOME").map(|home| home.join(".cache/parley")))
        .context("there is no HOME to keep the test picture in: set PARLEY_CACHE")?;
    std::fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
    Ok(directory)
}

/// Every frame of a file's first video, as it lies there.
fn take_apart(file: &Path) -> anyhow::Result<Source> {
    let named = || format!("{} cannot be sent", file.display());
    let table = run(Command::new("ffprobe")
        .args(["-v", "error", "-select_streams", "v:0", "-of", "csv=p=0"])
        .args(["-show_entries", "packet=dts_time,duration_time,size,flags"])
        .arg(file))
    .with_context(named)?;
    let mut bodies: Bytes = run(Command::new("ffmpeg")
        .args(["-v", "error", "-nostdin", "-i"])
        .arg(file)
        .args(["-map", "0:v:0", "-c", "copy", "-f", "data", "-"]))
    .with_context(named)?
    .into();
    let mut frames: Vec<Frame> = Vec::new();
    let (mut first, mut length) = (None, Duration::ZERO);
    for line in String::from_utf8_lossy(&table).lines() {
        let packet = Packet::read(line).with_context(|| format!("ffprobe says {line:?}")).with_context(named)?;
        ensure!(packet.size <= bodies.len(), "{}: ffmpeg gives less than ffprobe lists", named());
        let body = bodies.split_to(packet.size);
        // What comes before the first key frame cannot be shown.
        if frames.is_empty() && !packet.key {
            continue;
        }
        let at = Duration::try_from_secs_f64(packet.at - *first.get_or_insert(packet.at)).with_context(named)?;
        length = at + packet.duration;
        frames.push(Frame { body, at, key: packet.key });
    }
    ensure!(bodies.is_empty(), "{}: ffmpeg gives more than ffprobe lists", named());
    ensure!(length > Duration::ZERO, "{}: there is no video in it", named());
    Ok(Source { frames, length })
}

/// A line of `ffprobe`'s table.
struct Packet {
    at: f64,
    duration: Duration,
    size: usize,
    key: bool,
}

impl Packet {
    fn read(line: &str) -> anyhow::Result<Self> {
        let mut fields = line.split(',');
        let mut field = || fields.next().context("too few fields");
        let at = field()?.parse()?;
        let duration = Duration::try_from_secs_f64(field()?.parse()?)?;
        Ok(Self { at, duration, size: field()?.parse()?, key: field()?.starts_with('K') })
    }
}

/// What a program writes.
fn run(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| {
        format!("{program} does not start: video is encoded and taken apart by ffmpeg (--audio needs none)")
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}", said.trim_end().lines().last().unwrap_or("it failed"));
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audio_is_fifty_frames_a_second_in_groups_of_a_second() {
        let Source { frames, length } = Source::audio();
        assert_eq!((frames.len(), length), (500, Duration::from_secs(10)));
        for (index, frame) in frames.iter().enumerate() {
            assert_eq!((frame.at.as_millis(), frame.key), (index as u128 * 20, index % 50 == 0));
            assert!(AUDIO_BYTES.contains(&(HEADER + frame.body.len())));
        }
    }

    #[test]
    fn a_video_is_taken_apart_frame_by_frame() {
        let file = std::env::temp_dir().join(format!("parley-source-{}.mp4", std::process::id()));
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2"]);
        run(ffmpeg.args(["-c:v", "libx264", "-g", "10", "-sc_threshold", "0", "-bf", "2"]).arg(&file)).unwrap();
        let Source { frames, length } = take_apart(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!((frames.len(), length), (50, Duration::from_secs(2)));
        let keys: Vec<usize> = (0..50).filter(|at| frames[*at].key).collect();
        assert_eq!(keys, [0, 10, 20, 30, 40]);
        assert!(frames.is_sorted_by_key(|frame| frame.at) && frames.iter().all(|frame| !frame.body.is_empty()));
    }

    #[test]
    fn what_is_no_video_is_told_by_its_name() {
        let why = take_apart(Path::new("/dev/null")).unwrap_err();
        assert!(format!("{why:#}").starts_with("/dev/null cannot be sent"), "{why:#}");
    }
}
