//! What of an input becomes one message.
use anyhow::{bail, ensure};
use std::str::FromStr;
use tokio_tungstenite::tungstenite::Bytes;

/// Where messages end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// At the end of a line, which is not part of it.
    Line,
    /// After so many bytes.
    Chunk(usize),
    /// As the input comes; where it is MPEG-TS, between two of its packets.
    Frame,
}

/// ISO/IEC 13818-1: a packet's size, and its first byte.
const PACKET: usize = 188;
const SYNC: u8 = 0x47;
/// A line or chunk beyond this is no message: as `stream.messageBytes` is by default.
pub const MESSAGE_MAX: usize = 10 << 20;

impl FromStr for Cut {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.split_once('=') {
            None if text == "line" => Ok(Cut::Line),
            None if text == "frame" => Ok(Cut::Frame),
            Some(("chunk", bytes)) => {
                let size = bytes.parse().unwrap_or(0);
                ensure!((1..=MESSAGE_MAX).contains(&size), "a chunk is 1 to {MESSAGE_MAX} bytes, not {bytes}");
                Ok(Cut::Chunk(size))
            }
            _ => bail!("must be line, frame or chunk=BYTES"),
        }
    }
}

/// Cuts an input.
#[derive(Debug)]
pub struct Cutter {
    cut: Cut,
    held: Vec<u8>,
    /// Bytes of `held` that hold no end of a line.
    searched: usize,
}

impl Cutter {
    /// With nothing read yet.
    pub fn new(cut: Cut) -> Self {
        Self { cut, held: Vec::new(), searched: 0 }
    }

    /// Takes what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// The next whole message.
    pub fn next(&mut self) -> anyhow::Result<Option<Bytes>> {
        let (length, skip) = match self.cut {
            Cut::Line => match self.held[self.searched..].iter().position(|byte| *byte == b'\n') {
                Some(at) => (self.searched + at, 1),
                None => {
                    self.searched = self.held.len();
                    ensure!(self.searched <= MESSAGE_MAX, "a line is longer than {MESSAGE_MAX} bytes");
                    return Ok(None);
                }
            },
            Cut::Chunk(size) if self.held.len() >= size => (size, 0),
            Cut::Chunk(_) => return Ok(None),
            Cut::Frame if is_transport_stream(&self.held) => (self.held.len() / PACKET * PACKET, 0),
            Cut::Frame => (self.held.len(), 0),
        };
        if length + skip == 0 {
            return Ok(None);
        }
        let rest = self.held.split_off(length + skip);
        let mut message = std::mem::replace(&mut self.held, rest);
        message.truncate(length);
        self.searched = 0;
        Ok(Some(message.into()))
    }

    /// What is left when the input ended.
    pub fn rest(&mut self) -> Option<Bytes> {
        self.searched = 0;
        (!self.held.is_empty()).then(|| std::mem::take(&mut self.held).into())
    }
}

fn is_transport_stream(bytes: &[u8]) -> bool {
    bytes.first() == Some(&SYNC) && bytes.get(PACKET).is_none_or(|byte| *byte == SYNC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(cut: Cut, reads: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut cutter = Cutter::new(cut);
        let mut messages = Vec::new();
        for read in reads {
            cutter.feed(read);
            while let Some(message) = cutter.next().unwrap() {
                messages.push(message.to_vec());
            }
        }
        messages.extend(cutter.rest().map(|rest| rest.to_vec()));
        messages
    }

    #[test]
    fn lines_are_whole_and_may_be_empty() {
        assert_eq!(cut(Cut::Line, &[b"one\nt", b"w", b"o\n\nlast"]), [&b"one"[..], b"two", b"", b"last"]);
    }

    #[test]
    fn chunks_are_of_one_size_but_the_last() {
        assert_eq!(cut(Cut::Chunk(3), &[b"ab", b"cdefg", b"h"]), [&b"abc"[..], b"def", b"gh"]);
    }

    #[test]
    fn a_transport_stream_is_cut_between_its_packets() {
        let mut packets = vec![0; 3 * PACKET];
        (packets[0], packets[PACKET], packets[2 * PACKET]) = (SYNC, SYNC, SYNC);
        let (first, second) = packets.split_at(200);
        let sizes: Vec<usize> = cut(Cut::Frame, &[first, second]).iter().map(Vec::len).collect();
        assert_eq!(sizes, [PACKET, 2 * PACKET]);
        assert_eq!(cut(Cut::Frame, &[b"any", b"thing"]), [&b"any"[..], b"thing"]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut cutter = Cutter::new(Cut::Line);
        cutter.feed(&vec![b'x'; MESSAGE_MAX + 1]);
        assert!(cutter.next().unwrap_err().to_string().contains("a line is longer than"));
    }

    #[test]
    fn a_cut_is_named_as_the_manual_says() {
        assert_eq!("chunk=188".parse::<Cut>().unwrap(), Cut::Chunk(188));
        for bad in ["chunk", "chunk=0", "chunk=x", "lines", "chunk=99999999"] {
            assert!(bad.parse::<Cut>().is_err(), "{bad}");
        }
    }
}
