//! Frames of clients become frames of a server where they lie: the mask is taken off, and the header is shorter by its four bytes.
use std::ops::Range;

/// What `turn` made of the bytes that came.
#[derive(Debug, PartialEq, Eq)]
pub struct Turned {
    /// Where the frames to be sent lie, back to back.
    pub outgoing: Range<usize>,
    /// Bytes of whole frames; what follows them is the start of the next.
    pub consumed: usize,
}

/// Turns every whole data frame in `bytes`; control frames are left out. The first is not moved, the others close up behind it.
pub fn turn(bytes: &mut [u8]) -> Turned {
    let mut turned = Turned { outgoing: 0..0, consumed: 0 };
    while let Some((header, length)) = sizes(&bytes[turned.consumed..]) {
        let start = turned.consumed;
        let payload = start + header..start + header + length;
        if payload.end > bytes.len() {
            break;
        }
        turned.consumed = payload.end;
        if bytes[start] & 0x0f >= CONTROL {
            continue;
        }
        let head = start..payload.start - MASK;
        let mask = [bytes[head.end], bytes[head.end + 1], bytes[head.end + 2], bytes[head.end + 3]];
        unmask(&mut bytes[payload.clone()], mask);
        if turned.outgoing.is_empty() {
            turned.outgoing = start + MASK..start + MASK;
        }
        let to = turned.outgoing.end;
        turned.outgoing.end += head.len() + length;
        bytes.copy_within(head.clone(), to);
        bytes[to + 1] &= !MASKED;
        if to + head.len() != payload.start {
            bytes.copy_within(payload, to + head.len());
        }
    }
    turned
}

const CONTROL: u8 = 8;
const MASKED: u8 = 0x80;
const MASK: usize = 4;

/// The header's size, mask included, and the payload's. `None` while the header has not all come.
fn sizes(bytes: &[u8]) -> Option<(usize, usize)> {
    match bytes.get(1)? & !MASKED {
        126 => Some((4 + MASK, usize::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?)))),
        127 => Some((10 + MASK, usize::try_from(u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?)).ok()?)),
        short => Some((2 + MASK, usize::from(short))),
    }
}

fn unmask(payload: &mut [u8], mask: [u8; MASK]) {
    let word = u32::from_ne_bytes(mask);
    let (words, rest) = payload.as_chunks_mut::<8>();
    for eight in words {
        *eight = (u64::from_ne_bytes(*eight) ^ (u64::from(word) << 32 | u64::from(word))).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(opcode: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
        let masked = if mask.is_some() { MASKED } else { 0 };
        let mut bytes = vec![0x80 | opcode];
        match payload.len() {
            short @ ..126 => bytes.push(masked | u8::try_from(short).unwrap()),
            middle @ ..0x1_0000 => {
                bytes.push(masked | 126);
                bytes.extend(u16::try_from(middle).unwrap().to_be_bytes());
            }
            long => {
                bytes.push(masked | 127);
                bytes.extend((long as u64).to_be_bytes());
            }
        }
        bytes.extend(mask.into_iter().flatten());
        let key = mask.unwrap_or_default();
        bytes.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ key[at % 4]));
        bytes
    }

    #[test]
    fn frames_of_every_length_are_turned_where_they_lie_and_a_part_of_one_is_left() {
        let payloads: Vec<Vec<u8>> = [3, 125, 126, 4583, 0xffff, 0x1_0000]
            .iter()
            .map(|&size| vec![size.to_string().as_bytes()[0]; size])
            .collect();
        let client: Vec<u8> = payloads.iter().flat_map(|payload| frame(2, payload, Some([1, 2, 3, 250]))).collect();
        let server: Vec<u8> = payloads.iter().flat_map(|payload| frame(2, payload, None)).collect();
        let mut bytes = client.clone();
        let Turned { outgoing, consumed } = turn(&mut bytes);
        assert_eq!((&bytes[outgoing], consumed), (&*server, client.len()));
        let mut bytes = client[..client.len() - 1].to_vec();
        let Turned { outgoing, consumed } = turn(&mut bytes);
        assert_eq!(outgoing.len(), server.len() - 0x1_0000 - 10);
        assert_eq!(consumed, client.len() - 0x1_0000 - 14);
    }

    #[test]
    fn control_frames_go_nowhere() {
        let mask = Some([9, 8, 7, 6]);
        let mut bytes = [frame(9, b"ping", mask), frame(1, b"text", mask), frame(8, b"", mask)].concat();
        let Turned { outgoing, consumed } = turn(&mut bytes);
        assert_eq!((&bytes[outgoing], consumed), (&*frame(1, b"text", None), bytes.len()));
    }
}
