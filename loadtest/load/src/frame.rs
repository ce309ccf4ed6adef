//! WebSocket frames, RFC 6455 section 5.2: reads those of a server without a copy, writes those of a client with a mask.

/// The opcode of a binary message. RFC 6455 section 11.8.
pub const BINARY: u8 = 2;
/// The opcode of a close frame.
pub const CLOSE: u8 = 8;
/// The opcode of a ping, which the peer answers with a pong.
pub const PING: u8 = 9;
/// The opcode of a pong.
pub const PONG: u8 = 10;

/// The header of a frame that a server sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether it is the last frame of its message.
    pub fin: bool,
    /// The type of the frame.
    pub opcode: u8,
    /// The size of the header, in bytes.
    pub size: usize,
    /// The size of the payload, in bytes.
    pub length: usize,
}

/// The longest header of a server: a server sends no mask.
pub const MAX_SERVER_HEADER_BYTES: usize = 10;

/// Parses the header of a server's frame at the start of `input`. `None`: it is not complete yet.
pub fn parse(input: &[u8]) -> Option<Header> {
    let &[first, second, ref rest @ ..] = input else { return None };
    let (size, length) = match second & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes(*rest.first_chunk()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(*rest.first_chunk()?)).unwrap_or(usize::MAX)),
        short => (2, usize::from(short)),
    };
    Some(Header { fin: first & 0x80 != 0, opcode: first & 0x0f, size, length })
}

/// One mask for all frames: it costs the server as much as a random one, and no proxy needs protection here.
const MASK: [u8; 4] = [0x9a, 0x3f, 0x51, 0xc7];

/// Appends a frame to `out`: `fill` writes `length` bytes of payload, which are masked in place.
#[allow(clippy::cast_possible_truncation, reason = "each arm of the match limits the length")]
pub fn append(out: &mut Vec<u8>, opcode: u8, length: usize, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(0x80 | opcode);
    match length {
        0..=125 => out.push(0x80 | length as u8),
        126..=0xffff => {
            out.push(0x80 | 126);
            out.extend((length as u16).to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend((length as u64).to_be_bytes());
        }
    }
    out.extend(MASK);
    let start = out.len();
    fill(out);
    debug_assert_eq!(out.len() - start, length);
    mask(&mut out[start..]);
}

fn mask(bytes: &mut [u8]) {
    let word = u32::from_ne_bytes(MASK);
    let wide = u64::from(word) << 32 | u64::from(word);
    let (chunks, rest) = bytes.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(MASK.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_server_is_parsed_once_it_is_complete() {
        let cases: &[(&[u8], usize, usize)] =
            &[(&[0x82, 5], 2, 5), (&[0x82, 126, 1, 0], 4, 256), (&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0], 10, 65_536)];
        for &(bytes, size, length) in cases {
            assert_eq!(parse(bytes), Some(Header { fin: true, opcode: BINARY, size, length }));
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes[..end]), None);
            }
        }
    }

    #[test]
    fn the_frame_of_a_client_is_masked_to_its_last_byte() {
        for length in [0, 1, 7, 8, 125, 126, 70_001] {
            let payload: Vec<u8> = (0..=255).cycle().take(length).collect();
            let mut frame = Vec::new();
            append(&mut frame, BINARY, length, |out| out.extend(&payload));
            let masked = &frame[frame.len() - length..];
            let plain: Vec<u8> = masked.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
            assert_eq!(plain, payload);
            assert_eq!(frame[frame.len() - length - 4..][..4], MASK);
        }
    }
}
