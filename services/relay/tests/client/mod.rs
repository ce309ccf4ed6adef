//! A client of topics that uses another WebSocket implementation.
#![allow(dead_code, reason = "each test uses some of it")]
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// The longest wait for an expected event.
pub const DEADLINE: Duration = Duration::from_secs(30);

pub struct Client {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The subprotocol that the relay selected.
    pub protocol: Option<String>,
}

impl Client {
    /// Connects, and waits until the socket is open.
    pub async fn open(url: String) -> Self {
        let (socket, _) = timeout(DEADLINE, tokio_tungstenite::connect_async(url)).await.unwrap().unwrap();
        Self { socket, protocol: None }
    }

    pub async fn send_text(&mut self, text: &str) {
        self.send(Message::text(text)).await;
    }

    pub async fn send(&mut self, message: Message) {
        timeout(DEADLINE, self.socket.send(message)).await.unwrap().unwrap();
    }

    /// Returns the next text or binary message.
    pub async fn receive(&mut self) -> Message {
        loop {
            match timeout(DEADLINE, self.socket.next())
                .await
                .expect("no message arrived")
                .expect("the socket ended")
                .unwrap()
            {
                message @ (Message::Text(_) | Message::Binary(_)) => return message,
                Message::Close(frame) => panic!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    pub async fn receive_text(&mut self) -> String {
        self.receive().await.into_text().unwrap().to_string()
    }

    /// Returns the code with which the relay closes the socket. Messages before it are ignored.
    pub async fn end(&mut self) -> u16 {
        loop {
            match timeout(DEADLINE, self.socket.next()).await.expect("not closed") {
                Some(Ok(Message::Close(frame))) => return frame.map_or(1005, |frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return 1006,
            }
        }
    }
}
