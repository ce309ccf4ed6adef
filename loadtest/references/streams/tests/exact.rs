//! The references relay correctly: whole messages, in order, to all readers of the topic and no other client.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use futures_util::{SinkExt, StreamExt};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

const DEADLINE: Duration = Duration::from_secs(20);

struct Reference {
    child: Child,
    port: u16,
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Below the ports that Linux gives to outgoing connections: a client that connects to one of those before there is a listener can connect to itself.
fn free_port() -> u16 {
    loop {
        let random = RandomState::new().build_hasher().finish();
        let port = 18_000 + u16::try_from(random % 14_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Reference {
    fn start(program: &str) -> Self {
        let port = free_port();
        Self { child: Command::new(program).arg(port.to_string()).spawn().unwrap(), port }
    }

    async fn join(&self, path: &str) -> WebSocketStream<TcpStream> {
        let connect = async {
            loop {
                if let Ok(stream) = TcpStream::connect(("127.0.0.1", self.port)).await {
                    // One that is just starting, or another process that had the port, may reset it.
                    if let Ok((socket, _)) = client_async(format!("ws://127.0.0.1:{}{path}", self.port), stream).await {
                        return socket;
                    }
                }
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(DEADLINE, connect).await.expect("it does not listen")
    }
}

/// One of every length of header, one that no read takes at once, and text.
fn messages() -> Vec<Message> {
    let binary = [0, 1, 125, 126, 4583, 0xffff, 0x1_0000, 3_000_000].map(|size| Message::binary(vec![7; size]));
    binary.into_iter().chain([Message::text("text"), Message::text("")]).collect()
}

async fn hears(mut reader: WebSocketStream<TcpStream>, expected: &[Message]) {
    for message in expected {
        let received = timeout(DEADLINE, reader.next()).await.expect("nothing came").unwrap().unwrap();
        assert!(received == *message, "{} bytes came for {}", received.len(), message.len());
    }
}

async fn relays(program: &str) {
    let reference = Reference::start(program);
    let readers = [reference.join("/out/a").await, reference.join("/out/a").await];
    let stranger = reference.join("/out/b").await;
    let (mut first, second) = (reference.join("/both").await, reference.join("/both").await);
    let (mut publisher, mut other) = (reference.join("/in/a").await, reference.join("/in/b").await);
    // Some libraries answer the handshake before the socket is on its topic.
    sleep(Duration::from_millis(100)).await;
    for message in messages() {
        publisher.feed(message.clone()).await.unwrap();
        first.feed(message).await.unwrap();
    }
    publisher.flush().await.unwrap();
    first.flush().await.unwrap();
    other.send(Message::text("for b alone")).await.unwrap();
    for reader in readers {
        hears(reader, &messages()).await;
    }
    hears(second, &messages()).await;
    hears(stranger, &[Message::text("for b alone")]).await;
    let echo = timeout(Duration::from_millis(50), first.next()).await;
    assert!(echo.is_err(), "a publisher hears itself");
}

#[tokio::test]
async fn the_floor_relays_every_message_whole_and_in_order() {
    relays(env!("CARGO_BIN_EXE_epoll-floor")).await;
}

#[tokio::test]
async fn the_fanout_relays_every_message_whole_and_in_order() {
    relays(env!("CARGO_BIN_EXE_tungstenite-fanout")).await;
}
