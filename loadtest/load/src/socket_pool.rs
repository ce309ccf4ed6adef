//! Sockets that come and go.
use super::frame::{self, BINARY, CLOSE, PING, PONG};
use super::socket::{Event, Socket};
use super::target::Target;
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::time::Duration;

/// What one read takes at most.
const READ: usize = 1 << 16;
/// Sockets that are looked after in one turn.
const EVENTS: usize = 1024;

/// A herd of sockets to one server.
pub struct Herd<'a> {
    target: &'a Target,
    poll: Poll,
    events: Events,
    shared: Vec<u8>,
    sockets: HashMap<usize, Socket>,
    tried: usize,
    /// Messages that came.
    pub heard: u64,
    /// Sockets that the server ended.
    pub closed: u64,
}

impl<'a> Herd<'a> {
    /// Nobody yet.
    pub fn new(target: &'a Target) -> anyhow::Result<Self> {
        let (poll, events, shared) = (Poll::new()?, Events::with_capacity(EVENTS), vec![0; READ]);
        Ok(Self { target, poll, events, shared, sockets: HashMap::new(), tried: 0, heard: 0, closed: 0 })
    }

    /// Opens one more; answers a name for it.
    pub fn open(&mut self, path: &str) -> anyhow::Result<usize> {
        let index = self.tried;
        self.tried += 1;
        let (stream, rest) = self.target.open(path, index)?;
        let mut socket = Socket::new(stream, rest);
        self.poll.registry().register(socket.source(), Token(index), Interest::READABLE | Interest::WRITABLE)?;
        self.sockets.insert(index, socket);
        Ok(index)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sockets.len()
    }

    /// Sends a message.
    pub fn say(&mut self, index: usize, message: &[u8]) {
        self.send(index, BINARY, message);
    }

    /// Ends one, with a close frame or without.
    pub fn leave(&mut self, index: usize, politely: bool) {
        if politely {
            self.send(index, CLOSE, &1000_u16.to_be_bytes());
        }
        self.forget(index);
    }

    fn send(&mut self, index: usize, opcode: u8, payload: &[u8]) {
        let Some(socket) = self.sockets.get_mut(&index) else { return };
        frame::append(socket.out(), opcode, payload.len(), |out| out.extend(payload));
        if socket.flush().is_err() {
            self.lose(index);
        }
    }

    fn lose(&mut self, index: usize) {
        self.closed += 1;
        self.forget(index);
    }

    fn forget(&mut self, index: usize) {
        if let Some(mut socket) = self.sockets.remove(&index) {
            socket.close();
        }
    }

    /// Waits for the network, at most so long, and reads what came.
    pub fn turn(&mut self, most: Duration) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(most)) {
            Err(why) if why.kind() != std::io::ErrorKind::Interrupted => return Err(why.into()),
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
        let (heard, mut ended, mut pings) = (&mut self.heard, false, Vec::new());
        let read = socket.read(&mut self.shared, &mut |event| match event {
            Event::Message { .. } => *heard += 1,
            Event::Control(PING, payload) => pings.push(payload.to_vec()),
            Event::Control(opcode, _) => ended |= opcode == CLOSE,
        });
        let flushed = socket.flush();
        if ended || flushed.is_err() || !matches!(read, Ok(true)) {
            return self.lose(index);
        }
        for payload in pings {
            self.send(index, PONG, &payload);
        }
    }
}
