//! The input: a file in real time, or standard input as it comes.
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

/// What one read takes at most.
const READ: usize = 1 << 16;
/// Enough to know what it is.
const BEGINNING: usize = 3 * PACKET;
/// Of a file of packets: its clock is looked at this often, 10 ms at a Mbit/s.
const PACKETS: usize = 7 * PACKET;

/// Where pieces come from.
pub struct Source {
    input: Input,
    /// When the media that is due at nothing was published; of a file, once it has begun.
    began: Option<Instant>,
    /// When the last piece was due, and the longest time between two: that of the pieces themselves.
    last: Duration,
    longest: Duration,
    again: bool,
}

enum Input {
    Movie { movie: Movie, next: usize, round: u32, begun: bool },
    Stream { bytes: Bytes, cutter: Cutter, ended: bool },
}

enum Bytes {
    File(File),
    Stdin(Stdin),
}

enum Cutter {
    Boxes(Boxes),
    /// What was read and not handed on: less than a packet.
    Packets(Vec<u8>),
}

impl Source {
    /// Finds out what the input is.
    pub async fn open(file: Option<PathBuf>, again: bool) -> anyhow::Result<Self> {
        let mut bytes = match file {
            None => Bytes::Stdin(stdin()),
            Some(path) => Bytes::File(File::open(&path).with_context(|| path.display().to_string())?),
        };
        let mut first = Vec::new();
        while first.len() < BEGINNING {
            let read = bytes.read(BEGINNING - first.len()).await?;
            if read.is_empty() {
                break;
            }
            first.extend(read);
        }
        let input = match bytes {
            _ if first.is_empty() => bail!("it is empty"),
            bytes if packets::begins(&first) => Input::Stream { bytes, cutter: Cutter::Packets(first), ended: false },
            bytes if !boxes::begins(&first) => {
                drop(bytes);
                bail!("it is neither MP4 nor MPEG-TS")
            }
            Bytes::File(file) => match Movie::open(file.try_clone()?)? {
                Some(movie) => Input::Movie { movie, next: 0, round: 0, begun: false },
                None => Input::fragments(Bytes::File(file), &first),
            },
            bytes @ Bytes::Stdin(_) => Input::fragments(bytes, &first),
        };
        Ok(Self { input, began: None, last: Duration::ZERO, longest: Duration::ZERO, again })
    }

    /// What its pieces are.
    pub fn form(&self) -> Form {
        match &self.input {
            Input::Stream { cutter: Cutter::Packets(_), .. } => Form::Packets,
            _ => Form::Fragments,
        }
    }

    /// The next piece, when it is due; `None` at the end.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        let paced = !matches!(self.input, Input::Stream { bytes: Bytes::Stdin(_), .. });
        loop {
            let Some((piece, due)) = self.input.next().await? else {
                if !self.again || !self.input.rewind()? {
                    return Ok(None);
                }
                // A movie counts its rounds; the time of a stream begins anew, when the last piece is over.
                if !matches!(self.input, Input::Movie { .. })
                    && let Some(began) = self.began.take()
                {
                    sleep_until(began + self.last + self.longest).await;
                }
                continue;
            };
            if let Some(due) = due.filter(|_| paced) {
                // A clock need not begin at nothing.
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
            return Ok(Some(piece));
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
            Input::Movie { movie, next, round, .. } => {
                let fragment = movie.fragment(*next, *round)?;
                *next += 1;
                return Ok(fragment.map(|(piece, due)| (piece, Some(due))));
            }
            Input::Stream { bytes, cutter, ended } => (bytes, cutter, ended),
        };
        loop {
            if let Some(piece) = cutter.next()? {
                return Ok(Some(piece));
            }
            if *ended {
                return Ok(None);
            }
            let most = if matches!((&*bytes, &*cutter), (Bytes::File(_), Cutter::Packets(_))) { PACKETS } else { READ };
            let read = bytes.read(most).await?;
            *ended = read.is_empty();
            match cutter {
                Cutter::Boxes(boxes) => boxes.feed(&read),
                Cutter::Packets(rest) => rest.extend(read),
            }
        }
    }

    /// Back to the beginning of a file; whether there is one.
    fn rewind(&mut self) -> anyhow::Result<bool> {
        match self {
            Input::Movie { next, round, .. } => (*next, *round) = (0, *round + 1),
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
        // A file is here: what waits for it, waits microseconds.
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
                let piece: Vec<u8> = rest.drain(..whole).collect();
                let due = packets::clock(&piece);
                Ok(Some((piece, due)))
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
    fn boxes_are_cut_wherever_the_input_was() {
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
    fn an_ordinary_mp4_and_nonsense_are_refused_before_they_are_kept() {
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
