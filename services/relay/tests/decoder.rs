//! The frame decoder against another WebSocket implementation, and against random input (`random/mod.rs`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod random;

use parley_net::codes::Code;
use parley_net::ws::{Decoder, Event, Violation};
use parley_streams::route;
use proptest::prelude::*;
use random::{Random, campaign};
use std::io::{Cursor, Read, Write};
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, WebSocket};

/// Decodes the bytes that were fanned out to a reader.
fn understood(bytes: Vec<u8>) -> Vec<Message> {
    let mut socket = WebSocket::from_raw_socket(Tape(Cursor::new(bytes)), Role::Client, None);
    std::iter::from_fn(|| socket.read().ok()).collect()
}

/// A source of bytes; writes are discarded.
struct Tape(Cursor<Vec<u8>>);

impl Read for Tape {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Feeds bytes in pieces of the given sizes. Returns the fanned out bytes, the other events, and the result.
fn decode(bytes: &[u8], pieces: &[usize]) -> (Vec<u8>, Vec<Event>, Result<(), Violation>) {
    let mut decoder = Decoder::new(1 << 16, 64);
    let (mut fanned, mut others) = (Vec::new(), Vec::new());
    let mut rest = bytes;
    let mut sizes = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(sizes.next().unwrap_or(rest.len()).clamp(1, rest.len()));
        rest = after;
        let fed = decoder.feed(piece, &mut |event| match event {
            Event::Messages(batch) => {
                let frames: Vec<u8> = batch.frames(0).flat_map(|frame| frame.to_vec()).collect();
                assert_eq!(frames, batch.bytes()[..]);
                assert_eq!(batch.frames(0).count(), batch.count());
                fanned.extend(frames);
            }
            other => others.push(other),
        });
        if fed.is_err() {
            return (fanned, others, fed);
        }
    }
    (fanned, others, Ok(()))
}

#[derive(Clone, Debug)]
struct Sent {
    message: Message,
    /// The positions at which the message is split into fragments.
    cuts: Vec<usize>,
    ping: bool,
}

fn sent() -> impl Strategy<Value = Sent> {
    let text = "\\PC{0,300}".prop_map(Message::text);
    let size = prop_oneof![Just(0usize), 1..200usize, 120..130usize, 65_530..65_536usize];
    let binary = (size, any::<u8>()).prop_map(|(size, byte)| Message::binary(vec![byte; size]));
    (prop_oneof![text, binary], prop::collection::vec(0..300usize, 0..4), any::<bool>())
        .prop_map(|(message, cuts, ping)| Sent { message, cuts, ping })
}

/// Encodes the frames of one message as a client does.
fn frames(sent: &Sent) -> Vec<u8> {
    let payload = sent.message.clone().into_data();
    let mut cuts: Vec<usize> = sent.cuts.iter().map(|cut| cut.min(&payload.len()).to_owned()).collect();
    cuts.sort_unstable();
    cuts.push(payload.len());
    let mut bytes = Vec::new();
    let mut start = 0;
    for (at, &end) in cuts.iter().enumerate() {
        let kind = match (at, &sent.message) {
            (0, Message::Text(_)) => Data::Text,
            (0, _) => Data::Binary,
            _ => Data::Continue,
        };
        write(&mut bytes, OpCode::Data(kind), at + 1 == cuts.len(), &payload[start..end]);
        if sent.ping {
            write(&mut bytes, OpCode::Control(Control::Ping), true, b"still there");
        }
        start = end;
    }
    bytes
}

fn write(bytes: &mut Vec<u8>, opcode: OpCode, is_final: bool, payload: &[u8]) {
    let header = FrameHeader { is_final, opcode, mask: Some([0x37, 0xfa, 0x21, 0x3d]), ..FrameHeader::default() };
    Frame::from_payload(header, payload.to_vec().into()).format(bytes).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn str_10_and_11_the_messages_of_a_valid_client_are_received(
        messages in prop::collection::vec(sent(), 1..6),
        pieces in prop::collection::vec(1..5000usize, 1..8),
    ) {
        let bytes: Vec<u8> = messages.iter().flat_map(frames).collect();
        let (fanned, others, result) = decode(&bytes, &pieces);
        prop_assert_eq!(result, Ok(()));
        let received = understood(fanned);
        prop_assert_eq!(&received, &messages.iter().map(|sent| sent.message.clone()).collect::<Vec<_>>());
        let pings: usize = messages.iter().filter(|sent| sent.ping).map(|sent| sent.cuts.len() + 1).sum();
        prop_assert_eq!(others, vec![Event::Ping(b"still there".to_vec()); pings]);
    }

    #[test]
    fn the_sizes_of_reads_change_nothing(
        bytes in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(0x81u8), 1 => Just(0x80u8), 1 => Just(0x02u8)], 0..200),
        pieces in prop::collection::vec(1..20usize, 1..8),
    ) {
        prop_assert_eq!(decode(&bytes, &[bytes.len()]), decode(&bytes, &pieces));
    }
}

/// Returns the bytes of a valid stream with a few changed, removed or repeated.
fn nearly(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(4) {
        let first = [0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8a, random.next() as u8][random.below(10)];
        let length = [0, 1, 2, 100, 125, 126, 127, random.below(300)][random.below(8)];
        bytes.push(first);
        match length {
            0..=125 => bytes.push(0x80 | length as u8),
            _ => bytes.extend([0xfe, (length >> 8) as u8, length as u8]),
        }
        bytes.extend((random.next() as u32).to_be_bytes());
        bytes.extend((0..length).map(|_| random.next() as u8));
    }
    random.edited(bytes)
}

#[test]
fn str_14_random_input_is_an_event_or_a_violation_and_never_a_panic_or_a_difference() {
    campaign("websocket", 1, nearly, |bytes| {
        let mut random = Random::of(bytes);
        let pieces = [1 + random.below(40), 1 + random.below(400)];
        let (fanned, others, result) = decode(bytes, &pieces);
        assert_eq!(decode(bytes, &[bytes.len().max(1)]), (fanned.clone(), others.clone(), result));
        // The output is well-formed for a reader.
        let received = understood(fanned.clone());
        assert!(received.iter().all(|message| message.is_text() || message.is_binary()));
        assert_eq!(received.iter().map(framed_size).sum::<usize>(), fanned.len());
        // It equals what the other implementation decodes from the same bytes.
        let config = WebSocketConfig::default().max_message_size(Some(1 << 16)).max_frame_size(Some(1 << 16));
        let mut judge = WebSocket::from_raw_socket(Tape(Cursor::new(bytes.to_vec())), Role::Server, Some(config));
        let judged: Vec<Message> =
            std::iter::from_fn(|| judge.read().ok()).filter(|one| one.is_text() || one.is_binary()).collect();
        // The other implementation accepts a control frame whose length is not minimal, which RFC 6455 section 5.5 forbids.
        let stricter = result == Err(Violation::LongControl);
        let judged = if stricter { &judged[..received.len().min(judged.len())] } else { &judged[..] };
        assert_eq!(received, judged, "{others:?} {result:?} {bytes:x?} in pieces of {pieces:?}");
        result.is_ok()
    });
}

fn framed_size(message: &Message) -> usize {
    message.len() + if message.len() < 126 { 2 } else { 4 }
}

#[test]
fn str_4_the_router_parses_any_target_without_a_panic_and_refuses_invalid_ones() {
    let parts = [
        "/", "/", "in", "out", "..", ".", "%2e", "%2F", "%00", "%", "%zz", "stats", "a", "é", "\\", "?", "#", "%c3%a9",
        "%25",
    ];
    let generate = |random: &mut Random| {
        let mut target: String = (0..random.below(9)).map(|_| parts[random.below(parts.len())]).collect();
        if random.below(3) > 0 {
            target.insert(0, '/');
        }
        target.into_bytes()
    };
    campaign("routes", 1, generate, |bytes| {
        let target = String::from_utf8_lossy(bytes);
        let parsed = route::parse(&target, 64);
        match &parsed {
            Ok(route) => {
                let segments: Vec<&str> = route.topic.split('/').skip(1).collect();
                assert!(route.topic.starts_with('/') && route.topic.len() <= 68, "{target}");
                assert!(
                    segments.iter().all(|one| !matches!(*one, "" | "." | "..") && !one.contains(['\0', '\\'])),
                    "{target}"
                );
                assert!(!route::RESERVED.contains(&segments[0]) && segments[0] != "in", "{target}");
            }
            Err(code) => assert!(matches!(code, Code::TopicInvalid | Code::TopicReserved)),
        }
        parsed.is_ok()
    });
}
