//! The publishers and readers of a load, and the loop that drives their sockets. **Every delivery is verified here.**
use super::plan::{Endpoints, MAX_PENDING_BYTES, Plan, Shape};
use crate::frame::{self, BINARY, CLOSE, PING, PONG};
use crate::payload::{self, MessageSource};
use crate::sequence::{Arrival, SequenceTracker};
use crate::socket::{Event, Socket};
use crate::target::Target;
use anyhow::Context;
use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The size of the buffer of reads.
const READ_BYTES: usize = 1 << 18;
/// How many events one poll returns at most.
const MAX_EVENTS: usize = 1024;
/// A closed loop that received no message for longer gives up those in flight, so that a server that loses one does not stop the load.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);

/// Deliveries by the result of their verification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Messages that reached a reader unchanged, for the first time.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that reached a reader again.
    pub duplicated: u64,
    /// Messages that arrived after a later one.
    pub out_of_order: u64,
    /// Messages whose bytes are not those of a message that was sent, and text messages.
    pub corrupt: u64,
    /// Messages of another topic, and any that a publisher received.
    pub extra: u64,
    /// Sockets that the server closed.
    pub closed: u64,
    /// How often a closed loop stalled and was restarted.
    pub stalls: u64,
}

/// All clients: first the readers in the order of their topics, then the publishers.
pub struct Clients<'a> {
    shape: &'a Shape,
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    sockets: Vec<Socket>,
    /// Of each reader.
    trackers: Vec<SequenceTracker>,
    /// Of each publisher.
    sources: Vec<MessageSource>,
    /// For each topic: a closed loop does not wait for messages below this sequence number.
    given_up: Vec<u64>,
    /// Messages that are due and not made, as the server accepts no more bytes.
    pub unsent: u64,
    epoch: Instant,
    last_read: Instant,
    /// Since the beginning of the run.
    pub counts: Counts,
    /// Nanoseconds from making to arrival, while `measuring`.
    pub latency: Histogram<u64>,
    /// Whether latency is recorded.
    pub measuring: bool,
}

impl<'a> Clients<'a> {
    /// Connects all clients, readers first.
    pub fn connect(plan: &'a Plan) -> anyhow::Result<Self> {
        let Plan { endpoints: Endpoints { url, publishers_url, headers, .. }, shape, .. } = plan;
        let readers_at = Target::new(url, headers)?;
        let publishers_at = Target::new(publishers_url.as_ref().unwrap_or(url), headers)?;
        let run = u64::from(std::process::id()) << 32
            | u64::from(SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos());
        let paths = |topic| plan.endpoints.paths(run, topic);
        let readers = shape.topics * shape.readers;
        let poll = Poll::new()?;
        let mut sockets = Vec::new();
        for index in 0..readers + shape.topics {
            let (stream, rest) = match index.checked_sub(readers) {
                None => readers_at.open(&paths(index / shape.readers).1, index)?,
                Some(topic) => publishers_at.open(&paths(topic).0, index)?,
            };
            let mut socket = Socket::new(stream, rest);
            poll.registry().register(socket.source(), Token(index), Interest::READABLE | Interest::WRITABLE)?;
            sockets.push(socket);
        }
        let topics = 0..u32::try_from(shape.topics)?;
        Ok(Self {
            shape,
            poll,
            events: Events::with_capacity(MAX_EVENTS),
            buffer: vec![0; READ_BYTES],
            sockets,
            trackers: std::iter::repeat_with(SequenceTracker::default).take(readers).collect(),
            sources: topics.map(|topic| MessageSource::new(topic, shape.bytes)).collect(),
            given_up: vec![0; shape.topics],
            unsent: 0,
            epoch: Instant::now(),
            last_read: Instant::now(),
            counts: Counts::default(),
            latency: Histogram::new_with_bounds(1_000, 600_000_000_000, 3)?,
            measuring: false,
        })
    }

    /// How many messages were made.
    pub fn sent(&self) -> u64 {
        self.sources.iter().map(MessageSource::made).sum()
    }

    /// How many deliveries of the messages that were made did not arrive.
    pub fn missing(&self) -> u64 {
        let missing = |(reader, tracker): (usize, &SequenceTracker)| {
            tracker.missing(self.sources[reader / self.shape.readers].made())
        };
        self.trackers.iter().enumerate().map(missing).sum()
    }

    /// Makes and sends the messages that are due, `began` being when publishing began. A message is made and stamped when it is due,
    /// whether or not the server accepts it then.
    pub fn publish(&mut self, began: Instant) {
        let now = Instant::now();
        self.unsent = 0;
        for topic in 0..self.shape.topics {
            let due = if self.shape.is_closed_loop() {
                self.confirmed(topic, now) + self.shape.window
            } else {
                self.shape.due(topic, now - began)
            };
            let index = self.trackers.len() + topic;
            let (source, socket) = (&mut self.sources[topic], &mut self.sockets[index]);
            let made = source.made();
            while source.made() < due && socket.is_open() && socket.pending() < MAX_PENDING_BYTES {
                let time = nanoseconds(self.epoch.elapsed());
                frame::append(socket.out(), BINARY, self.shape.bytes, |out| source.append(out, time));
            }
            self.unsent += due.saturating_sub(source.made());
            if source.made() > made {
                self.flush(index);
            }
        }
    }

    /// How many messages of a topic all of its readers have received, or the loop gave up.
    fn confirmed(&mut self, topic: usize, now: Instant) -> u64 {
        let readers = topic * self.shape.readers..(topic + 1) * self.shape.readers;
        let open = readers.filter(|reader| self.sockets[*reader].is_open());
        let made = self.sources[topic].made();
        let least = open.map(|reader| self.trackers[reader].next()).min().unwrap_or(made);
        if least < made && now - self.last_read > STALL_TIMEOUT && self.given_up[topic] < made {
            self.given_up[topic] = made;
            self.last_read = now;
            self.counts.stalls += 1;
        }
        least.max(self.given_up[topic])
    }

    /// Waits for the network, at most `timeout`, and verifies what arrived.
    pub fn poll(&mut self, timeout: Duration) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                return Err(error).context("cannot wait for sockets");
            }
            _ => {}
        }
        let ready: Vec<(usize, bool, bool)> = self
            .events
            .iter()
            .map(|event| (event.token().0, event.is_readable() || event.is_read_closed(), event.is_writable()))
            .collect();
        for (index, readable, writable) in ready {
            if writable && self.sockets[index].pending() > 0 {
                self.flush(index);
            }
            if readable && self.sockets[index].is_open() {
                self.read(index);
            }
        }
        Ok(())
    }

    fn flush(&mut self, index: usize) {
        if self.sockets[index].is_open() && self.sockets[index].flush().is_err() {
            self.lose(index);
        }
    }

    fn lose(&mut self, index: usize) {
        self.sockets[index].close();
        self.counts.closed += 1;
    }

    fn read(&mut self, index: usize) {
        let now = nanoseconds(self.epoch.elapsed());
        let topic = index / self.shape.readers;
        let mut tracker = self.trackers.get_mut(index);
        let made = self.sources.get(topic).map_or(0, MessageSource::made);
        let (counts, latency, measuring) = (&mut self.counts, &mut self.latency, self.measuring);
        let mut ended = false;
        let mut pongs = Vec::new();
        let read = self.sockets[index].read(&mut self.buffer, &mut |event| match event {
            Event::Message { opcode, payload } => match (&mut tracker, payload::verify(payload)) {
                (None, _) => counts.extra += 1,
                (Some(_), None) => counts.corrupt += 1,
                (Some(_), Some(_)) if opcode != BINARY => counts.corrupt += 1,
                (Some(_), Some(stamp)) if stamp.topic as usize != topic || stamp.sequence >= made => counts.extra += 1,
                (Some(tracker), Some(stamp)) => {
                    let arrival = tracker.record(stamp.sequence);
                    if arrival == Arrival::Duplicate {
                        counts.duplicated += 1;
                        return;
                    }
                    counts.out_of_order += u64::from(arrival == Arrival::OutOfOrder);
                    counts.delivered += 1;
                    counts.bytes += payload.len() as u64;
                    if measuring {
                        latency.saturating_record(now.saturating_sub(stamp.time));
                    }
                }
            },
            Event::Control(PING, payload) => {
                frame::append(&mut pongs, PONG, payload.len(), |out| out.extend(payload));
            }
            Event::Control(opcode, _) => ended |= opcode == CLOSE,
        });
        self.last_read = Instant::now();
        if !pongs.is_empty() {
            self.sockets[index].out().extend(pongs);
            self.flush(index);
        }
        if ended || !matches!(read, Ok(true)) {
            self.lose(index);
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
