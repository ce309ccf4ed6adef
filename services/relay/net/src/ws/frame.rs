//! The header of a frame: parsing those of clients, writing those of the relay. RFC 6455 section 5.2.
use crate::codes::Code;
use std::ops::Range;

/// The kind of a message, which is the same for publisher and readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// Binary data.
    Binary,
}

/// The opcodes of RFC 6455 section 11.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the RFC")]
pub enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    /// Whether this is close, ping or pong, which may arrive between the fragments of a message.
    pub const fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

impl From<Kind> for Opcode {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Text => Opcode::Text,
            Kind::Binary => Opcode::Binary,
        }
    }
}

/// The header of a frame that a client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether it is the last fragment of its message.
    pub fin: bool,
    /// The opcode.
    pub opcode: Opcode,
    /// The mask with which the payload is XORed.
    pub mask: [u8; 4],
    /// The claimed length of the payload in bytes.
    pub length: u64,
}

/// The longest header of a client: two bytes, eight of length, four of mask.
pub(crate) const MAX_CLIENT_HEADER: usize = 14;
/// The longest header of the relay, which sends no mask.
pub(crate) const MAX_SERVER_HEADER: usize = 10;
/// The longest payload of a control frame.
pub(crate) const MAX_CONTROL: usize = 125;

/// A protocol violation of a client, which ends its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A reserved bit is set, although no extension was negotiated.
    #[error("a reserved bit is set")]
    ReservedBits,
    /// The opcode is not in the RFC.
    #[error("unknown opcode")]
    UnknownOpcode,
    /// The frame is not masked.
    #[error("the frame is not masked")]
    Unmasked,
    /// A control frame is fragmented.
    #[error("a control frame is fragmented")]
    FragmentedControl,
    /// A control frame is longer than 125 bytes.
    #[error("a control frame is too long")]
    LongControl,
    /// The highest bit of the length is set.
    #[error("the length is negative")]
    NegativeLength,
    /// A continuation frame without a message.
    #[error("a continuation without a beginning")]
    UnexpectedContinuation,
    /// A message begins before the previous one is complete.
    #[error("a message begins within another")]
    InterleavedMessage,
    /// The close code is forbidden or truncated.
    #[error("the close frame is malformed")]
    BadClose,
    /// The text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// The message exceeds the limit of bytes.
    #[error("the message is too large")]
    TooLarge,
    /// The message exceeds the limit of fragments.
    #[error("the message has too many fragments")]
    TooManyFragments,
}

impl Violation {
    /// The code with which the socket closes.
    pub const fn code(self) -> Code {
        match self {
            Violation::NotUtf8 => Code::BadEncoding,
            Violation::TooLarge | Violation::TooManyFragments => Code::MessageTooLarge,
            _ => Code::BadFrame,
        }
    }
}

/// Parses the header of a client from the start of `input`, and returns it with its size in bytes. `None`: it is incomplete.
/// A length that is encoded in more bytes than necessary is accepted, because the relay frames every message itself.
pub(crate) fn parse_header(input: &[u8]) -> Result<Option<(Header, usize)>, Violation> {
    let &[first, second, ref rest @ ..] = input else { return Ok(None) };
    if first & 0x70 != 0 {
        return Err(Violation::ReservedBits);
    }
    let opcode = match first & 0x0f {
        0 => Opcode::Continuation,
        1 => Opcode::Text,
        2 => Opcode::Binary,
        8 => Opcode::Close,
        9 => Opcode::Ping,
        10 => Opcode::Pong,
        _ => return Err(Violation::UnknownOpcode),
    };
    if second & 0x80 == 0 {
        return Err(Violation::Unmasked);
    }
    let fin = first & 0x80 != 0;
    let short = second & 0x7f;
    if opcode.is_control() {
        if !fin {
            return Err(Violation::FragmentedControl);
        }
        if usize::from(short) > MAX_CONTROL {
            return Err(Violation::LongControl);
        }
    }
    let (length, rest) = match short {
        126 => match rest.split_first_chunk::<2>() {
            Some((bytes, rest)) => (u64::from(u16::from_be_bytes(*bytes)), rest),
            None => return Ok(None),
        },
        127 => match rest.split_first_chunk::<8>() {
            Some((bytes, rest)) => (u64::from_be_bytes(*bytes), rest),
            None => return Ok(None),
        },
        short => (u64::from(short), rest),
    };
    if length >> 63 != 0 {
        return Err(Violation::NegativeLength);
    }
    let Some((mask, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
    Ok(Some((Header { fin, opcode, mask: *mask, length }, input.len() - rest.len())))
}

/// A header that the relay sends: unmasked and final.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerHeader {
    bytes: [u8; MAX_SERVER_HEADER],
    size: usize,
}

impl ServerHeader {
    /// The header of a payload of `length` bytes.
    #[allow(clippy::cast_possible_truncation, reason = "each arm of the match bounds the length")]
    pub fn new(opcode: Opcode, length: usize) -> Self {
        let mut bytes = [0; MAX_SERVER_HEADER];
        bytes[0] = 0x80 | opcode as u8;
        let size = match length {
            0..=125 => {
                bytes[1] = length as u8;
                2
            }
            126..=0xffff => {
                bytes[1] = 126;
                bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
                4
            }
            _ => {
                bytes[1] = 127;
                bytes[2..].copy_from_slice(&(length as u64).to_be_bytes());
                10
            }
        };
        Self { bytes, size }
    }

    /// The encoded header.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

/// Parses a frame of a relay from the start of `input`, and returns its kind and the range of its payload. `None`: the frame is incomplete, or
/// not encoded as this relay encodes it.
pub fn read_frame(input: &[u8]) -> Option<(Kind, Range<usize>)> {
    let &[first, short, ref rest @ ..] = input else { return None };
    let kind = match first {
        0x81 => Kind::Text,
        0x82 => Kind::Binary,
        _ => return None,
    };
    let length = match short {
        126 => u64::from(u16::from_be_bytes(*rest.first_chunk()?)),
        127 => u64::from_be_bytes(*rest.first_chunk()?),
        short => u64::from(short),
    };
    let length = usize::try_from(length).ok()?;
    let header = ServerHeader::new(Opcode::from(kind), length);
    let start = header.as_bytes().len();
    let end = start.checked_add(length)?;
    (end <= input.len() && input.starts_with(header.as_bytes())).then_some((kind, start..end))
}

/// The length of the payload in a frame of a relay of `total` bytes.
pub const fn payload_of(total: usize) -> usize {
    match total {
        0..=127 => total.saturating_sub(2),
        128..=0x1_0003 => total - 4,
        _ => total - 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_14_and_25_an_invalid_header_is_refused() {
        let cases: &[(&[u8], Violation)] = &[
            (&[0xc2, 0x80], Violation::ReservedBits), // STR-25: compression was not negotiated.
            (&[0x83, 0x80], Violation::UnknownOpcode),
            (&[0x8b, 0x80], Violation::UnknownOpcode),
            (&[0x82, 0x05], Violation::Unmasked),
            (&[0x09, 0x80], Violation::FragmentedControl),
            (&[0x89, 0xfe], Violation::LongControl),
            (&[0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0], Violation::NegativeLength),
        ];
        for (bytes, violation) in cases {
            assert_eq!(parse_header(bytes), Err(*violation), "{bytes:x?}");
        }
    }

    #[test]
    fn a_header_is_parsed_with_each_encoding_of_the_length() {
        let mask = [1, 2, 3, 4];
        let cases: &[(&[u8], u64)] = &[
            (&[0x82, 0x80 | 5, 1, 2, 3, 4], 5),
            (&[0x82, 0xfe, 1, 0, 1, 2, 3, 4], 256),
            (&[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4], 65_536),
        ];
        for (bytes, length) in cases {
            let header = Header { fin: true, opcode: Opcode::Binary, mask, length: *length };
            assert_eq!(parse_header(bytes), Ok(Some((header, bytes.len()))));
            for end in 0..bytes.len() {
                assert_eq!(parse_header(&bytes[..end]), Ok(None));
            }
        }
    }

    #[test]
    fn the_payload_length_follows_from_the_frame_length() {
        for length in [0, 1, 125, 126, 127, 0xffff, 0x1_0000, 1 << 20] {
            let header = ServerHeader::new(Opcode::Binary, length);
            assert_eq!(payload_of(header.as_bytes().len() + length), length);
        }
    }
}
