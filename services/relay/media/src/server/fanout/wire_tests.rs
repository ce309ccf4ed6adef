use super::*;

const EXAMPLE: (&str, &str) = ("lab/7/cam", "video");

/// SUBSCRIBE as the clients of both versions send it.
fn request(version: Version, tail: &[u8]) -> Vec<u8> {
    let (broadcast, track) = EXAMPLE;
    let mut body = vec![0x41, 0x00];
    for text in [broadcast, track] {
        body.push(u8::try_from(text.len()).unwrap());
        body.extend(text.bytes());
    }
    body.push(100);
    if version == Version::Lite05 {
        body.push(1);
    }
    body.extend(tail);
    let mut bytes = vec![2, u8::try_from(body.len()).unwrap()];
    bytes.extend(body);
    bytes
}

fn wish(max_age: u64, start_group: Option<u64>, end_group: Option<u64>) -> Wish {
    Wish { priority: 100, max_age: Duration::from_millis(max_age), start_group, end_group, whole_groups: true }
}

#[test]
fn med_70_subscribe_is_read_in_both_versions() {
    use Version::{Lite05, Lite06};
    for (version, tail, expected) in [
        (Lite05, &[0x4b, 0xb8, 0, 0][..], wish(3000, None, None)),
        (Lite05, &[0, 1, 0], wish(0, Some(0), None)),
        (Lite05, &[5, 8, 10], wish(5, Some(7), Some(9))),
        (Lite06, &[0x4b, 0xb8, 0, 0, 0, 0], wish(3000, None, None)),
        (Lite06, &[5, 7, 10, 0, 0], wish(5, Some(7), Some(9))),
        (Lite06, &[5, 0, 0, 3, 0], Wish { whole_groups: false, ..wish(5, Some(0), None) }),
        (Lite06, &[5, 7, 10, 0, 4], Wish { whole_groups: false, ..wish(5, Some(7), Some(9)) }),
    ] {
        let mut bytes = request(version, tail);
        let size = bytes.len();
        bytes.extend([1, 2, 3]);
        let (broadcast, track) = (EXAMPLE.0.to_owned(), EXAMPLE.1.to_owned());
        let subscribe = Subscribe { id: 0x100, broadcast, track, wish: expected };
        assert_eq!(first(&bytes, version), First::Subscribe(subscribe, size));
        for short in 0..size {
            assert_eq!(first(&bytes[..short], version), First::Incomplete, "{short} bytes");
        }
    }
}

#[test]
fn med_70_other_requests_and_malformed_ones_are_left_to_the_library() {
    let whole = request(Version::Lite06, &[0, 0, 0, 0, 0]);
    let longer = request(Version::Lite06, &[0, 0, 0, 0, 0, 0]);
    let shorter = request(Version::Lite06, &[0, 0, 0, 0]);
    let mut no_text = whole.clone();
    no_text[5] = 0xff;
    let huge = [2, 0x80, 0x10, 0, 0];
    assert_eq!(first(&huge, Version::Lite06), First::TooLarge);
    assert_eq!(first(&[3, 0x80, 0x10, 0, 0], Version::Lite06), First::TooLarge);
    let fetch = [3, 6, 3, b'a', b'/', b'b', 1, b'v'];
    assert_eq!(first(&fetch, Version::Lite06), First::Fetch("a/b".into(), "v".into()));
    assert_eq!(first(&fetch[..7], Version::Lite06), First::Incomplete);
    for bytes in [&[1, 0][..], &[3, 0], &[3, 2, 9, b'a'], &[6], &[0x40, 9], &longer, &shorter, &no_text] {
        assert_eq!(first(bytes, Version::Lite06), First::Other, "{bytes:?}");
    }
    // The client's version determines the form.
    assert_eq!(first(&whole, Version::Lite05), First::Other);
}

#[test]
fn med_70_no_byte_of_a_request_makes_the_relay_fail() {
    for (version, tail) in [(Version::Lite05, &[0x4b, 0xb8, 0, 0][..]), (Version::Lite06, &[0x4b, 0xb8, 0, 0, 0, 0])] {
        let whole = request(version, tail);
        for (at, second) in (0..whole.len()).flat_map(|at| (0..whole.len()).map(move |second| (at, second))) {
            for value in 0..=u8::MAX {
                let mut bytes = whole.clone();
                bytes[at] = value;
                bytes[second] ^= 0x80;
                if let First::Subscribe(_, size) = first(&bytes, version) {
                    assert!(size <= bytes.len());
                }
                let _ = update(&mut BytesMut::from(&bytes[1..]), version);
            }
        }
    }
}

#[test]
fn med_70_updates_are_taken_one_at_a_time() {
    let mut bytes = BytesMut::from(&[5, 100, 0, 9, 3, 0, 5, 100, 0][..]);
    assert_eq!(update(&mut bytes, Version::Lite05), Ok(Some(wish(9, Some(2), None))));
    assert_eq!(update(&mut bytes, Version::Lite05), Ok(None));
    bytes.extend_from_slice(&[9, 0, 3]);
    assert_eq!(update(&mut bytes, Version::Lite05), Ok(Some(wish(9, None, Some(2)))));
    assert!(bytes.is_empty());
    bytes.extend_from_slice(&[6, 100, 9, 2, 0, 0, 0]);
    assert_eq!(update(&mut bytes, Version::Lite06), Ok(Some(wish(9, Some(2), None))));
    for malformed in [&[4, 100, 9, 2, 0][..], &[7, 100, 9, 2, 0, 0, 0, 0], &[0x80, 0x10, 0, 0]] {
        assert_eq!(update(&mut BytesMut::from(malformed), Version::Lite06), Err(Malformed));
    }
}

#[test]
fn med_70_integers_of_all_sizes_are_written_as_they_are_read() {
    for value in [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, (1 << 62) - 1] {
        let mut bytes = BytesMut::new();
        put(&mut bytes, value);
        let mut parser = Parser(&bytes);
        assert_eq!((parser.integer(), parser.0), (Some(value), &[][..]));
    }
}

#[test]
fn med_70_replies_and_headers_have_the_form_of_their_version() {
    assert_eq!(start(7)[..], [0, 1, 7]);
    assert_eq!(end(300)[..], [1, 2, 0x41, 0x2c]);
    assert_eq!(group(Version::Lite05, 9, 64)[..], [0, 3, 9, 0x40, 0x40]);
    assert_eq!(group(Version::Lite06, 9, 64)[..], [0, 4, 9, 0x40, 0x40, 0]);
    assert_eq!(datagram(9, 64, 5, b"ab")[..], [9, 0x40, 0x40, 5, b'a', b'b']);
}

#[test]
fn med_70_a_frame_has_the_difference_of_its_time_and_its_size() {
    let whole = |piece: Piece| piece.bytes.concat();
    assert_eq!(whole(Piece::frame(5, 0, Bytes::from_static(b"ab"))), [10, 2, b'a', b'b']);
    assert_eq!(whole(Piece::frame(5, 8, Bytes::new())), [5, 0]);
    for size in [MAX_COPIED, MAX_COPIED + 1] {
        let piece = Piece::frame(5, 4, vec![7; size].into());
        assert_eq!((piece.payload, piece.len()), (size, size + 5));
        assert_eq!(piece.clone().after(5).bytes.concat(), vec![7; size]);
        assert_eq!(whole(piece.clone().after(2)), whole(piece)[2..]);
    }
    let begun = [Piece::first(5, 4, 3, Bytes::from_static(b"a")), Piece::more(Bytes::from_static(b"bc"))];
    assert_eq!(begun.map(whole).concat(), whole(Piece::frame(5, 4, Bytes::from_static(b"abc"))));
}

#[test]
fn med_73_a_frame_that_one_watcher_lacks_is_not_copied_for_it() {
    let payload = Bytes::from(vec![7; 4000]);
    let piece = Piece::frame_for_one(5, 4, payload.clone());
    assert_eq!(piece.bytes[1].as_ptr(), payload.as_ptr());
    assert_eq!(piece.bytes.concat(), Piece::frame(5, 4, payload).bytes.concat());
}
