//! A reader over a socket that accepts a given number of bytes: the peer can always decode every byte, and messages that it does not receive
//! are counted. `RELAY_SEED` sets the seed of the random histories.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_net::codes::Code;
use parley_net::ws::frame::Opcode;
use parley_net::ws::{Batch, Decoder, Event, close};
use parley_streams::Reader;
use parley_streams::queue::{Backlog, Bounds, Frame};
use parley_streams::reader::{Next, Outlet, Reason};
use std::io::{Cursor, Error, ErrorKind, IoSlice, Read, Result, Write};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

/// Accepts as many bytes as it has room for.
#[derive(Default)]
struct Pipe {
    room: usize,
    taken: Vec<u8>,
}

struct Tap(Arc<Mutex<Pipe>>);

impl Outlet for Tap {
    fn write(&self, bytes: &[u8]) -> Result<usize> {
        let mut pipe = self.0.lock().unwrap();
        let size = bytes.len().min(pipe.room);
        pipe.room -= size;
        pipe.taken.extend_from_slice(&bytes[..size]);
        if size == 0 { Err(Error::from(ErrorKind::WouldBlock)) } else { Ok(size) }
    }

    fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> Result<usize> {
        let all: Vec<u8> = pieces.iter().flat_map(|piece| piece.to_vec()).collect();
        self.write(&all)
    }
}

/// A batch of messages, as decoded from one read.
fn batch(numbers: std::ops::Range<u64>, size: usize) -> Batch {
    let mut bytes = Vec::new();
    for number in numbers {
        let payload = [&number.to_be_bytes()[..], &vec![7; size]].concat();
        let length = u16::try_from(payload.len()).unwrap();
        bytes.extend([0x82, 0xfe]);
        bytes.extend(length.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(payload);
    }
    let mut batches = Vec::new();
    Decoder::new(1 << 20, 1).feed(&bytes, &mut |event| batches.push(event)).unwrap();
    match batches.pop() {
        Some(Event::Messages(batch)) => batch,
        other => unreachable!("{other:?}"),
    }
}

struct Tape(Cursor<Vec<u8>>);

impl Read for Tape {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.0.read(into)
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

const BOUNDS: Bounds = Bounds { messages: 8, bytes: 6000 };

const ANSWER: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";

fn reader(backlog: &Arc<Backlog>) -> (Reader, Arc<Mutex<Pipe>>) {
    let pipe = Arc::new(Mutex::new(Pipe::default()));
    (Reader::new(1, Box::new(Tap(Arc::clone(&pipe))), BOUNDS, Arc::clone(backlog)), pipe)
}

fn flush(reader: &Reader) -> Next {
    reader.flush(&Context::from_waker(Waker::noop()), 0).0
}

/// One random history of a reader, from a seed.
fn history(mut seed: u64) {
    let mut below = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % most
    };
    let backlog = Arc::new(Backlog::new(1 << 30));
    let (reader, pipe) = reader(&backlog);
    reader.control(Frame::Answer, ANSWER.into(), 0);
    let mut sent = 0;
    for _ in 0..60 {
        match below(6) {
            0 | 1 => {
                let count = 1 + below(4) as u64;
                reader.deliver(&batch(sent..sent + count, below(1500)), 0);
                sent += count;
            }
            2 => reader.control(Frame::Pong, close::control(Opcode::Pong, b"?"), 0),
            3 => reader.control(Frame::Ping, close::control(Opcode::Ping, b""), 0),
            4 => pipe.lock().unwrap().room += below(4000),
            _ => {
                flush(&reader);
            }
        }
        let counts = reader.counts();
        // A partly sent message cannot be dropped, so one may exceed the bounds.
        assert!(counts.queued <= BOUNDS.messages + 1 && counts.queued_bytes <= BOUNDS.bytes + 1512);
        assert_eq!(counts.delivered.messages + counts.dropped.messages + counts.queued as u64, sent);
        assert_eq!((backlog.messages(), backlog.bytes()), (counts.queued as u64, counts.queued_bytes as u64));
    }
    reader.close(Code::Goaway);
    pipe.lock().unwrap().room = usize::MAX;
    assert_eq!(flush(&reader), Next::Ended(Reason::Code(Code::Goaway)));
    let counts = reader.counts();
    let taken = std::mem::take(&mut pipe.lock().unwrap().taken);
    let taken = taken.strip_prefix(ANSWER).unwrap().to_vec();
    let mut peer = WebSocket::from_raw_socket(Tape(Cursor::new(taken)), Role::Client, None);
    let mut received = Vec::new();
    let code = loop {
        match peer.read().unwrap() {
            Message::Binary(bytes) => received.push(u64::from_be_bytes(bytes[..8].try_into().unwrap())),
            Message::Close(frame) => break frame.map(|frame| u16::from(frame.code)),
            _ => {}
        }
    };
    assert_eq!(code, Some(1012));
    assert!(received.is_sorted_by(|one, next| one < next), "{received:?}");
    assert_eq!(received.len() as u64, counts.delivered.messages);
    assert_eq!(counts.delivered.messages + counts.dropped.messages, sent);
    assert_eq!(backlog.bytes(), 0);
}

#[test]
fn str_40_the_peer_decodes_every_byte_and_missing_messages_are_counted() {
    let first: u64 = std::env::var("RELAY_SEED").ok().map_or(0, |seed| seed.parse().unwrap());
    for seed in first..first + 5000 {
        history(seed);
    }
}

#[test]
fn str_40_the_newest_messages_are_kept() {
    let backlog = Arc::new(Backlog::new(1 << 30));
    let (reader, pipe) = reader(&backlog);
    for at in 0..20 {
        reader.deliver(&batch(at..at + 1, 118), 0);
    }
    assert_eq!((reader.counts().queued, reader.counts().dropped.messages), (BOUNDS.messages, 12));
    pipe.lock().unwrap().room = usize::MAX;
    flush(&reader);
    let taken = &pipe.lock().unwrap().taken;
    let numbers: Vec<u64> =
        taken.chunks(130).map(|frame| u64::from_be_bytes(frame[4..12].try_into().unwrap())).collect();
    assert_eq!(numbers, (12..20).collect::<Vec<_>>());
}

#[test]
fn str_42_close_now_discards_queued_messages_but_completes_a_partly_sent_one() {
    let backlog = Arc::new(Backlog::new(1 << 30));
    let (reader, pipe) = reader(&backlog);
    pipe.lock().unwrap().room = 50;
    reader.deliver(&batch(0..3, 118), 5);
    assert!(!reader.is_stalled(5) && reader.is_stalled(6));
    reader.close_now(Code::SlowConsumer);
    assert_eq!(flush(&reader), Next::Blocked);
    pipe.lock().unwrap().room = usize::MAX;
    assert_eq!(flush(&reader), Next::Ended(Reason::Code(Code::SlowConsumer)));
    let taken = &pipe.lock().unwrap().taken;
    assert_eq!(taken.len(), 130 + 2 + 2 + "SLOW_CONSUMER".len());
    assert_eq!(taken[130..134], [0x88, 15, 0x11, 0x4e]);
}

#[test]
fn str_27_nothing_is_sent_before_or_instead_of_the_answer_to_the_upgrade() {
    // A ping precedes messages; `close_now` discards both.
    let close = |code: Code| close::of_code(code).len();
    let ends = [
        (None, 2 + 3 * 130),
        (Some(Reader::close as fn(&Reader, Code)), 2 + 3 * 130 + close(Code::Goaway)),
        (Some(Reader::close_now), close(Code::Goaway)),
    ];
    for (end, after) in ends {
        let backlog = Arc::new(Backlog::new(1 << 30));
        let (reader, pipe) = reader(&backlog);
        pipe.lock().unwrap().room = usize::MAX;
        reader.control(Frame::Answer, ANSWER.into(), 0);
        reader.deliver(&batch(0..3, 118), 0);
        reader.control(Frame::Ping, close::control(Opcode::Ping, b""), 0);
        // The reader waits for the relay, not for its peer.
        assert!(!reader.is_stalled(u64::MAX) && pipe.lock().unwrap().taken.is_empty());
        if let Some(end) = end {
            end(&reader, Code::Goaway);
        }
        flush(&reader);
        let taken = std::mem::take(&mut pipe.lock().unwrap().taken);
        assert!(taken.starts_with(ANSWER));
        assert_eq!(taken.len(), ANSWER.len() + after);
        assert_eq!(backlog.bytes(), 0);
    }
}

#[test]
fn str_43_over_the_limit_of_the_pod_only_a_partly_sent_message_waits() {
    let backlog = Arc::new(Backlog::new(200));
    let (reader, pipe) = reader(&backlog);
    pipe.lock().unwrap().room = 50;
    reader.deliver(&batch(0..5, 118), 0);
    assert_eq!((reader.counts().queued, reader.counts().dropped.messages), (1, 4));
}

#[test]
fn str_32_a_queued_close_frame_is_sent_whatever_ends_the_stream_after_it() {
    for then in
        [|reader: &Reader| reader.close_now(Code::IdleTimeout), |reader: &Reader| reader.answer_close(Some(1000))]
    {
        let backlog = Arc::new(Backlog::new(1 << 30));
        let (reader, pipe) = reader(&backlog);
        pipe.lock().unwrap().room = 50;
        reader.deliver(&batch(0..3, 118), 5);
        reader.close(Code::Goaway);
        then(&reader);
        pipe.lock().unwrap().room = usize::MAX;
        assert_eq!(flush(&reader), Next::Ended(Reason::Code(Code::Goaway)));
        // STR-70: queued messages are sent before the close frame.
        assert_eq!(pipe.lock().unwrap().taken.len(), 3 * 130 + 2 + 2 + "GOAWAY".len());
    }
}

#[test]
fn str_43_readers_with_long_queues_make_room_for_those_with_short_ones() {
    let backlog = Arc::new(Backlog::new(3400));
    let ((greedy, _greedy), (modest, _modest)) = (reader(&backlog), reader(&backlog));
    for at in 0..20 {
        greedy.deliver(&batch(at..at + 1, 900), 0);
    }
    assert!(greedy.counts().queued >= 3);
    modest.deliver(&batch(0..2, 118), 0);
    assert_eq!((modest.counts().queued, modest.counts().dropped.messages), (2, 0));
    assert!(backlog.is_over());
    let before = greedy.counts();
    let dropped = greedy.trim();
    assert!(!backlog.is_over() && dropped > 0);
    assert_eq!(greedy.counts().dropped.messages, before.dropped.messages + dropped);
    assert_eq!(modest.trim(), 0);
}
