//! One WebSocket of the generator. It reads complete messages without a copy from a buffer that all sockets share, and writes as much as
//! its peer accepts.
use super::frame::{self, Header};
use anyhow::{Context, bail};
use mio::net::TcpStream;
use std::io::{ErrorKind, Read, Write};

/// The longest message that a server may announce: no load sends messages as long.
const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// What a socket received.
#[derive(Debug)]
pub enum Event<'a> {
    /// A complete message.
    Message {
        /// Its type: text or binary.
        opcode: u8,
        /// Its bytes.
        payload: &'a [u8],
    },
    /// A ping or a close frame, with its payload.
    Control(u8, &'a [u8]),
}

/// A socket after its handshake.
pub struct Socket {
    stream: TcpStream,
    open: bool,
    input: Input,
    out: Vec<u8>,
    written: usize,
}

/// The received bytes that are not a complete frame yet, and the fragments that are not a complete message yet.
#[derive(Default)]
struct Input {
    partial: Vec<u8>,
    filled: usize,
    fragments: Option<(u8, Vec<u8>)>,
}

impl Socket {
    /// `rest`: the bytes that followed the handshake.
    pub fn new(stream: std::net::TcpStream, rest: Vec<u8>) -> Self {
        let input = Input { filled: rest.len(), partial: rest, fragments: None };
        Self { stream: TcpStream::from_std(stream), open: true, input, out: Vec::new(), written: 0 }
    }

    /// The source of events, for a poll.
    pub fn source(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether neither side closed it.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes it.
    pub fn close(&mut self) {
        self.open = false;
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// How many bytes wait to be written.
    pub fn pending(&self) -> usize {
        self.out.len() - self.written
    }

    /// The buffer to which callers append frames, which `flush` sends.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Writes as much as the peer accepts.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        while self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(size) => self.written += size,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.out.clear();
        self.written = 0;
        Ok(())
    }

    /// Reads until no bytes are left, and calls `on` with each event. False: the peer closed the connection.
    pub fn read(&mut self, shared: &mut [u8], on: &mut impl FnMut(Event<'_>)) -> anyhow::Result<bool> {
        self.input.take_partial(0, on);
        loop {
            let into = if self.input.filled == 0 { &mut *shared } else { self.input.space()? };
            let (space, size) = match self.stream.read(into) {
                Ok(0) => return Ok(false),
                Ok(size) => (into.len(), size),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let drained = self.input.filled == 0 && size < space;
            if self.input.filled == 0 {
                self.input.take_shared(&shared[..size], on);
            } else {
                self.input.take_partial(size, on);
            }
            // The buffer was not filled: no bytes are left, and the poll reports the next ones.
            if drained {
                return Ok(true);
            }
        }
    }
}

impl Input {
    /// The space for the rest of the incomplete frame, and for no byte after it.
    fn space(&mut self) -> anyhow::Result<&mut [u8]> {
        let frame_bytes = match frame::parse(&self.partial[..self.filled]) {
            Some(header) if header.length > MAX_MESSAGE_BYTES => {
                bail!("the server announces a message of {} bytes", header.length)
            }
            Some(header) => header.size + header.length,
            None => frame::MAX_SERVER_HEADER_BYTES,
        };
        if self.partial.len() < frame_bytes {
            self.partial.resize(frame_bytes, 0);
        }
        self.partial.get_mut(self.filled..frame_bytes.max(self.filled + 1)).context("a frame was left unread")
    }

    fn take_shared(&mut self, bytes: &[u8], on: &mut impl FnMut(Event<'_>)) {
        let used = self.take(bytes, on);
        let rest = &bytes[used..];
        if self.partial.len() < rest.len() {
            self.partial.resize(rest.len(), 0);
        }
        self.partial[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    fn take_partial(&mut self, size: usize, on: &mut impl FnMut(Event<'_>)) {
        let filled = self.filled + size;
        let mut partial = std::mem::take(&mut self.partial);
        let used = self.take(&partial[..filled], on);
        if used > 0 {
            partial.copy_within(used..filled, 0);
        }
        self.partial = partial;
        self.filled = filled - used;
    }

    /// Passes each complete frame to `on`. Returns how many bytes those frames have.
    fn take(&mut self, bytes: &[u8], on: &mut impl FnMut(Event<'_>)) -> usize {
        let mut used = 0;
        while let Some(header) = frame::parse(&bytes[used..]) {
            let Some(payload) = bytes[used + header.size..].get(..header.length) else { break };
            used += header.size + header.length;
            if header.opcode >= frame::CLOSE {
                on(Event::Control(header.opcode, payload));
            } else if header.fin && self.fragments.is_none() {
                on(Event::Message { opcode: header.opcode, payload });
            } else {
                self.assemble(header, payload, on);
            }
        }
        used
    }

    fn assemble(&mut self, header: Header, payload: &[u8], on: &mut impl FnMut(Event<'_>)) {
        let (_, message) = self.fragments.get_or_insert_with(|| (header.opcode, Vec::new()));
        message.extend(payload);
        if header.fin
            && let Some((opcode, message)) = self.fragments.take()
        {
            on(Event::Message { opcode, payload: &message });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a server's bytes, read in pieces of `size` through a buffer of `shared` bytes.
    fn events(bytes: &[u8], size: usize, shared: usize) -> Vec<(u8, Vec<u8>)> {
        let mut input = Input::default();
        let mut all = Vec::new();
        let mut on = |event: Event<'_>| match event {
            Event::Message { opcode, payload } | Event::Control(opcode, payload) => {
                all.push((opcode, payload.to_vec()));
            }
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = if input.filled == 0 {
                let taken = rest.len().min(size).min(shared);
                input.take_shared(&rest[..taken], &mut on);
                taken
            } else {
                let space = input.space().unwrap();
                let taken = rest.len().min(size).min(space.len());
                space[..taken].copy_from_slice(&rest[..taken]);
                input.take_partial(taken, &mut on);
                taken
            };
            rest = &rest[taken..];
        }
        assert_eq!(input.filled, 0);
        all
    }

    #[test]
    fn messages_are_complete_however_their_bytes_are_split() {
        let mut bytes = vec![0x82, 3, b'a', b'b', b'c', 0x89, 1, b'p', 0x81, 0];
        bytes.extend([0x02, 1, b'x', 0x89, 0, 0x00, 1, b'y', 0x80, 1, b'z', 0x82, 126, 1, 44]);
        bytes.extend([7; 300]);
        let messages = vec![
            (2, b"abc".to_vec()),
            (9, b"p".to_vec()),
            (1, Vec::new()),
            (9, Vec::new()),
            (2, b"xyz".to_vec()),
            (2, vec![7; 300]),
        ];
        for size in 1..bytes.len() {
            for shared in [1, 5, 64, 4096] {
                assert_eq!(events(&bytes, size, shared), messages, "pieces of {size} through {shared}");
            }
        }
    }
}
