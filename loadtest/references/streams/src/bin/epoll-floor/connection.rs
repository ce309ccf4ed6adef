//! One socket: what of a message has come, and what it would not take.
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;

/// Writes a reader may be behind before it is cut off.
const BACKLOG: usize = 256;

/// A socket and its leftovers.
pub struct Connection {
    /// The socket; non-blocking.
    pub stream: TcpStream,
    /// Its topic, once it was upgraded.
    pub seat: Option<Seat>,
    /// The start of a frame or of a request.
    pub partial: Vec<u8>,
    waiting: VecDeque<(Rc<[u8]>, usize)>,
}

/// Where a client sits.
#[derive(Clone, Copy)]
pub struct Seat {
    /// Index of its topic.
    pub topic: usize,
    /// Readers get what it sends.
    pub publishes: bool,
}

/// What a socket did with the bytes it was given.
#[derive(Debug, PartialEq, Eq)]
pub enum Took {
    /// All of them.
    All,
    /// It is full; the rest waits.
    Some,
    /// It is gone.
    Gone,
}

impl Connection {
    /// A socket that has just come.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, seat: None, partial: Vec::new(), waiting: VecDeque::new() }
    }

    /// One read. `None`: nothing has come after all; 0: it has ended.
    pub fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        match self.stream.read(into) {
            Err(why) if why.kind() == ErrorKind::WouldBlock => None,
            result => Some(result.unwrap_or(0)),
        }
    }

    /// Sends bytes, behind those that wait. `shared` keeps them for all readers whose sockets are full.
    pub fn send(&mut self, bytes: &[u8], shared: &mut Option<Rc<[u8]>>) -> Took {
        let mut sent = 0;
        if self.waiting.is_empty() {
            sent = match self.stream.write(bytes) {
                Ok(all) if all == bytes.len() => return Took::All,
                Ok(some) => some,
                Err(why) if why.kind() == ErrorKind::WouldBlock => 0,
                Err(_) => return Took::Gone,
            };
        }
        if self.waiting.len() == BACKLOG {
            return Took::Gone;
        }
        self.waiting.push_back((Rc::clone(shared.get_or_insert_with(|| bytes.into())), sent));
        Took::Some
    }

    /// Sends what waits, as far as the socket takes it.
    pub fn flush(&mut self) -> Took {
        while let Some((bytes, sent)) = self.waiting.front_mut() {
            match self.stream.write(&bytes[*sent..]) {
                Ok(more) => *sent += more,
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Took::Some,
                Err(_) => return Took::Gone,
            }
            if *sent == bytes.len() {
                self.waiting.pop_front();
            }
        }
        Took::All
    }
}
