//! The loop: who has something to say, and who gets it.
use crate::connection::{Connection, Seat, Took};
use crate::{frames, handshake};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use stream_references::Place;

/// What one read takes.
const READ: usize = 256 * 1024;
const EVENTS: usize = 1024;
/// Stands for the listener among the connections' numbers.
const LISTENER: u64 = u64::MAX;
/// Connections that wait to be accepted while many come at once.
const ARRIVING: i32 = 4096;

/// The relay.
pub struct Floor {
    epoll: OwnedFd,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    names: HashMap<String, usize>,
    /// The readers of each topic.
    topics: Vec<Vec<usize>>,
}

impl Floor {
    /// Takes connections there.
    pub fn listen(address: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)?;
        rustix::net::listen(&listener, ARRIVING)?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Self { epoll, listener, connections: vec![], free: vec![], names: HashMap::new(), topics: vec![] })
    }

    /// Relays until a signal ends the process.
    pub fn run(mut self) -> anyhow::Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut scratch = vec![0; READ];
        loop {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                // A tracer that attaches to a process interrupts the call.
                Ok(_) | Err(Errno::INTR) => {}
                Err(why) => return Err(why.into()),
            }
            for event in events.drain(..) {
                let (number, flags) = (event.data.u64(), event.flags);
                if number == LISTENER {
                    self.accept()?;
                    continue;
                }
                let id = usize::try_from(number)?;
                if flags.contains(EventFlags::OUT) {
                    self.flush(id)?;
                }
                if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                    self.receive(id, &mut scratch)?;
                }
            }
        }
    }

    fn accept(&mut self) -> anyhow::Result<()> {
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            let id = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            epoll::add(&self.epoll, &stream, EventData::new_u64(id as u64), EventFlags::IN)?;
            self.connections[id] = Some(Connection::new(stream));
        }
        Ok(())
    }

    /// One read. Whole messages are turned and sent from the buffer they were read into; only a part of one is copied.
    fn receive(&mut self, id: usize, scratch: &mut [u8]) -> anyhow::Result<()> {
        let Some(connection) = &mut self.connections[id] else { return Ok(()) };
        let Some(size) = connection.read(scratch) else { return Ok(()) };
        if size == 0 {
            self.remove(id);
            return Ok(());
        }
        let Some(seat) = connection.seat else {
            connection.partial.extend_from_slice(&scratch[..size]);
            return self.upgrade(id);
        };
        if connection.partial.is_empty() {
            let rest = self.relay(id, seat, &mut scratch[..size])?;
            self.keep(id, &scratch[rest..size]);
        } else {
            let mut bytes = std::mem::take(&mut connection.partial);
            bytes.extend_from_slice(&scratch[..size]);
            let rest = self.relay(id, seat, &mut bytes)?;
            if rest == 0 {
                self.put_back(id, bytes);
            } else {
                self.keep(id, &bytes[rest..]);
            }
        }
        Ok(())
    }

    /// Answers where the frame begins that has not all come.
    fn relay(&mut self, from: usize, Seat { topic, publishes }: Seat, bytes: &mut [u8]) -> anyhow::Result<usize> {
        let turned = frames::turn(bytes);
        if publishes && !turned.outgoing.is_empty() {
            self.publish(from, topic, &bytes[turned.outgoing])?;
        }
        Ok(turned.consumed)
    }

    fn publish(&mut self, from: usize, topic: usize, bytes: &[u8]) -> anyhow::Result<()> {
        let mut shared = None;
        let mut gone = Vec::new();
        for &id in self.topics[topic].iter().filter(|&&id| id != from) {
            let Some(reader) = &mut self.connections[id] else { continue };
            match reader.send(bytes, &mut shared) {
                Took::All => {}
                Took::Some => {
                    let both = EventFlags::IN | EventFlags::OUT;
                    epoll::modify(&self.epoll, &reader.stream, EventData::new_u64(id as u64), both)?;
                }
                Took::Gone => gone.push(id),
            }
        }
        gone.into_iter().for_each(|id| self.remove(id));
        Ok(())
    }

    fn flush(&mut self, id: usize) -> anyhow::Result<()> {
        let Some(connection) = &mut self.connections[id] else { return Ok(()) };
        match connection.flush() {
            Took::All => {
                epoll::modify(&self.epoll, &connection.stream, EventData::new_u64(id as u64), EventFlags::IN)?;
            }
            Took::Some => {}
            Took::Gone => self.remove(id),
        }
        Ok(())
    }

    fn upgrade(&mut self, id: usize) -> anyhow::Result<()> {
        let Some(connection) = &mut self.connections[id] else { return Ok(()) };
        let Some(upgrade) = handshake::read(&connection.partial) else { return Ok(()) };
        if connection.stream.write_all(upgrade.answer.as_bytes()).is_err() {
            self.remove(id);
            return Ok(());
        }
        let Place { topic, publishes, reads } = Place::of(&upgrade.path);
        let topic = *self.names.entry(topic).or_insert_with(|| {
            self.topics.push(Vec::new());
            self.topics.len() - 1
        });
        if reads {
            self.topics[topic].push(id);
        }
        let seat = Seat { topic, publishes };
        connection.seat = Some(seat);
        let mut rest = std::mem::take(&mut connection.partial).split_off(upgrade.size);
        let begun = self.relay(id, seat, &mut rest)?;
        self.keep(id, &rest[begun..]);
        Ok(())
    }

    fn keep(&mut self, id: usize, rest: &[u8]) {
        if !rest.is_empty() {
            self.put_back(id, rest.to_vec());
        }
    }

    fn put_back(&mut self, id: usize, partial: Vec<u8>) {
        if let Some(connection) = &mut self.connections[id] {
            connection.partial = partial;
        }
    }

    fn remove(&mut self, id: usize) {
        let Some(gone) = self.connections[id].take() else { return };
        if let Some(Seat { topic, .. }) = gone.seat {
            self.topics[topic].retain(|&reader| reader != id);
        }
        self.free.push(id);
    }
}
