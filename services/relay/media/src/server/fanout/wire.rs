//! The messages of moq-lite-05 and moq-lite-06 that the fan-out reads and writes: SUBSCRIBE and SUBSCRIBE_UPDATE of a watcher, SUBSCRIBE_START and
//! SUBSCRIBE_END to it, and the headers of groups and frames. All integers are QUIC's (RFC 9000, section 16).
use moq_net::bytes::{BufMut, Bytes, BytesMut};
use std::time::Duration;

/// The type of a stream whose first message is SUBSCRIBE.
const SUBSCRIBE: u64 = 2;
/// The same of FETCH.
const FETCH: u64 = 3;
/// The type of a unidirectional stream that carries a group.
const GROUP: u64 = 0;
/// The types of replies to SUBSCRIBE.
const START: u64 = 0;
const END: u64 = 1;

/// The largest SUBSCRIBE and FETCH, in bytes: names of broadcasts and tracks have some hundred. The library, which has a greater limit, gets no larger ones:
/// a name that is padded is still that of a sound.
const MAX_REQUEST: usize = 8 << 10;
/// Frames up to this size follow their header in one piece of memory, which is copied once for all watchers. Larger ones stay where they are.
const MAX_COPIED: usize = 16 << 10;
/// The same for a frame that is sent to one watcher only, which would keep a copy of its own until it is acknowledged.
const MAX_COPIED_FOR_ONE: usize = 512;
/// The longest header of a frame: two integers.
const MAX_FRAME_HEADER: usize = 16;

/// A version whose subscriptions the fan-out serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Lite05,
    Lite06,
}

impl Version {
    /// Returns the version with this ALPN name, if the fan-out serves it.
    pub fn of(protocol: Option<&str>) -> Option<Self> {
        match protocol? {
            "moq-lite-05" => Some(Self::Lite05),
            "moq-lite-06" => Some(Self::Lite06),
            _ => None,
        }
    }

    /// Whether a subscription begins at the oldest group that is not older than its maximum age. Otherwise it begins at the newest group.
    pub fn begins_by_age(self) -> bool {
        self == Self::Lite06
    }
}

/// A request for the groups of a track. Group sequences at both ends are inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscribe {
    /// Names the subscription in the headers of its groups.
    pub id: u64,
    pub broadcast: String,
    pub track: String,
    pub wish: Wish,
}

/// What a watcher wants of a track, which SUBSCRIBE_UPDATE changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Higher values are sent first.
    pub priority: u8,
    pub max_age: Duration,
    pub start_group: Option<u64>,
    pub end_group: Option<u64>,
    /// Whether no group is to begin or end at a frame within it.
    pub whole_groups: bool,
}

/// What the first bytes of a bidirectional stream are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// More bytes are needed.
    Incomplete,
    /// A SUBSCRIBE of so many bytes.
    Subscribe(Subscribe, usize),
    /// A FETCH of a group of this broadcast and track.
    Fetch(String, String),
    /// One of both that is too large to be one of a client in earnest.
    TooLarge,
    /// Another request, or one that is malformed.
    Other,
}

/// Reads the first message of a stream.
pub(crate) fn first(bytes: &[u8], version: Version) -> First {
    let mut parser = Parser(bytes);
    let kind = match parser.integer() {
        None => return First::Incomplete,
        Some(kind @ (SUBSCRIBE | FETCH)) => kind,
        Some(_) => return First::Other,
    };
    match parser.message() {
        Message::Incomplete => First::Incomplete,
        Message::TooLarge => First::TooLarge,
        Message::Whole(body) if kind == FETCH => fetch(body).unwrap_or(First::Other),
        Message::Whole(body) => {
            subscribe(body, version).map_or(First::Other, |found| First::Subscribe(found, bytes.len() - parser.0.len()))
        }
    }
}

/// Takes a SUBSCRIBE_UPDATE from `bytes`; `None` while it is incomplete.
///
/// # Errors
/// The message is malformed.
pub(crate) fn update(bytes: &mut BytesMut, version: Version) -> Result<Option<Wish>, Malformed> {
    let mut parser = Parser(bytes);
    let found = match parser.message() {
        Message::Incomplete => return Ok(None),
        Message::TooLarge => return Err(Malformed),
        Message::Whole(body) => {
            let mut body = Parser(body);
            body.wish(version).filter(|_| body.0.is_empty()).ok_or(Malformed)?
        }
    };
    let rest = parser.0.len();
    let _read = bytes.split_to(bytes.len() - rest);
    Ok(Some(found))
}

/// A message that does not have the form of its type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

fn subscribe(body: &[u8], version: Version) -> Option<Subscribe> {
    let mut body = Parser(body);
    let (id, broadcast, track) = (body.integer()?, body.text()?, body.text()?);
    let wish = body.wish(version)?;
    body.0.is_empty().then_some(Subscribe { id, broadcast, track, wish })
}

fn fetch(body: &[u8]) -> Option<First> {
    let mut body = Parser(body);
    Some(First::Fetch(body.text()?, body.text()?))
}

struct Parser<'a>(&'a [u8]);

enum Message<'a> {
    Incomplete,
    TooLarge,
    Whole(&'a [u8]),
}

impl<'a> Parser<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn integer(&mut self) -> Option<u64> {
        let size = 1 << (self.0.first()? >> 6);
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        // The two highest bits are the size.
        Some(value & (u64::MAX >> (66 - 8 * size.min(8))))
    }

    /// An integer that is one more than a number, and zero for none.
    fn optional(&mut self) -> Option<Option<u64>> {
        Some(self.integer()?.checked_sub(1))
    }

    fn text(&mut self) -> Option<String> {
        let size = usize::try_from(self.integer()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        String::from_utf8(bytes.to_vec()).ok()
    }

    /// A message after its size.
    fn message(&mut self) -> Message<'a> {
        let mut parser = Parser(self.0);
        let Some(size) = parser.integer() else { return Message::Incomplete };
        let Some(size) = usize::try_from(size).ok().filter(|size| *size <= MAX_REQUEST) else {
            return Message::TooLarge;
        };
        let Some((body, rest)) = parser.0.split_at_checked(size) else { return Message::Incomplete };
        self.0 = rest;
        Message::Whole(body)
    }

    fn wish(&mut self, version: Version) -> Option<Wish> {
        let priority = self.byte()?;
        if version == Version::Lite05 {
            // The order of groups, which no longer has a meaning.
            self.byte()?;
        }
        let max_age = Duration::from_millis(self.integer()?);
        let mut start_group = match version {
            Version::Lite05 => self.optional()?,
            Version::Lite06 => Some(self.integer()?),
        };
        let end_group = self.optional()?;
        let (start_frame, end_frame) = match version {
            Version::Lite05 => (0, None),
            Version::Lite06 => (self.integer()?, self.optional()?),
        };
        if version == Version::Lite06 && (start_group, start_frame) == (Some(0), 0) {
            start_group = None;
        }
        let whole_groups = start_frame == 0 && end_frame.is_none();
        Some(Wish { priority, max_age, start_group, end_group, whole_groups })
    }
}

/// Appends an integer below 2^62.
fn put(out: &mut BytesMut, value: u64) {
    match value {
        0..0x40 => out.put_uint(value, 1),
        0x40..0x4000 => out.put_uint(value | 1 << 14, 2),
        0x4000..0x4000_0000 => out.put_uint(value | 2 << 30, 4),
        _ => out.put_u64(value & (u64::MAX >> 2) | 3 << 62),
    }
}

fn reply(kind: u64, group: u64) -> Bytes {
    let mut body = BytesMut::with_capacity(8);
    put(&mut body, group);
    message(kind, &body)
}

fn message(kind: u64, body: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(10 + body.len());
    put(&mut out, kind);
    put(&mut out, body.len() as u64);
    out.put_slice(body);
    out.freeze()
}

/// SUBSCRIBE_START: the first group of the subscription.
pub(crate) fn start(group: u64) -> Bytes {
    reply(START, group)
}

/// SUBSCRIBE_END: the track has no group with this or a higher sequence.
pub(crate) fn end(group: u64) -> Bytes {
    reply(END, group)
}

/// The beginning of a stream that carries a group from its first frame.
pub(crate) fn group(version: Version, subscription: u64, sequence: u64) -> Bytes {
    let mut body = BytesMut::with_capacity(17);
    put(&mut body, subscription);
    put(&mut body, sequence);
    if version == Version::Lite06 {
        put(&mut body, 0);
    }
    message(GROUP, &body)
}

/// A datagram that carries a group of one frame. `time`: in the timescale of the track.
pub(crate) fn datagram(subscription: u64, sequence: u64, time: u64, payload: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(24 + payload.len());
    for value in [subscription, sequence, time] {
        put(&mut out, value);
    }
    out.put_slice(payload);
    out.freeze()
}

/// Consecutive bytes of the stream of a group, the same for all watchers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    pub bytes: [Bytes; 2],
    /// The part that is media.
    pub payload: usize,
}

impl Piece {
    /// A whole frame. `previous` is the timestamp of the frame before, 0 at the beginning of a group; both are in the timescale of the track.
    pub fn frame(time: u64, previous: u64, payload: Bytes) -> Self {
        Self::first(time, previous, payload.len() as u64, payload)
    }

    /// A whole frame that one watcher lacks.
    pub fn frame_for_one(time: u64, previous: u64, payload: Bytes) -> Self {
        Self::begin(time, previous, payload.len() as u64, payload, MAX_COPIED_FOR_ONE)
    }

    /// The header of a frame of `size` bytes with the first of its bytes.
    pub fn first(time: u64, previous: u64, size: u64, payload: Bytes) -> Self {
        Self::begin(time, previous, size, payload, MAX_COPIED)
    }

    fn begin(time: u64, previous: u64, size: u64, payload: Bytes, max_copied: usize) -> Self {
        let copied = if payload.len() <= max_copied { payload.len() } else { 0 };
        let mut head = BytesMut::with_capacity(MAX_FRAME_HEADER + copied);
        let difference = time.wrapping_sub(previous).cast_signed();
        put(&mut head, (difference << 1 ^ difference >> 63).cast_unsigned());
        put(&mut head, size);
        let media = payload.len();
        if copied == media {
            head.put_slice(&payload);
            return Self { bytes: [head.freeze(), Bytes::new()], payload: media };
        }
        Self { bytes: [head.freeze(), payload], payload: media }
    }

    /// More bytes of a frame.
    pub fn more(payload: Bytes) -> Self {
        let media = payload.len();
        Self { bytes: [payload, Bytes::new()], payload: media }
    }

    pub fn len(&self) -> usize {
        self.bytes.iter().map(Bytes::len).sum()
    }

    /// Returns what follows the first `count` bytes.
    pub fn after(mut self, mut count: usize) -> Self {
        for bytes in &mut self.bytes {
            let skipped = count.min(bytes.len());
            let _ = bytes.split_to(skipped);
            count -= skipped;
        }
        self.payload = self.payload.min(self.len());
        self
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
