//! The link protocol: one end reads what the other wrote, for any sizes of reads, and invalid input ends the link
//! without other effects.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails"
)]

mod random;

use parley_cluster::end::End;
use parley_cluster::frames::{Decoder, Event, Header, Hello, MAX_BATCH, Passage, Request, acknowledgement, pong};
use parley_net::ws::frame::read_frame;
use parley_net::ws::{Batch, Kind};
use parley_streams::{Hop, Stamp};
use proptest::prelude::*;
use random::{Random, campaign};

fn batch(messages: &[(bool, Vec<u8>)]) -> Batch {
    let frames: Vec<u8> = messages
        .iter()
        .flat_map(|(text, payload)| {
            let payload = if *text { vec![b'x'; payload.len()] } else { payload.clone() };
            Batch::message(if *text { Kind::Text } else { Kind::Binary }, &payload).bytes().to_vec()
        })
        .collect();
    Batch::read(frames.into(), messages.len()).unwrap()
}

fn event() -> impl Strategy<Value = Event> {
    let size = prop_oneof![0..300usize, 120..130usize, 65_500..65_600usize];
    let message = (any::<bool>(), size.prop_map(|size| vec![0xff; size]));
    let messages = prop::collection::vec(message, 1..5);
    prop_oneof![
        3 => (any::<u64>(), passage(), messages)
            .prop_map(|(number, passage, messages)| Event::Batch { number, passage, batch: batch(&messages) }),
        1 => any::<u64>().prop_map(|stamp| Event::Pong { stamp }),
        1 => any::<u64>().prop_map(|number| Event::Acknowledgement { number }),
    ]
}

fn written(event: &Event) -> Vec<u8> {
    match event {
        Event::Batch { number, passage, batch } => {
            [Header::of(*number, batch, *passage).as_bytes(), batch.bytes()].concat()
        }
        Event::Pong { stamp } => pong(*stamp).to_vec(),
        Event::Acknowledgement { number } => acknowledgement(*number).to_vec(),
    }
}

/// Feeds bytes in pieces of the given sizes.
fn decode(bytes: &[u8], pieces: &[usize]) -> (Vec<Event>, Result<(), End>) {
    let (mut decoder, mut events, mut rest) = (Decoder::default(), Vec::new(), bytes);
    for size in pieces.iter().cycle() {
        let (piece, after) = rest.split_at((*size).clamp(1, rest.len().max(1)).min(rest.len()));
        rest = after;
        let fed = decoder.feed(piece, &mut |event| {
            events.push(event);
            Ok(())
        });
        if fed.is_err() || rest.is_empty() {
            return (events, fed);
        }
    }
    (events, Ok(()))
}

fn hop() -> impl Strategy<Value = Hop> {
    prop_oneof![Just(Hop::Region), Just(Hop::Ocean), Just(Hop::Inland)]
}

fn passage() -> impl Strategy<Value = Option<Passage>> {
    let passage = (hop(), any::<u64>(), any::<u64>());
    prop::option::of(passage.prop_map(|(hop, origin, sequence)| Passage { hop, stamp: Stamp { origin, sequence } }))
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        (any::<u64>(), prop::option::of(hop()), any::<bool>(), "/\\PC{0,200}")
            .prop_map(|(number, hop, replay, topic)| Request::Subscribe { number, hop, replay, topic }),
        any::<u64>().prop_map(|number| Request::Unsubscribe { number }),
        (any::<u64>(), any::<u32>()).prop_map(|(stamp, round_trip)| Request::Ping { stamp, round_trip }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn str_92_batches_and_answers_are_decoded_as_they_were_encoded_for_any_sizes_of_reads(
        events in prop::collection::vec(event(), 1..6),
        pieces in prop::collection::vec(1..70_000usize, 1..8),
    ) {
        let bytes: Vec<u8> = events.iter().flat_map(written).collect();
        let (received, result) = decode(&bytes, &pieces);
        prop_assert_eq!(result, Ok(()));
        prop_assert!(received == events);
    }

    #[test]
    fn str_93_requests_are_decoded_as_they_were_encoded_and_not_before_they_are_complete(request in request()) {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        for end in 0..bytes.len() {
            prop_assert_eq!(Request::read(&bytes[..end]), Ok(None));
        }
        bytes.push(9);
        prop_assert_eq!(Request::read(&bytes), Ok(Some((request, bytes.len() - 1))));
    }

    #[test]
    fn str_91_a_hello_is_decoded_as_it_was_encoded(pod in "\\PC{1,30}") {
        let hello = Hello { pod };
        let bytes = hello.bytes();
        for end in 0..bytes.len() {
            prop_assert_eq!(Hello::read(&bytes[..end]), Ok(None));
        }
        prop_assert_eq!(Hello::read(&bytes), Ok(Some((hello, bytes.len()))));
    }
}

fn claimed(number: u64, count: u32, length: u32, frames: &[u8]) -> Vec<u8> {
    [&[16][..], &number.to_be_bytes(), &count.to_be_bytes(), &length.to_be_bytes(), frames].concat()
}

/// A batch by hop of one message.
fn by_hop(hop: u8, frame: &[u8]) -> Vec<u8> {
    let passage = [&[hop][..], &[7; 16], frame].concat();
    let mut bytes = claimed(1, 1, u32::try_from(frame.len()).unwrap(), &passage);
    bytes[0] = 19;
    bytes
}

#[test]
fn str_94_an_invalid_batch_ends_the_link() {
    let hello = [0x81, 2, b'h', b'i'];
    let cases = [
        (claimed(1, 1, u32::MAX, b""), End::TooLarge),
        (claimed(1, 1, MAX_BATCH as u32 + 1, b""), End::TooLarge),
        (claimed(1, 0, 0, b""), End::Frame),
        (claimed(1, 1, 0, b""), End::Frame),
        (claimed(1, 2, 4, &hello), End::Frame),
        (claimed(1, u32::MAX, 4, &hello), End::TooLarge),
        (claimed(1, 1, 8, &[hello, hello].concat()), End::Frame),
        (claimed(1, 1, 3, &hello[..3]), End::Frame),
        // An invalid frame: masked, fragmented, a control frame, a length that is not minimal, broken text.
        (claimed(1, 1, 4, &[0x81, 0x82, b'h', b'i']), End::Frame),
        (claimed(1, 1, 4, &[0x01, 2, b'h', b'i']), End::Frame),
        (claimed(1, 1, 4, &[0x88, 2, 3, 0xe8]), End::Frame),
        (claimed(1, 1, 6, &[0x82, 126, 0, 2, b'h', b'i']), End::Frame),
        (claimed(1, 1, 11, &[0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]), End::Frame),
        (claimed(1, 1, 4, &[0x81, 2, 0xff, 0xff]), End::Frame),
        (by_hop(0, &hello), End::Hop),
        (by_hop(4, &hello), End::Hop),
        (by_hop(2, &hello[..3]), End::Frame),
        (vec![0], End::Frame),
        (vec![20], End::Frame),
    ];
    for (bytes, end) in cases {
        assert_eq!(decode(&bytes, &[1]), (vec![], Err(end)), "{bytes:x?}");
        assert_eq!(decode(&bytes, &[bytes.len()]), (vec![], Err(end)), "{bytes:x?}");
    }
    assert_eq!(decode(&claimed(1, 1, 4, &hello), &[3]).1, Ok(()));
    assert_eq!(decode(&by_hop(2, &hello), &[3]).1, Ok(()));
}

/// Returns a valid stream with a few bytes changed, removed or added.
fn nearly(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(4) {
        match random.below(5) {
            0 => bytes.extend(pong(random.next())),
            1 => bytes.extend(acknowledgement(random.next())),
            _ => {
                let messages: Vec<_> =
                    (0..=random.below(3)).map(|_| (random.below(2) == 0, vec![7; random.below(200)])).collect();
                let batch = batch(&messages);
                let stamp = Stamp { origin: random.next(), sequence: random.next() };
                let passage = (random.below(2) == 0).then_some(Passage { hop: Hop::Ocean, stamp });
                bytes.extend(Header::of(random.next(), &batch, passage).as_bytes());
                bytes.extend(&batch.bytes()[..]);
            }
        }
    }
    random.edited(bytes)
}

#[test]
fn str_94_random_input_ends_the_link_without_a_panic_and_decoded_frames_are_well_formed() {
    campaign("link", 1, nearly, |bytes| {
        let mut random = Random::of(bytes);
        let (events, result) = decode(bytes, &[1 + random.below(40), 1 + random.below(400)]);
        assert_eq!(decode(bytes, &[bytes.len().max(1)]), (events.clone(), result), "{bytes:x?}");
        for event in events {
            let Event::Batch { batch, .. } = event else { continue };
            let (mut at, mut messages, mut payload) = (0, 0, 0);
            while at < batch.bytes().len() {
                let (kind, message) = read_frame(&batch.bytes()[at..]).unwrap();
                let message = message.start + at..message.end + at;
                assert!(kind == Kind::Binary || std::str::from_utf8(&batch.bytes()[message.clone()]).is_ok());
                (at, messages, payload) = (message.end, messages + 1, payload + message.len());
            }
            assert_eq!((messages, payload), (batch.count(), batch.payload()));
        }
        // The same input as requests and as a hello.
        let mut rest = bytes;
        while let Ok(Some((_, size))) = Request::read(rest) {
            rest = &rest[size..];
        }
        let _ = Hello::read(bytes);
        result.is_ok()
    });
}
