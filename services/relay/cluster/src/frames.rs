//! The wire protocol between two pods: bytes in, requests or batches out. No clock, and no I/O but to receive a hello. All input of a peer is bounded and
//! validated here. Numbers are big-endian. Rule STR-92.
//!
//! | from, at | bytes |
//! |---|---|
//! | dialer, then listener, first | version 1, name length 1, name |
//! | dialer: subscribe | `1`, number 8, replay 1, name length 2, name |
//! | dialer: unsubscribe | `2`, number 8 |
//! | dialer: ping | `3`, stamp 8, last round trip in µs 4 |
//! | dialer: subscribe by hop | `4`, number 8, hop 1, replay 1, name length 2, name |
//! | listener: batch | `16`, number 8, messages 4, length 4, frames |
//! | listener: pong | `17`, stamp 8 |
//! | listener: acknowledgement | `18`, number 8 |
//! | listener: batch by hop | `19`, number 8, messages 4, length 4, hop 1, origin 8, sequence 8, frames |
//!
//! A pod subscribes by hop only at pods whose lease says that they know it (`hops`), and only such a subscription gets batches by hop. Pods of
//! before therefore never get these frames, and both link.
//!
//! An acknowledgement covers the subscription with its number and every one before it.
use super::end::End;
use super::lease::MAX_POD_NAME;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use parley_net::size;
use parley_net::ws::Batch;
use parley_streams::{Hop, Stamp};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The version of the protocol, which both sides send first. Pods of different versions do not link; each serves its own clients.
pub const VERSION: u8 = 3;
const SUBSCRIBE: u8 = 1;
const UNSUBSCRIBE: u8 = 2;
const PING: u8 = 3;
const SUBSCRIBE_BY_HOP: u8 = 4;
const BATCH: u8 = 16;
const PONG: u8 = 17;
const ACKNOWLEDGEMENT: u8 = 18;
const BATCH_BY_HOP: u8 = 19;
/// The length limit of a topic name: the greatest value of `topic.bytes`, and `/out`.
const MAX_TOPIC_NAME: usize = 8192 + 4;
/// The size of the header of a batch in bytes.
pub const BATCH_HEADER: usize = 17;
/// The size of the header of a batch by hop in bytes.
pub const BATCH_BY_HOP_HEADER: usize = BATCH_HEADER + 17;
/// The size of a pong and of an acknowledgement in bytes.
pub const ANSWER: usize = 9;
/// The bytes that a batch may have beyond the largest message: its header, and messages of the same read.
pub(crate) const BATCH_OVERHEAD: usize = 512 * 1024;
/// The size limit of a batch: the greatest value of `stream.messageBytes`, and the overhead.
pub const MAX_BATCH: usize = (64 << 20) + BATCH_OVERHEAD;
/// The most messages in a batch: empty ones, in one read.
const MAX_MESSAGES: usize = BATCH_OVERHEAD / 2;
/// The memory that is reserved for a batch when its header arrives; more is reserved as its bytes arrive.
const INITIAL_CAPACITY: usize = 64 * 1024;

/// The first message of each end, the dialer before the listener. The certificate identifies the run of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The name of the sending pod. Its lease must contain the certificate of the link, as two leases may contain one certificate.
    pub pod: String,
}

impl Hello {
    /// The encoded message.
    pub fn bytes(&self) -> Vec<u8> {
        let name = &self.pod.as_bytes()[..self.pod.len().min(MAX_POD_NAME)];
        let mut bytes = vec![VERSION, u8::try_from(name.len()).unwrap_or(u8::MAX)];
        bytes.put_slice(name);
        bytes
    }

    /// Decodes a message from the start of `input`, and returns it with its size. `None`: it is incomplete.
    pub fn read(input: &[u8]) -> Result<Option<(Self, usize)>, End> {
        let Some((&version, rest)) = input.split_first() else { return Ok(None) };
        if version != VERSION {
            return Err(End::Version);
        }
        let Some((&length, rest)) = rest.split_first() else { return Ok(None) };
        if !(1..=MAX_POD_NAME).contains(&usize::from(length)) {
            return Err(End::Frame);
        }
        let Some((name, rest)) = rest.split_at_checked(length.into()) else { return Ok(None) };
        let pod = std::str::from_utf8(name).map_err(|_| End::Frame)?.to_owned();
        Ok(Some((Self { pod }, input.len() - rest.len())))
    }

    /// Receives a hello, and reads no bytes after it.
    pub async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> Result<Self, End> {
        let mut input = Vec::new();
        loop {
            input.push(stream.read_u8().await.map_err(|_| End::Peer)?);
            if let Some((hello, _)) = Self::read(&input)? {
                return Ok(hello);
            }
        }
    }
}

/// A request of a dialer to its listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Send the messages of the topic under this number.
    Subscribe {
        /// A number greater than all before it.
        number: u64,
        /// The hop of the messages; their batches are by hop then. `None`: messages that were published on the listener's pod.
        hop: Option<Hop>,
        /// Whether the kept messages of the topic come first.
        replay: bool,
        /// The name of the topic.
        topic: String,
    },
    /// Send no more under this number.
    Unsubscribe {
        /// The number of the subscription.
        number: u64,
    },
    /// Answer with the same stamp.
    Ping {
        /// Any value.
        stamp: u64,
        /// Microseconds from the previous ping to its answer.
        round_trip: u32,
    },
}

impl Request {
    /// Appends the encoded request.
    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Request::Subscribe { number, hop, replay, topic } => {
                let name = &topic.as_bytes()[..topic.len().min(MAX_TOPIC_NAME)];
                into.put_u8(if hop.is_some() { SUBSCRIBE_BY_HOP } else { SUBSCRIBE });
                into.put_u64(*number);
                into.extend(hop.map(Hop::number));
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

    /// Decodes a message from the start of `input`, and returns it with its size. `None`: it is incomplete.
    pub fn read(input: &[u8]) -> Result<Option<(Self, usize)>, End> {
        let Some((&kind, rest)) = input.split_first() else { return Ok(None) };
        if ![SUBSCRIBE, SUBSCRIBE_BY_HOP, UNSUBSCRIBE, PING].contains(&kind) {
            return Err(End::Frame);
        }
        let Some((number, rest)) = rest.split_first_chunk::<8>() else { return Ok(None) };
        let number = u64::from_be_bytes(*number);
        let (request, rest) = match kind {
            SUBSCRIBE | SUBSCRIBE_BY_HOP => {
                let (hop, rest) = match rest.split_first() {
                    _ if kind == SUBSCRIBE => (None, rest),
                    Some((&hop, rest)) => (Some(Hop::requested(hop).ok_or(End::Hop)?), rest),
                    None => return Ok(None),
                };
                let &[replay, high, low, ref rest @ ..] = rest else { return Ok(None) };
                let length = usize::from(u16::from_be_bytes([high, low]));
                if replay > 1 || length > MAX_TOPIC_NAME {
                    return Err(End::Frame);
                }
                let Some((name, rest)) = rest.split_at_checked(length) else { return Ok(None) };
                let topic = std::str::from_utf8(name).map_err(|_| End::Frame)?.to_owned();
                (Request::Subscribe { number, hop, replay: replay == 1, topic }, rest)
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

/// How a batch came, in the header of a batch by hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The hop that its subscription requests.
    pub hop: Hop,
    /// The stamp of its first message.
    pub stamp: Stamp,
}

/// The header of a batch.
#[derive(Clone, Copy)]
pub struct Header {
    bytes: [u8; BATCH_BY_HOP_HEADER],
    size: usize,
}

impl Header {
    /// The header of a batch, which is followed by its frames: at most `MAX_BATCH` bytes. With a passage it is a batch by hop.
    pub fn of(number: u64, batch: &Batch, passage: Option<Passage>) -> Self {
        let mut bytes = [BATCH; BATCH_BY_HOP_HEADER];
        bytes[1..9].copy_from_slice(&number.to_be_bytes());
        bytes[9..13].copy_from_slice(&u32::try_from(batch.count()).unwrap_or(u32::MAX).to_be_bytes());
        bytes[13..17].copy_from_slice(&u32::try_from(batch.bytes().len()).unwrap_or(u32::MAX).to_be_bytes());
        let Some(Passage { hop, stamp }) = passage else { return Self { bytes, size: BATCH_HEADER } };
        (bytes[0], bytes[17]) = (BATCH_BY_HOP, hop.number());
        bytes[18..26].copy_from_slice(&stamp.origin.to_be_bytes());
        bytes[26..].copy_from_slice(&stamp.sequence.to_be_bytes());
        Self { bytes, size: BATCH_BY_HOP_HEADER }
    }

    /// An answer in place of a header.
    pub(crate) fn answer(answer: [u8; ANSWER]) -> Self {
        let mut bytes = [0; BATCH_BY_HOP_HEADER];
        bytes[..ANSWER].copy_from_slice(&answer);
        Self { bytes, size: ANSWER }
    }

    /// The encoded header.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

/// The encoded answer to a ping.
pub fn pong(stamp: u64) -> [u8; ANSWER] {
    answer(PONG, stamp)
}

/// The encoded acknowledgement of the subscription with this number and of all before it.
pub fn acknowledgement(number: u64) -> [u8; ANSWER] {
    answer(ACKNOWLEDGEMENT, number)
}

fn answer(kind: u8, number: u64) -> [u8; ANSWER] {
    let mut bytes = [kind; ANSWER];
    bytes[1..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A message of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Messages of the topic subscribed to under this number.
    Batch {
        /// The number of the subscription, which is not validated here.
        number: u64,
        /// How they came, for a batch by hop; its hop is not compared with the subscription here.
        passage: Option<Passage>,
        /// The messages, validated: each is framed exactly as this relay frames it.
        batch: Batch,
    },
    /// The answer to a ping.
    Pong {
        /// The stamp of the ping.
        stamp: u64,
    },
    /// The messages of this subscription, and of every one before it, follow from here on.
    Acknowledgement {
        /// The number of the subscription, which is not validated here.
        number: u64,
    },
}

/// Decodes the messages of a listener.
#[derive(Debug)]
pub struct Decoder {
    /// The part of a header that the last read contained.
    partial: [u8; BATCH_BY_HOP_HEADER],
    partial_size: usize,
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    number: u64,
    passage: Option<Passage>,
    count: usize,
    length: usize,
    bytes: BytesMut,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { partial: [0; BATCH_BY_HOP_HEADER], partial_size: 0, pending: None }
    }
}

impl Decoder {
    /// Decodes bytes, which may be split anywhere. After an error the link must be closed.
    pub fn feed(&mut self, mut input: &[u8], on: &mut impl FnMut(Event) -> Result<(), End>) -> Result<(), End> {
        loop {
            if let Some(mut pending) = self.pending.take() {
                input = pending.take(input);
                if pending.bytes.len() < pending.length {
                    self.pending = Some(pending);
                    return Ok(());
                }
                on(batch(pending.number, pending.passage, pending.bytes.freeze(), pending.count)?)?;
            }
            let Some(header) = self.header(&mut input)? else { return Ok(()) };
            let mut fields = &header[..];
            let (kind, number) = (fields.get_u8(), fields.get_u64());
            match kind {
                PONG => on(Event::Pong { stamp: number })?,
                ACKNOWLEDGEMENT => on(Event::Acknowledgement { number })?,
                _ => {
                    let (count, length) = (size(fields.get_u32().into()), size(fields.get_u32().into()));
                    if length > MAX_BATCH || count > MAX_MESSAGES {
                        return Err(End::TooLarge);
                    }
                    let passage = (kind == BATCH_BY_HOP).then(|| passage(&mut fields)).transpose()?;
                    if let Some((whole, rest)) = input.split_at_checked(length) {
                        input = rest;
                        on(batch(number, passage, Bytes::copy_from_slice(whole), count)?)?;
                    } else {
                        let bytes = BytesMut::with_capacity(length.min(INITIAL_CAPACITY));
                        self.pending = Some(Pending { number, passage, count, length, bytes });
                    }
                }
            }
        }
    }

    /// Returns the next header, once it is complete.
    fn header(&mut self, input: &mut &[u8]) -> Result<Option<[u8; BATCH_BY_HOP_HEADER]>, End> {
        let kept = self.partial[..self.partial_size].first();
        let size = match kept.or(input.first()) {
            Some(&BATCH) => BATCH_HEADER,
            Some(&BATCH_BY_HOP) => BATCH_BY_HOP_HEADER,
            Some(&(PONG | ACKNOWLEDGEMENT)) => ANSWER,
            Some(_) => return Err(End::Frame),
            None => return Ok(None),
        };
        let (here, rest) = input.split_at(input.len().min(size - self.partial_size));
        self.partial[self.partial_size..][..here.len()].copy_from_slice(here);
        self.partial_size += here.len();
        *input = rest;
        if self.partial_size < size {
            return Ok(None);
        }
        self.partial_size = 0;
        Ok(Some(self.partial))
    }
}

impl Pending {
    /// Takes the bytes that belong to this batch, and returns the rest.
    fn take<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        let (here, rest) = input.split_at(input.len().min(self.length - self.bytes.len()));
        if self.bytes.len() + here.len() > self.bytes.capacity() {
            self.bytes.reserve(self.length - self.bytes.len());
        }
        self.bytes.extend_from_slice(here);
        rest
    }
}

fn passage(fields: &mut &[u8]) -> Result<Passage, End> {
    let hop = Hop::requested(fields.get_u8()).ok_or(End::Hop)?;
    Ok(Passage { hop, stamp: Stamp { origin: fields.get_u64(), sequence: fields.get_u64() } })
}

fn batch(number: u64, passage: Option<Passage>, frames: Bytes, count: usize) -> Result<Event, End> {
    Ok(Event::Batch { number, passage, batch: Batch::read(frames, count).ok_or(End::Frame)? })
}
