//! Close frames: RFC 6455 sections 5.5.1 and 7.4.
use super::frame::{MAX_CONTROL, Opcode, ServerHeader, Violation};
use crate::codes::Code;
use bytes::{BufMut, Bytes, BytesMut};

/// A close frame with the close code of this code, and its name as the reason.
pub fn of_code(code: Code) -> Bytes {
    frame(Some(code.close()), code.name())
}

/// The answer to a close frame of a peer: the same close code, if there was one.
pub fn answer(code: Option<u16>) -> Bytes {
    frame(code, "")
}

/// A control frame with `payload`, truncated to 125 bytes.
pub fn control(opcode: Opcode, payload: &[u8]) -> Bytes {
    let payload = &payload[..payload.len().min(MAX_CONTROL)];
    let mut bytes = BytesMut::with_capacity(2 + payload.len());
    bytes.put_slice(ServerHeader::new(opcode, payload.len()).as_bytes());
    bytes.put_slice(payload);
    bytes.freeze()
}

/// Parses the close code of a peer; `None` for an empty payload.
pub fn parse(payload: &[u8]) -> Result<Option<u16>, Violation> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return if payload.is_empty() { Ok(None) } else { Err(Violation::BadClose) };
    };
    let code = u16::from_be_bytes(*code);
    let sendable = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    if !sendable || std::str::from_utf8(reason).is_err() {
        return Err(Violation::BadClose);
    }
    Ok(Some(code))
}

fn frame(code: Option<u16>, reason: &str) -> Bytes {
    let mut payload = BytesMut::new();
    if let Some(code) = code {
        payload.put_u16(code);
        payload.put_slice(reason.as_bytes());
    }
    control(Opcode::Close, &payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_14_a_close_frame_is_validated() {
        assert_eq!(parse(&[]), Ok(None));
        assert_eq!(parse(&[0x03, 0xe8, b'b', b'y', b'e']), Ok(Some(1000)));
        for bad in [&[3u8][..], &[0x03, 0xed], &[0, 0], &[0x03, 0xe8, 0xff]] {
            assert_eq!(parse(bad), Err(Violation::BadClose), "{bad:x?}");
        }
    }

    #[test]
    fn a_close_frame_contains_code_and_name() {
        let bytes = of_code(Code::Goaway);
        assert_eq!(&bytes[..4], &[0x88, 8, 0x03, 0xf4]);
        assert_eq!(&bytes[4..], b"GOAWAY");
    }
}
