//! All sockets of a load, and one turn of the loop that drives them. **Every delivery is judged here.**
use super::plan::{Place, Plan, Shape, WAITING_MAX};
use crate::frame::{self, BINARY, CLOSE, PING, PONG};
use crate::payload::{self, Maker};
use crate::sequence::{Arrival, Ledger};
use crate::socket::{Event, Socket};
use crate::target::Target;
use anyhow::Context;
use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What one read takes at most.
const READ: usize = 1 << 18;
/// Sockets that are looked after in one turn.
const EVENTS: usize = 1024;
/// A message of a closed loop that took longer is given up, so that a server that loses one does not end the load.
const GIVEN_UP: Duration = Duration::from_secs(1);

/// Deliveries, judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Messages that reached a reader, whole and for the first time.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that reached it once more.
    pub duplicated: u64,
    /// Those that came after a later one.
    pub out_of_order: u64,
    /// Messages that are, byte by byte, none that was sent: bent, cut, glued, or text.
    pub corrupt: u64,
    /// Messages of somebody else's topic, and any that a publisher got.
    pub extra: u64,
    /// Sockets that the server ended.
    pub closed: u64,
    /// Times a closed loop stood still and was started again.
    pub stalls: u64,
}

/// The sockets: first the readers, topic by topic, then the publishers.
pub struct Crowd<'a> {
    shape: &'a Shape,
    poll: Poll,
    events: Events,
    shared: Vec<u8>,
    sockets: Vec<Socket>,
    ledgers: Vec<Ledger>,
    makers: Vec<Maker>,
    /// Below this, a closed loop waits for nobody any more.
    given_up: Vec<u64>,
    /// Messages that are due and wait, as their server takes nothing.
    pub owed: u64,
    epoch: Instant,
    heard: Instant,
    /// So far.
    pub counts: Counts,
    /// Nanoseconds from making to arrival, while `measures`.
    pub latency: Histogram<u64>,
    /// Latency is recorded.
    pub measures: bool,
}

impl<'a> Crowd<'a> {
    /// Connects everybody, readers first.
    pub fn connect(plan: &'a Plan) -> anyhow::Result<Self> {
        let Plan { place: Place { url, publishers_url, headers, .. }, shape, .. } = plan;
        let readers_at = Target::new(url, headers)?;
        let publishers_at = Target::new(publishers_url.as_ref().unwrap_or(url), headers)?;
        let run = u64::from(std::process::id()) << 32
            | u64::from(SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos());
        let paths = |topic| plan.place.paths(run, topic);
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
            events: Events::with_capacity(EVENTS),
            shared: vec![0; READ],
            sockets,
            ledgers: std::iter::repeat_with(Ledger::default).take(readers).collect(),
            makers: topics.map(|topic| Maker::new(topic, shape.bytes)).collect(),
            given_up: vec![0; shape.topics],
            owed: 0,
            epoch: Instant::now(),
            heard: Instant::now(),
            counts: Counts::default(),
            latency: Histogram::new_with_bounds(1_000, 600_000_000_000, 3)?,
            measures: false,
        })
    }

    /// Messages made so far.
    pub fn sent(&self) -> u64 {
        self.makers.iter().map(Maker::made).sum()
    }

    /// Deliveries that never came, of what was sent so far.
    pub fn missing(&self) -> u64 {
        let each = |(reader, ledger): (usize, &Ledger)| ledger.missing(self.makers[reader / self.shape.readers].made());
        self.ledgers.iter().enumerate().map(each).sum()
    }

    /// Sends what publishers owe `since` they began; a message is made when it is due, and stamped then, whether or not the
    /// server takes it.
    pub fn publish(&mut self, since: Instant) {
        let now = Instant::now();
        self.owed = 0;
        for topic in 0..self.shape.topics {
            let goal = if self.shape.is_closed_loop() {
                self.confirmed(topic, now) + self.shape.window
            } else {
                self.shape.due(topic, now - since)
            };
            let index = self.ledgers.len() + topic;
            let (maker, socket) = (&mut self.makers[topic], &mut self.sockets[index]);
            let made = maker.made();
            while maker.made() < goal && socket.is_open() && socket.waiting() < WAITING_MAX {
                let time = nanoseconds(self.epoch.elapsed());
                frame::append(socket.out(), BINARY, self.shape.bytes, |out| maker.append(out, time));
            }
            self.owed += goal.saturating_sub(maker.made());
            if maker.made() > made {
                self.flush(index);
            }
        }
    }

    /// How many messages of a topic every reader of it has, or was given up on.
    fn confirmed(&mut self, topic: usize, now: Instant) -> u64 {
        let readers = topic * self.shape.readers..(topic + 1) * self.shape.readers;
        let open = readers.filter(|reader| self.sockets[*reader].is_open());
        let made = self.makers[topic].made();
        let least = open.map(|reader| self.ledgers[reader].next()).min().unwrap_or(made);
        if least < made && now - self.heard > GIVEN_UP && self.given_up[topic] < made {
            self.given_up[topic] = made;
            self.heard = now;
            self.counts.stalls += 1;
        }
        least.max(self.given_up[topic])
    }

    /// Waits for the network, at most so long, and judges what came.
    pub fn turn(&mut self, most: Duration) -> anyhow::Result<()> {
        match self.poll.poll(&mut self.events, Some(most)) {
            Err(why) if why.kind() != std::io::ErrorKind::Interrupted => return Err(why).context("cannot wait"),
            _ => {}
        }
        let ready: Vec<(usize, bool, bool)> = self
            .events
            .iter()
            .map(|event| (event.token().0, event.is_readable() || event.is_read_closed(), event.is_writable()))
            .collect();
        for (index, readable, writable) in ready {
            if writable && self.sockets[index].waiting() > 0 {
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
        let mut ledger = self.ledgers.get_mut(index);
        let made = self.makers.get(topic).map_or(0, Maker::made);
        let (counts, latency, measures) = (&mut self.counts, &mut self.latency, self.measures);
        let mut ended = false;
        let mut pongs = Vec::new();
        let read = self.sockets[index].read(&mut self.shared, &mut |event| match event {
            Event::Message { opcode, payload } => match (&mut ledger, payload::check(payload)) {
                (None, _) => counts.extra += 1,
                (Some(_), None) => counts.corrupt += 1,
                (Some(_), Some(_)) if opcode != BINARY => counts.corrupt += 1,
                (Some(_), Some(stamp)) if stamp.topic as usize != topic || stamp.sequence >= made => counts.extra += 1,
                (Some(ledger), Some(stamp)) => {
                    let arrival = ledger.enter(stamp.sequence);
                    if arrival == Arrival::Again {
                        counts.duplicated += 1;
                        return;
                    }
                    counts.out_of_order += u64::from(arrival == Arrival::OutOfOrder);
                    counts.delivered += 1;
                    counts.bytes += payload.len() as u64;
                    if measures {
                        latency.saturating_record(now.saturating_sub(stamp.time));
                    }
                }
            },
            Event::Control(PING, payload) => {
                frame::append(&mut pongs, PONG, payload.len(), |out| out.extend(payload));
            }
            Event::Control(opcode, _) => ended |= opcode == CLOSE,
        });
        self.heard = Instant::now();
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
