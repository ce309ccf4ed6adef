//! A client that sends raw bytes and frames.
use super::pod::{DEADLINE, Pod};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub struct Raw(pub TcpStream);

pub const UPGRADE: &str = "Host: relay\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

/// Encodes a frame as a client does.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..=125 => bytes.push(0x80 | u8::try_from(short).unwrap()),
        middle @ 126..=0xffff => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(middle).unwrap().to_be_bytes());
        }
        long => {
            bytes.push(0x80 | 127);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]));
    bytes
}

impl Raw {
    pub async fn connect(pod: &Pod) -> Self {
        Self(pod.tcp().await)
    }

    /// Upgrades on a path.
    pub async fn join(pod: &Pod, path: &str) -> Self {
        let mut raw = Self::connect(pod).await;
        raw.write(format!("GET {path} HTTP/1.1\r\n{UPGRADE}\r\n").as_bytes()).await;
        let head = raw.head().await;
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        raw
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        timeout(DEADLINE, self.0.write_all(bytes)).await.unwrap().unwrap();
    }

    /// Returns the head of the response, up to the empty line.
    pub async fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match timeout(DEADLINE, self.0.read_u8()).await.expect("no answer") {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        String::from_utf8(head).unwrap()
    }

    /// Reads until the relay ends the connection.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = timeout(DEADLINE, self.0.read_to_end(&mut rest)).await.expect("not ended");
        rest
    }

    /// Returns the close code at the end of the stream, after small frames.
    pub async fn end(&mut self) -> u16 {
        let rest = self.rest().await;
        let mut at = 0;
        while let Some(&[first, length]) = rest.get(at..at + 2) {
            if first == 0x88 {
                return u16::from_be_bytes([rest[at + 2], rest[at + 3]]);
            }
            at += 2 + usize::from(length);
        }
        1006
    }
}

/// Sends one request and returns the status, the head and the body.
pub async fn request(pod: &Pod, head: &str) -> (u16, String, String) {
    let mut raw = Raw::connect(pod).await;
    raw.write(head.as_bytes()).await;
    let head = raw.head().await;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let body = String::from_utf8(raw.rest().await).unwrap();
    (status, head, body)
}

pub async fn get(pod: &Pod, path: &str) -> (u16, String, String) {
    request(pod, &format!("GET {path} HTTP/1.1\r\nHost: relay\r\n\r\n")).await
}
