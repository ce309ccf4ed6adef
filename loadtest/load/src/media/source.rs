//! What publishers send: the frames of an encoded video, or audio of the usual size. ffmpeg encodes and takes apart.
use crate::payload::HEADER;
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

/// A test picture in motion, H.264, with key frames every 2 s and nowhere else.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// 640 by 360, or 1280 by 720.
    pub height: u32,
    /// Frames a second.
    pub fps: u32,
    /// About so many kbit/s.
    pub kbit: u32,
}

/// What is sent where no file is named.
const USUAL: Picture = Picture { height: 720, fps: 30, kbit: 1000 };
const SECONDS: u32 = 20;
const GROUP_SECONDS: u32 = 2;

/// Packets of a voice, in groups of a second: a stream for each would cost the relay more than they do.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// Milliseconds between two.
    pub pace: u32,
    /// The smallest, its stamp and hash included; the largest is twice that. Opus at 32 to 64 kbit/s.
    pub bytes: usize,
}

/// As most of WebRTC sends it.
const USUAL_VOICE: Voice = Voice { pace: 20, bytes: 80 };
const VOICE_SECONDS: u32 = 10;

impl Source {
    /// Frames of audio, 50 a second.
    pub fn audio() -> Self {
        Self::voice(USUAL_VOICE)
    }

    /// Packets of somebody who speaks without a pause.
    pub fn voice(Voice { pace, bytes }: Voice) -> Self {
        let mut chance = fastrand::Rng::with_seed(1);
        let (group, pace) = (1000 / pace, Duration::from_millis(pace.into()));
        let frames = (0..VOICE_SECONDS * group).map(|index| {
            let size = chance_size(index as usize, bytes);
            let body: Vec<u8> = std::iter::repeat_with(|| chance.u8(..)).take(size).collect();
            Frame { body: body.into(), at: pace * index, key: index.is_multiple_of(group) }
        });
        Self { frames: frames.collect(), length: pace * VOICE_SECONDS * group }
    }

    /// The frames of a test picture.
    pub fn picture(picture: Picture) -> anyhow::Result<Self> {
        take_apart(&picture.encoded()?)
    }

    /// The frames of a video file; without one, of the test picture.
    pub fn video(file: Option<&Path>) -> anyhow::Result<Self> {
        match file {
            Some(file) => take_apart(file),
            None => Self::picture(USUAL),
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

/// Sizes of bodies that change from frame to frame, the same in every run.
fn chance_size(index: usize, least: usize) -> usize {
    least + index * 37 % (least + 1) - HEADER
}

impl Picture {
    /// The file, encoded where it was not yet. Its name changes with how it is made.
    fn encoded(&self) -> anyhow::Result<PathBuf> {
        let Self { height, fps, kbit } = self;
        let kept = cache()?.join(format!("load-video-{height}p{fps}-{kbit}k-gop{GROUP_SECONDS}s.mp4"));
        if kept.exists() {
            return Ok(kept);
        }
        let unfinished = kept.with_extension(format!("{}.mp4", std::process::id()));
        let (width, group) = (height * 16 / 9, fps * GROUP_SECONDS);
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i"]);
        ffmpeg.arg(format!("testsrc2=size={width}x{height}:rate={fps}:duration={SECONDS}"));
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
        std::fs::rename(&unfinished, &kept).with_context(|| kept.display().to_string())?;
        Ok(kept)
    }
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
            assert!((80..=160).contains(&(HEADER + frame.body.len())));
        }
    }

    #[test]
    fn a_voice_of_longer_packets_is_in_groups_of_a_second_too() {
        let Source { frames, length } = Source::voice(Voice { pace: 40, bytes: 160 });
        assert_eq!((frames.len(), length), (250, Duration::from_secs(10)));
        let keys: Vec<_> = frames.iter().filter(|frame| frame.key).map(|frame| frame.at.as_millis()).collect();
        assert_eq!(keys, (0..10).map(|second| second * 1000).collect::<Vec<_>>());
        assert!(frames.iter().all(|frame| (160..=320).contains(&(HEADER + frame.body.len()))));
    }

    #[test]
    fn a_test_picture_is_as_large_and_as_fast_as_asked() {
        let source = Source::picture(Picture { height: 360, fps: 10, kbit: 150 }).unwrap();
        assert_eq!((source.frames.len(), source.length), (200, Duration::from_secs(20)));
        assert_eq!(source.group(), Duration::from_secs(2));
        let kbit = source.rate() * 8.0 / 1e3;
        assert!((120.0..190.0).contains(&kbit), "{kbit} kbit/s");
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
