//! The least of RFC 6455 section 4.2 that opens a socket.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A request head that is complete.
pub struct Upgrade {
    /// The path it asks for.
    pub path: String,
    /// What to answer.
    pub answer: String,
    /// The bytes of the head; frames may follow.
    pub size: usize,
}

/// Reads a request head. `None` while it has not all come.
pub fn read(bytes: &[u8]) -> Option<Upgrade> {
    let size = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..size]);
    let path = head.split(' ').nth(1)?.to_owned();
    let key = head.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case(KEY))?.1;
    let mut hash = sha1_smol::Sha1::new();
    hash.update(key.trim().as_bytes());
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = STANDARD.encode(hash.digest().bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    Some(Upgrade { path, answer, size })
}

const KEY: &str = "sec-websocket-key";
