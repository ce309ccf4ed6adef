//! What publishers send: the frames of an encoded video, or packets of the size of Opus. ffmpeg encodes and demuxes.
use crate::payload::HEADER_BYTES;
use anyhow::{Context, ensure};
use moq_net::bytes::Bytes;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Frames that a publisher sends repeatedly.
#[derive(Debug)]
pub struct Source {
    /// At least one frame; the first begins a group.
    pub frames: Vec<Frame>,
    /// The time from the first frame to its repetition.
    pub length: Duration,
}

/// One encoded frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The output of the encoder.
    pub body: Bytes,
    /// When it is due, since the first frame.
    pub at: Duration,
    /// Whether it begins a group.
    pub key: bool,
}

/// A moving test picture in H.264, with a key frame exactly every 2 s.
#[derive(Clone, Copy, Debug)]
pub struct TestVideo {
    /// 360 (640 by 360) or 720 (1280 by 720).
    pub height: u32,
    /// Frames per second.
    pub fps: u32,
    /// The bit rate, in kbit/s.
    pub kbit: u32,
}

/// The video where the user names no file.
const DEFAULT_VIDEO: TestVideo = TestVideo { height: 720, fps: 30, kbit: 1000 };
const VIDEO_SECONDS: u32 = 20;
const GROUP_SECONDS: u32 = 2;

/// Audio packets, in groups of a second: a stream for each packet would cost the relay more than the packet.
#[derive(Clone, Copy, Debug)]
pub struct TestAudio {
    /// The time between two packets, in milliseconds.
    pub interval_ms: u32,
    /// The size of the smallest packet, including its header; the largest has twice as many bytes. Opus at 32 to 64 kbit/s.
    pub bytes: usize,
}

/// As most WebRTC applications send it.
const DEFAULT_AUDIO: TestAudio = TestAudio { interval_ms: 20, bytes: 80 };
const AUDIO_SECONDS: u32 = 10;

impl Source {
    /// Audio of 50 frames per second.
    pub fn default_audio() -> Self {
        Self::audio(DEFAULT_AUDIO)
    }

    /// Audio without a pause.
    pub fn audio(TestAudio { interval_ms, bytes }: TestAudio) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let (group, interval) = (1000 / interval_ms, Duration::from_millis(interval_ms.into()));
        let frames = (0..AUDIO_SECONDS * group).map(|index| {
            let size = varied_size(index as usize, bytes);
            let body: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(size).collect();
            Frame { body: body.into(), at: interval * index, key: index.is_multiple_of(group) }
        });
        Self { frames: frames.collect(), length: interval * AUDIO_SECONDS * group }
    }

    /// The frames of a test video.
    pub fn test_video(video: TestVideo) -> anyhow::Result<Self> {
        demux(&video.encoded()?)
    }

    /// The frames of a video file; without a file, of the default test video.
    pub fn video(file: Option<&Path>) -> anyhow::Result<Self> {
        match file {
            Some(file) => demux(file),
            None => Self::test_video(DEFAULT_VIDEO),
        }
    }

    /// The duration of its first group.
    pub fn group(&self) -> Duration {
        self.frames.iter().skip(1).find(|frame| frame.key).map_or(self.length, |frame| frame.at)
    }

    /// The bytes per second that a publisher sends, including the headers of messages.
    #[allow(clippy::cast_precision_loss, reason = "a report is rounded")]
    pub fn bytes_per_second(&self) -> f64 {
        let bytes: usize = self.frames.iter().map(|frame| HEADER_BYTES + frame.body.len()).sum();
        bytes as f64 / self.length.as_secs_f64()
    }
}

/// The size of a body: it changes from frame to frame, and is the same in every run.
fn varied_size(index: usize, least: usize) -> usize {
    least + index * 37 % (least + 1) - HEADER_BYTES
}

impl TestVideo {
    /// The encoded file. The cache keeps it under a name that contains all parameters.
    fn encoded(&self) -> anyhow::Result<PathBuf> {
        let Self { height, fps, kbit } = self;
        let cached = cache()?.join(format!("load-video-{height}p{fps}-{kbit}k-gop{GROUP_SECONDS}s.mp4"));
        if cached.exists() {
            return Ok(cached);
        }
        let unfinished = cached.with_extension(format!("{}.mp4", std::process::id()));
        let (width, group) = (height * 16 / 9, fps * GROUP_SECONDS);
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i"]);
        ffmpeg.arg(format!("testsrc2=size={width}x{height}:rate={fps}:duration={VIDEO_SECONDS}"));
        ffmpeg.args([
            "-c:v",
            "libx264",
            "-preset",
            "veryfast",
            "-pix_fmt",
            "yuv420p",
            "-sc_threshold",
            "0",
            "-bf",
            "0",
        ]);
        for (flag, value) in [("-b:v", kbit), ("-maxrate", kbit), ("-bufsize", kbit)] {
            ffmpeg.args([flag, &format!("{value}k")]);
        }
        for flag in ["-g", "-keyint_min"] {
            ffmpeg.args([flag, &group.to_string()]);
        }
        run(ffmpeg.arg(&unfinished))?;
        std::fs::rename(&unfinished, &cached).with_context(|| cached.display().to_string())?;
        Ok(cached)
    }
}

/// The directory that keeps encoded videos between runs.
fn cache() -> anyhow::Result<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = given("PARLEY_CACHE")
        .or_else(|| given("XDG_CACHE_HOME").map(|cache| cache.join("parley")))
        .or_else(|| given("HOME").map(|home| home.join(".cache/parley")))
        .context("no directory for the test video: set PARLEY_CACHE or HOME")?;
    std::fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
    Ok(directory)
}

/// The frames of the first video track of a file, in the order of the file.
fn demux(file: &Path) -> anyhow::Result<Source> {
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
        let packet = Packet::parse(line).with_context(|| format!("ffprobe printed {line:?}")).with_context(named)?;
        ensure!(packet.size <= bodies.len(), "{}: ffmpeg wrote fewer bytes than ffprobe lists", named());
        let body = bodies.split_to(packet.size);
        // No decoder can show what precedes the first key frame.
        if frames.is_empty() && !packet.key {
            continue;
        }
        let at = Duration::try_from_secs_f64(packet.at - *first.get_or_insert(packet.at)).with_context(named)?;
        length = at + packet.duration;
        frames.push(Frame { body, at, key: packet.key });
    }
    ensure!(bodies.is_empty(), "{}: ffmpeg wrote more bytes than ffprobe lists", named());
    ensure!(length > Duration::ZERO, "{}: it contains no video", named());
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
    fn parse(line: &str) -> anyhow::Result<Self> {
        let mut fields = line.split(',');
        let mut field = || fields.next().context("too few fields");
        let at = field()?.parse()?;
        let duration = Duration::try_from_secs_f64(field()?.parse()?)?;
        Ok(Self { at, duration, size: field()?.parse()?, key: field()?.starts_with('K') })
    }
}

/// Runs a program. Returns its standard output.
fn run(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| {
        format!("{program} does not start: ffmpeg encodes and demuxes video (--audio needs no ffmpeg)")
    })?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}", errors.trim_end().lines().last().unwrap_or("it failed"));
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_audio_has_fifty_frames_per_second_in_groups_of_a_second() {
        let Source { frames, length } = Source::default_audio();
        assert_eq!((frames.len(), length), (500, Duration::from_secs(10)));
        for (index, frame) in frames.iter().enumerate() {
            assert_eq!((frame.at.as_millis(), frame.key), (index as u128 * 20, index % 50 == 0));
            assert!((80..=160).contains(&(HEADER_BYTES + frame.body.len())));
        }
    }

    #[test]
    fn audio_of_longer_packets_has_groups_of_a_second_too() {
        let Source { frames, length } = Source::audio(TestAudio { interval_ms: 40, bytes: 160 });
        assert_eq!((frames.len(), length), (250, Duration::from_secs(10)));
        let keys: Vec<_> = frames.iter().filter(|frame| frame.key).map(|frame| frame.at.as_millis()).collect();
        assert_eq!(keys, (0..10).map(|second| second * 1000).collect::<Vec<_>>());
        assert!(frames.iter().all(|frame| (160..=320).contains(&(HEADER_BYTES + frame.body.len()))));
    }

    #[test]
    fn a_test_video_has_the_requested_frame_rate_and_bit_rate() {
        let source = Source::test_video(TestVideo { height: 360, fps: 10, kbit: 150 }).unwrap();
        assert_eq!((source.frames.len(), source.length), (200, Duration::from_secs(20)));
        assert_eq!(source.group(), Duration::from_secs(2));
        let kbit = source.bytes_per_second() * 8.0 / 1e3;
        assert!((120.0..190.0).contains(&kbit), "{kbit} kbit/s");
    }

    #[test]
    fn a_video_is_demuxed_frame_by_frame() {
        let file = std::env::temp_dir().join(format!("parley-source-{}.mp4", std::process::id()));
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2"]);
        run(ffmpeg.args(["-c:v", "libx264", "-g", "10", "-sc_threshold", "0", "-bf", "2"]).arg(&file)).unwrap();
        let Source { frames, length } = demux(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!((frames.len(), length), (50, Duration::from_secs(2)));
        let keys: Vec<usize> = (0..50).filter(|at| frames[*at].key).collect();
        assert_eq!(keys, [0, 10, 20, 30, 40]);
        assert!(frames.is_sorted_by_key(|frame| frame.at) && frames.iter().all(|frame| !frame.body.is_empty()));
    }

    #[test]
    fn the_error_for_a_file_without_video_names_it() {
        let error = demux(Path::new("/dev/null")).unwrap_err();
        assert!(format!("{error:#}").starts_with("/dev/null cannot be sent"), "{error:#}");
    }
}
