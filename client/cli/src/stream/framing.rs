//! Divides an input into messages.
use anyhow::{bail, ensure};
use std::str::FromStr;
use tokio_tungstenite::tungstenite::Bytes;

/// Where a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// At the end of a line, which is not part of the message.
    Line,
    /// After this many bytes.
    Chunk(usize),
    /// At the end of each read; in MPEG-TS at the end of a packet.
    Frame,
}

/// ISO/IEC 13818-1: the size of a packet, and its first byte.
const PACKET: usize = 188;
const SYNC: u8 = 0x47;
/// The longest line or chunk: the default of `stream.messageBytes`.
pub const MAX_MESSAGE: usize = 10 << 20;

impl FromStr for Boundary {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.split_once('=') {
            None if text == "line" => Ok(Boundary::Line),
            None if text == "frame" => Ok(Boundary::Frame),
            Some(("chunk", bytes)) => {
                let size = bytes.parse().unwrap_or(0);
                ensure!((1..=MAX_MESSAGE).contains(&size), "a chunk is 1 to {MAX_MESSAGE} bytes, not {bytes}");
                Ok(Boundary::Chunk(size))
            }
            _ => bail!("must be line, frame or chunk=BYTES"),
        }
    }
}

/// Divides an input into messages.
#[derive(Debug)]
pub struct Framer {
    boundary: Boundary,
    buffer: Vec<u8>,
    /// The first bytes of `buffer`, which contain no end of a line.
    searched: usize,
}

impl Framer {
    /// A divider without input.
    pub fn new(boundary: Boundary) -> Self {
        Self { boundary, buffer: Vec::new(), searched: 0 }
    }

    /// Appends input.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete message.
    pub fn next(&mut self) -> anyhow::Result<Option<Bytes>> {
        let (length, skip) = match self.boundary {
            Boundary::Line => match self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                Some(at) => (self.searched + at, 1),
                None => {
                    self.searched = self.buffer.len();
                    ensure!(self.searched <= MAX_MESSAGE, "a line is longer than {MAX_MESSAGE} bytes");
                    return Ok(None);
                }
            },
            Boundary::Chunk(size) if self.buffer.len() >= size => (size, 0),
            Boundary::Chunk(_) => return Ok(None),
            Boundary::Frame if is_transport_stream(&self.buffer) => (self.buffer.len() / PACKET * PACKET, 0),
            Boundary::Frame => (self.buffer.len(), 0),
        };
        if length + skip == 0 {
            return Ok(None);
        }
        let rest = self.buffer.split_off(length + skip);
        let mut message = std::mem::replace(&mut self.buffer, rest);
        message.truncate(length);
        self.searched = 0;
        Ok(Some(message.into()))
    }

    /// The incomplete message at the end of the input.
    pub fn rest(&mut self) -> Option<Bytes> {
        self.searched = 0;
        (!self.buffer.is_empty()).then(|| std::mem::take(&mut self.buffer).into())
    }
}

fn is_transport_stream(bytes: &[u8]) -> bool {
    bytes.first() == Some(&SYNC) && bytes.get(PACKET).is_none_or(|byte| *byte == SYNC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(boundary: Boundary, reads: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut framer = Framer::new(boundary);
        let mut messages = Vec::new();
        for read in reads {
            framer.feed(read);
            while let Some(message) = framer.next().unwrap() {
                messages.push(message.to_vec());
            }
        }
        messages.extend(framer.rest().map(|rest| rest.to_vec()));
        messages
    }

    #[test]
    fn lines_are_complete_and_may_be_empty() {
        assert_eq!(cut(Boundary::Line, &[b"one\nt", b"w", b"o\n\nlast"]), [&b"one"[..], b"two", b"", b"last"]);
    }

    #[test]
    fn all_chunks_but_the_last_have_the_same_size() {
        assert_eq!(cut(Boundary::Chunk(3), &[b"ab", b"cdefg", b"h"]), [&b"abc"[..], b"def", b"gh"]);
    }

    #[test]
    fn a_transport_stream_is_divided_between_its_packets() {
        let mut packets = vec![0; 3 * PACKET];
        (packets[0], packets[PACKET], packets[2 * PACKET]) = (SYNC, SYNC, SYNC);
        let (first, second) = packets.split_at(200);
        let sizes: Vec<usize> = cut(Boundary::Frame, &[first, second]).iter().map(Vec::len).collect();
        assert_eq!(sizes, [PACKET, 2 * PACKET]);
        assert_eq!(cut(Boundary::Frame, &[b"any", b"thing"]), [&b"any"[..], b"thing"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused() {
        let mut framer = Framer::new(Boundary::Line);
        framer.feed(&vec![b'x'; MAX_MESSAGE + 1]);
        assert!(framer.next().unwrap_err().to_string().contains("a line is longer than"));
    }

    #[test]
    fn a_boundary_is_parsed_as_documented() {
        assert_eq!("chunk=188".parse::<Boundary>().unwrap(), Boundary::Chunk(188));
        for bad in ["chunk", "chunk=0", "chunk=x", "lines", "chunk=99999999"] {
            assert!(bad.parse::<Boundary>().is_err(), "{bad}");
        }
    }
}
