//! The input: a file in real time, or standard input as it arrives.
use super::packets::{self, PACKET};
use anyhow::{Context, bail};
use parley_containers::boxes::{self, Boxes};
use parley_containers::import::Form;
use parley_containers::movie::Movie;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, Stdin, stdin};
use tokio::time::{Instant, sleep_until};

/// The most bytes of one read.
const READ: usize = 1 << 16;
/// The bytes that suffice to detect the format.
const PROBE: usize = 3 * PACKET;
/// The most bytes of one read of an MPEG-TS file, so that its clock is read every 10 ms at 1 Mbit/s.
const PACKET_READ: usize = 7 * PACKET;

/// Yields the input in parts.
pub struct Source {
    input: Input,
    /// The time at which the media with timestamp zero was due; of a file, once its first part was published.
    began: Option<Instant>,
    /// When the last part was due, and the longest time between two parts, which is about the duration of one.
    last: Duration,
    longest: Duration,
    again: bool,
}

enum Input {
    Movie { movie: Movie, next: usize, repetition: u32, begun: bool },
    Stream { bytes: Bytes, cutter: Cutter, ended: bool },
}

enum Bytes {
    File(File),
    Stdin(Stdin),
}

enum Cutter {
    Boxes(Boxes),
    /// Bytes that are not handed on yet: less than a packet.
    Packets(Vec<u8>),
}

impl Source {
    /// Opens the input and detects its format.
    pub async fn open(file: Option<PathBuf>, again: bool) -> anyhow::Result<Self> {
        let mut bytes = match file {
            None => Bytes::Stdin(stdin()),
            Some(path) => Bytes::File(File::open(&path).with_context(|| path.display().to_string())?),
        };
        let mut first = Vec::new();
        while first.len() < PROBE {
            let read = bytes.read(PROBE - first.len()).await?;
            if read.is_empty() {
                break;
            }
            first.extend(read);
        }
        let input = match bytes {
            _ if first.is_empty() => bail!("it is empty"),
            bytes if packets::is_mpeg_ts(&first) => {
                Input::Stream { bytes, cutter: Cutter::Packets(first), ended: false }
            }
            bytes if !boxes::is_mp4(&first) => {
                drop(bytes);
                bail!("it is neither MP4 nor MPEG-TS")
            }
            Bytes::File(file) => match Movie::open(file.try_clone()?)? {
                Some(movie) => Input::Movie { movie, next: 0, repetition: 0, begun: false },
                None => Input::fragments(Bytes::File(file), &first),
            },
            bytes @ Bytes::Stdin(_) => Input::fragments(bytes, &first),
        };
        Ok(Self { input, began: None, last: Duration::ZERO, longest: Duration::ZERO, again })
    }

    /// The format of the parts.
    pub fn form(&self) -> Form {
        match &self.input {
            Input::Stream { cutter: Cutter::Packets(_), .. } => Form::Packets,
            _ => Form::Fragments,
        }
    }

    /// Waits until the next part is due. Returns `None` at the end.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        let paced = !matches!(self.input, Input::Stream { bytes: Bytes::Stdin(_), .. });
        loop {
            let Some((part, due)) = self.input.next().await? else {
                if !self.again || !self.input.rewind()? {
                    return Ok(None);
                }
                // A movie continues its timestamps. Those of a stream begin again, when the last part has been played.
                if !matches!(self.input, Input::Movie { .. })
                    && let Some(began) = self.began.take()
                {
                    sleep_until(began + self.last + self.longest).await;
                }
                continue;
            };
            if let Some(due) = due.filter(|_| paced) {
                // The first timestamp may be other than zero.
                let since = || Instant::now().checked_sub(due).unwrap_or_else(Instant::now);
                let began = match self.began {
                    None => *self.began.insert(since()),
                    Some(began) => {
                        self.longest = self.longest.max(due.saturating_sub(self.last));
                        began
                    }
                };
                self.last = due;
                sleep_until(began + due).await;
            }
            return Ok(Some(part));
        }
    }
}

impl Input {
    fn fragments(bytes: Bytes, first: &[u8]) -> Self {
        let mut boxes = Boxes::default();
        boxes.feed(first);
        Input::Stream { bytes, cutter: Cutter::Boxes(boxes), ended: false }
    }

    async fn next(&mut self) -> anyhow::Result<Option<(Vec<u8>, Option<Duration>)>> {
        let (bytes, cutter, ended) = match self {
            Input::Movie { movie, begun, .. } if !*begun => {
                *begun = true;
                return Ok(Some((movie.head().to_vec(), None)));
            }
            Input::Movie { movie, next, repetition, .. } => {
                let fragment = movie.fragment(*next, *repetition)?;
                *next += 1;
                return Ok(fragment.map(|(part, due)| (part, Some(due))));
            }
            Input::Stream { bytes, cutter, ended } => (bytes, cutter, ended),
        };
        loop {
            if let Some(part) = cutter.next()? {
                return Ok(Some(part));
            }
            if *ended {
                return Ok(None);
            }
            let most =
                if matches!((&*bytes, &*cutter), (Bytes::File(_), Cutter::Packets(_))) { PACKET_READ } else { READ };
            let read = bytes.read(most).await?;
            *ended = read.is_empty();
            match cutter {
                Cutter::Boxes(boxes) => boxes.feed(&read),
                Cutter::Packets(rest) => rest.extend(read),
            }
        }
    }

    /// Rewinds a file. Returns false for standard input.
    fn rewind(&mut self) -> anyhow::Result<bool> {
        match self {
            Input::Movie { next, repetition, .. } => (*next, *repetition) = (0, *repetition + 1),
            Input::Stream { bytes: Bytes::File(file), cutter, ended } => {
                file.rewind()?;
                *ended = false;
                match cutter {
                    Cutter::Boxes(boxes) => boxes.rewind(),
                    Cutter::Packets(rest) => rest.clear(),
                }
            }
            Input::Stream { .. } => return Ok(false),
        }
        Ok(true)
    }
}

impl Bytes {
    async fn read(&mut self, most: usize) -> anyhow::Result<Vec<u8>> {
        let mut read = vec![0; most];
        // Reading a local file blocks for microseconds only.
        let size = match self {
            Bytes::File(file) => file.read(&mut read)?,
            Bytes::Stdin(stdin) => stdin.read(&mut read).await.context("standard input")?,
        };
        read.truncate(size);
        Ok(read)
    }
}

impl Cutter {
    fn next(&mut self) -> anyhow::Result<Option<(Vec<u8>, Option<Duration>)>> {
        match self {
            Cutter::Boxes(boxes) => boxes.cut(),
            Cutter::Packets(rest) => {
                let whole = rest.len() / PACKET * PACKET;
                if whole == 0 {
                    return Ok(None);
                }
                let part: Vec<u8> = rest.drain(..whole).collect();
                let due = packets::clock(&part);
                Ok(Some((part, due)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let size = u32::try_from(body.len() + 8).unwrap();
        [&size.to_be_bytes(), &kind[..], body].concat()
    }

    #[test]
    fn boxes_are_found_whatever_the_sizes_of_reads() {
        let stream = [boxed(b"ftyp", b"iso6"), boxed(b"free", &[0; 100])].concat();
        for step in 1..stream.len() {
            let (mut boxes, mut kinds) = (Boxes::default(), Vec::new());
            for part in stream.chunks(step) {
                boxes.feed(part);
                while let Some((whole, _)) = boxes.cut().unwrap() {
                    kinds.push(whole[4..8].to_vec());
                }
            }
            assert_eq!(kinds, [b"ftyp", b"free"], "in steps of {step}");
        }
    }

    #[test]
    fn an_unfragmented_mp4_and_invalid_boxes_are_refused_before_they_are_buffered() {
        let refuses = |stream: &[u8]| {
            let mut boxes = Boxes::default();
            boxes.feed(stream);
            std::iter::from_fn(|| boxes.cut().transpose()).find_map(Result::err).expect("taken").to_string()
        };
        assert!(refuses(&boxed(b"mdat", b"")[..8]).contains("ordinary"));
        assert!(refuses(b"\xff\xff\xff\xfffree").contains("claims"));
        assert!(refuses(b"\0\0\0\x02free").contains("claims"));
    }
}
