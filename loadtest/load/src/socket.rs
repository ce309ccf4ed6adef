//! One WebSocket of the generator: reads whole messages where they lie in a buffer that all sockets share, and writes what its
//! peer takes.
use super::frame::{self, Header};
use anyhow::{Context, bail};
use mio::net::TcpStream;
use std::io::{ErrorKind, Read, Write};

/// A length beyond this is no message of a load.
const MESSAGE_MAX: usize = 256 << 20;

/// What came.
#[derive(Debug)]
pub enum Event<'a> {
    /// A whole message.
    Message {
        /// Text or binary.
        opcode: u8,
        /// Its bytes.
        payload: &'a [u8],
    },
    /// A ping or a close frame, with its payload.
    Control(u8, &'a [u8]),
}

/// A socket whose handshake is done.
pub struct Socket {
    stream: TcpStream,
    open: bool,
    input: Input,
    out: Vec<u8>,
    written: usize,
}

/// What was read and is not a whole frame, or not a whole message, yet.
#[derive(Default)]
struct Input {
    partial: Vec<u8>,
    filled: usize,
    fragments: Option<(u8, Vec<u8>)>,
}

impl Socket {
    /// `rest`: what came right after the handshake.
    pub fn new(stream: std::net::TcpStream, rest: Vec<u8>) -> Self {
        let input = Input { filled: rest.len(), partial: rest, fragments: None };
        Self { stream: TcpStream::from_std(stream), open: true, input, out: Vec::new(), written: 0 }
    }

    /// For registering with a poll.
    pub fn source(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Neither side ended it.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Ends it.
    pub fn close(&mut self) {
        self.open = false;
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Bytes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.out.len() - self.written
    }

    /// Where frames are appended; `flush` sends them.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Writes what the peer takes.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        while self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(size) => self.written += size,
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why.into()),
            }
        }
        self.out.clear();
        self.written = 0;
        Ok(())
    }

    /// Reads until nothing is left; false: the peer ended the connection.
    pub fn read(&mut self, shared: &mut [u8], on: &mut impl FnMut(Event<'_>)) -> anyhow::Result<bool> {
        self.input.take_partial(0, on);
        loop {
            let into = if self.input.filled == 0 { &mut *shared } else { self.input.room()? };
            let (room, size) = match self.stream.read(into) {
                Ok(0) => return Ok(false),
                Ok(size) => (into.len(), size),
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                Err(why) => return Err(why.into()),
            };
            let whole_room = self.input.filled == 0 && size < room;
            if self.input.filled == 0 {
                self.input.take_shared(&shared[..size], on);
            } else {
                self.input.take_partial(size, on);
            }
            // Less than fitted: nothing is left, and the poll tells when there is.
            if whole_room {
                return Ok(true);
            }
        }
    }
}

impl Input {
    /// Room for the rest of the frame that was begun, and for no byte after it.
    fn room(&mut self) -> anyhow::Result<&mut [u8]> {
        let whole = match frame::parse(&self.partial[..self.filled]) {
            Some(header) if header.length > MESSAGE_MAX => {
                bail!("the server claims a message of {} bytes", header.length)
            }
            Some(header) => header.size + header.length,
            None => frame::SERVER_HEADER_MAX,
        };
        if self.partial.len() < whole {
            self.partial.resize(whole, 0);
        }
        self.partial.get_mut(self.filled..whole.max(self.filled + 1)).context("a frame was left unread")
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

    /// Hands over every whole frame; answers how many bytes they took.
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

    /// Everything that a server's bytes say, when they come in pieces of `size` through a buffer of `shared` bytes.
    fn heard(bytes: &[u8], size: usize, shared: usize) -> Vec<(u8, Vec<u8>)> {
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
                let room = input.room().unwrap();
                let taken = rest.len().min(size).min(room.len());
                room[..taken].copy_from_slice(&rest[..taken]);
                input.take_partial(taken, &mut on);
                taken
            };
            rest = &rest[taken..];
        }
        assert_eq!(input.filled, 0);
        all
    }

    #[test]
    fn messages_are_whole_however_they_come() {
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
                assert_eq!(heard(&bytes, size, shared), messages, "pieces of {size} through {shared}");
            }
        }
    }
}
