//! The wire between two pods: bytes in, requests or batches out. No I/O, no clock; whatever a peer sends is bounded here and
//! never trusted. Numbers are big-endian. Rule STR-92.
//!
//! | from, at | bytes |
//! |---|---|
//! | dialer, then listener, first | version 1, name length 1, name |
//! | dialer: subscribe | `1`, number 8, replay 1, name length 2, name |
//! | dialer: unsubscribe | `2`, number 8 |
//! | dialer: ping | `3`, stamp 8, last round trip in µs 4 |
//! | listener: batch | `16`, number 8, messages 4, length 4, frames |
//! | listener: pong | `17`, stamp 8 |
//! | listener: acknowledgement | `18`, number 8 |
//!
//! An acknowledgement holds for the subscription with its number and for every one before it.
use super::end::End;
use super::lease::POD_NAME;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use parley_net::size;
use parley_net::ws::Batch;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What both sides say first. Pods of two versions do not link; each serves its own clients.
pub const VERSION: u8 = 3;
const SUBSCRIBE: u8 = 1;
const UNSUBSCRIBE: u8 = 2;
const PING: u8 = 3;
const BATCH: u8 = 16;
const PONG: u8 = 17;
const ACKNOWLEDGEMENT: u8 = 18;
/// The longest name of a topic: the most that `topic.bytes` may be, and `/out`.
const TOPIC_NAME: usize = 8192 + 4;
/// Bytes of the header of a batch.
pub const BATCH_HEADER: usize = 17;
/// Bytes of a pong, and of an acknowledgement.
pub const ANSWER: usize = 9;
/// What a batch may have above the largest message: its header, and what came in the same read.
pub const BATCH_OVERHEAD: usize = 512 * 1024;
/// The largest batch: the most that `stream.messageBytes` may be on any pod, and its overhead.
pub const BATCH_MAX: usize = (64 << 20) + BATCH_OVERHEAD;
/// The most messages of a batch: empty ones, in one read.
const MESSAGES_MAX: usize = BATCH_OVERHEAD / 2;
/// A batch that is claimed gets this much room; more comes with its bytes.
const FIRST_ROOM: usize = 64 * 1024;

/// What each end says first, the dialer before the listener. Which run of the pod it is, its certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The pod that speaks. Its lease has to have the certificate of the link: two leases may claim one certificate.
    pub pod: String,
}

impl Hello {
    /// As it goes onto the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let name = &self.pod.as_bytes()[..self.pod.len().min(POD_NAME)];
        let mut bytes = vec![VERSION, u8::try_from(name.len()).unwrap_or(u8::MAX)];
        bytes.put_slice(name);
        bytes
    }

    /// Reads one from the start of `input`, with its size. `None`: not complete yet.
    pub fn read(input: &[u8]) -> Result<Option<(Self, usize)>, End> {
        let Some((&version, rest)) = input.split_first() else { return Ok(None) };
        if version != VERSION {
            return Err(End::Version);
        }
        let Some((&length, rest)) = rest.split_first() else { return Ok(None) };
        if !(1..=POD_NAME).contains(&usize::from(length)) {
            return Err(End::Frame);
        }
        let Some((name, rest)) = rest.split_at_checked(length.into()) else { return Ok(None) };
        let pod = std::str::from_utf8(name).map_err(|_| End::Frame)?.to_owned();
        Ok(Some((Self { pod }, input.len() - rest.len())))
    }

    /// Waits for one, and takes nothing that comes after it.
    pub async fn hear(stream: &mut (impl AsyncRead + Unpin)) -> Result<Self, End> {
        let mut input = Vec::new();
        loop {
            input.push(stream.read_u8().await.map_err(|_| End::Peer)?);
            if let Some((hello, _)) = Self::read(&input)? {
                return Ok(hello);
            }
        }
    }
}

/// What a dialer asks of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Send the topic's messages under this number.
    Subscribe {
        /// Greater than every number before it.
        number: u64,
        /// What the topic kept comes first.
        replay: bool,
        /// The topic.
        topic: String,
    },
    /// Send no more under this number.
    Unsubscribe {
        /// Of a subscription.
        number: u64,
    },
    /// To be answered with the same stamp.
    Ping {
        /// Any number.
        stamp: u64,
        /// Microseconds from the last ping to its answer.
        round_trip: u32,
    },
}

impl Request {
    /// Appends it as it goes onto the wire.
    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Request::Subscribe { number, replay, topic } => {
                let name = &topic.as_bytes()[..topic.len().min(TOPIC_NAME)];
                into.put_u8(SUBSCRIBE);
                into.put_u64(*number);
                into.put_u8(u8::from(*replay));
                into.put_u16(u16::try_from(name.len()).unwrap_or(u16::MAX));
                into.put_slice(name);
            }
            Request::Unsubscribe { number } => {
                into.put_u8(UNSUBSCRIBE);
                into.put_u64(*number);
            }
            Request::Ping { stamp, round_trip } => {
                into.put_u8(PING);
                into.put_u64(*stamp);
                into.put_u32(*round_trip);
            }
        }
    }

    /// Reads one from the start of `input`, with its size. `None`: not complete yet.
    pub fn read(input: &[u8]) -> Result<Option<(Self, usize)>, End> {
        let Some((&kind, rest)) = input.split_first() else { return Ok(None) };
        if ![SUBSCRIBE, UNSUBSCRIBE, PING].contains(&kind) {
            return Err(End::Frame);
        }
        let Some((number, rest)) = rest.split_first_chunk::<8>() else { return Ok(None) };
        let number = u64::from_be_bytes(*number);
        let (request, rest) = match kind {
            SUBSCRIBE => {
                let &[replay, high, low, ref rest @ ..] = rest else { return Ok(None) };
                let length = usize::from(u16::from_be_bytes([high, low]));
                if replay > 1 || length > TOPIC_NAME {
                    return Err(End::Frame);
                }
                let Some((name, rest)) = rest.split_at_checked(length) else { return Ok(None) };
                let topic = std::str::from_utf8(name).map_err(|_| End::Frame)?.to_owned();
                (Request::Subscribe { number, replay: replay == 1, topic }, rest)
            }
            UNSUBSCRIBE => (Request::Unsubscribe { number }, rest),
            _ => {
                let Some((trip, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
                (Request::Ping { stamp: number, round_trip: u32::from_be_bytes(*trip) }, rest)
            }
        };
        Ok(Some((request, input.len() - rest.len())))
    }
}

/// The header before the frames of a batch; a batch is at most `BATCH_MAX` bytes.
pub fn batch_header(number: u64, batch: &Batch) -> [u8; BATCH_HEADER] {
    let mut header = [BATCH; BATCH_HEADER];
    header[1..9].copy_from_slice(&number.to_be_bytes());
    header[9..13].copy_from_slice(&u32::try_from(batch.count()).unwrap_or(u32::MAX).to_be_bytes());
    header[13..].copy_from_slice(&u32::try_from(batch.bytes().len()).unwrap_or(u32::MAX).to_be_bytes());
    header
}

/// The answer to a ping.
pub fn pong(stamp: u64) -> [u8; ANSWER] {
    answer(PONG, stamp)
}

/// The answer to the subscription with this number, and to all before it.
pub fn acknowledgement(number: u64) -> [u8; ANSWER] {
    answer(ACKNOWLEDGEMENT, number)
}

fn answer(kind: u8, number: u64) -> [u8; ANSWER] {
    let mut bytes = [kind; ANSWER];
    bytes[1..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// What a listener sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Messages of the topic subscribed to under this number.
    Batch {
        /// Of the subscription; whether there is one is not known here.
        number: u64,
        /// Checked: exactly the frames that our own readers may be sent.
        batch: Batch,
    },
    /// The answer to a ping.
    Pong {
        /// Its stamp.
        stamp: u64,
    },
    /// From now on the messages of this subscription follow, and of every one before it.
    Acknowledgement {
        /// Of the subscription; whether there is one is not known here.
        number: u64,
    },
}

/// A dialer's decoder of what its listener sends.
#[derive(Debug, Default)]
pub struct Decoder {
    /// A header that was cut by the end of a read.
    cut: [u8; BATCH_HEADER],
    cut_size: usize,
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    number: u64,
    count: usize,
    length: usize,
    bytes: BytesMut,
}

impl Decoder {
    /// Takes bytes, cut anywhere. After an error the link is of no use.
    pub fn feed(&mut self, mut input: &[u8], on: &mut impl FnMut(Event) -> Result<(), End>) -> Result<(), End> {
        loop {
            if let Some(mut pending) = self.pending.take() {
                input = pending.take(input);
                if pending.bytes.len() < pending.length {
                    self.pending = Some(pending);
                    return Ok(());
                }
                on(batch(pending.number, pending.bytes.freeze(), pending.count)?)?;
            }
            let Some(header) = self.header(&mut input)? else { return Ok(()) };
            let mut fields = &header[..];
            let (kind, number) = (fields.get_u8(), fields.get_u64());
            match kind {
                PONG => on(Event::Pong { stamp: number })?,
                ACKNOWLEDGEMENT => on(Event::Acknowledgement { number })?,
                _ => {
                    let (count, length) = (size(fields.get_u32().into()), size(fields.get_u32().into()));
                    if length > BATCH_MAX || count > MESSAGES_MAX {
                        return Err(End::TooLarge);
                    }
                    if let Some((whole, rest)) = input.split_at_checked(length) {
                        input = rest;
                        on(batch(number, Bytes::copy_from_slice(whole), count)?)?;
                    } else {
                        let bytes = BytesMut::with_capacity(length.min(FIRST_ROOM));
                        self.pending = Some(Pending { number, count, length, bytes });
                    }
                }
            }
        }
    }

    /// The next header, once it is complete.
    fn header(&mut self, input: &mut &[u8]) -> Result<Option<[u8; BATCH_HEADER]>, End> {
        let kept = self.cut[..self.cut_size].first();
        let size = match kept.or(input.first()) {
            Some(&BATCH) => BATCH_HEADER,
            Some(&(PONG | ACKNOWLEDGEMENT)) => ANSWER,
            Some(_) => return Err(End::Frame),
            None => return Ok(None),
        };
        let (here, rest) = input.split_at(input.len().min(size - self.cut_size));
        self.cut[self.cut_size..][..here.len()].copy_from_slice(here);
        self.cut_size += here.len();
        *input = rest;
        if self.cut_size < size {
            return Ok(None);
        }
        self.cut_size = 0;
        Ok(Some(self.cut))
    }
}

impl Pending {
    /// Takes what belongs to it and answers the rest.
    fn take<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        let (here, rest) = input.split_at(input.len().min(self.length - self.bytes.len()));
        if self.bytes.len() + here.len() > self.bytes.capacity() {
            self.bytes.reserve(self.length - self.bytes.len());
        }
        self.bytes.extend_from_slice(here);
        rest
    }
}

fn batch(number: u64, frames: Bytes, count: usize) -> Result<Event, End> {
    Ok(Event::Batch { number, batch: Batch::read(frames, count).ok_or(End::Frame)? })
}
