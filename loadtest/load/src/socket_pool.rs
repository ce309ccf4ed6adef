//! WebSockets to one server that open and close independently.
use super::frame::{self, BINARY, CLOSE, PING, PONG};
use super::socket::{Event, Socket};
use super::target::Target;
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::time::Duration;

/// The size of the buffer of reads.
const READ_BYTES: usize = 1 << 16;
/// How many events one poll returns at most.
const MAX_EVENTS: usize = 1024;

/// Open sockets to one server.
pub struct SocketPool<'a> {
    target: &'a Target,
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    sockets: HashMap<usize, Socket>,
    tried: usize,
    /// How many messages arrived.
    pub received: u64,
    /// How many sockets the server closed.
    pub closed: u64,
}

impl<'a> SocketPool<'a> {
    /// Without sockets.
    pub fn new(target: &'a Target) -> anyhow::Result<Self> {
        let (poll, events, buffer) = (Poll::new()?, Events::with_capacity(MAX_EVENTS), vec![0; READ_BYTES]);
        Ok(Self { target, poll, events, buffer, sockets: HashMap::new(), tried: 0, received: 0, closed: 0 })
    }

    /// Opens a socket. Returns its index, which identifies it.
    pub fn open(&mut self, path: &str) -> anyhow::Result<usize> {
        let index = self.tried;
        self.tried += 1;
        let (stream, rest) = self.target.open(path, index)?;
        let mut socket = Socket::new(stream, rest);
        self.poll.registry().register(socket.source(), Token(index), Interest::READABLE | Interest::WRITABLE)?;
        self.sockets.insert(index, socket);
        Ok(index)
    }

    /// How many sockets are open.
    pub fn count(&self) -> usize {
        self.sockets.len()
    }

    /// Sends a binary message.
    pub fn send(&mut self, index: usize, message: &[u8]) {
        self.write(index, BINARY, message);
    }

    /// Closes a socket, with a close frame or without.
    pub fn close(&mut self, index: usize, close_frame: bool) {
        if close_frame {
            self.write(index, CLOSE, &1000_u16.to_be_bytes());
        }
        self.remove(index);
    }

    fn write(&mut self, index: usize, opcode: u8, payload: &[u8]) {
        let Some(socket) = self.sockets.get_mut(&index) else { return };
        frame::append(socket.out(), opcode, payload.len(), |out| out.extend(payload));
        if socket.flush().is_err() {
            self.lose(index);
        }
    }

    fn lose(&mut self, index: usize) {
        self.closed += 1;
        self.remove(index);
    }

    fn remove(&mut self, index: usize) {
        if let Some(mut socket) = self.sockets.remove(&index) {
            socket.close();
        }
    }

    /// Waits for the network, at most `timeout`, and reads what arrived.
    pub fn poll(&mut self, timeout: Duration) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        let ready: Vec<usize> = self.events.iter().map(|event| event.token().0).collect();
        for index in ready {
            self.read(index);
        }
        Ok(())
    }

    fn read(&mut self, index: usize) {
        let Some(socket) = self.sockets.get_mut(&index) else { return };
        let (received, mut ended, mut pings) = (&mut self.received, false, Vec::new());
        let read = socket.read(&mut self.buffer, &mut |event| match event {
            Event::Message { .. } => *received += 1,
            Event::Control(PING, payload) => pings.push(payload.to_vec()),
            Event::Control(opcode, _) => ended |= opcode == CLOSE,
        });
        let flushed = socket.flush();
        if ended || flushed.is_err() || !matches!(read, Ok(true)) {
            return self.lose(index);
        }
        for payload in pings {
            self.write(index, PONG, &payload);
        }
    }
}
