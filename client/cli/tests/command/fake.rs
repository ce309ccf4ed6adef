//! A server that a test controls step by step.
use super::relay::DEADLINE;
use futures_util::{SinkExt, StreamExt};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

pub type Socket = WebSocketStream<TcpStream>;

pub struct Server {
    pub listener: TcpListener,
    /// The last upgrade request.
    pub asked: Arc<Mutex<Option<Request>>>,
}

impl Server {
    pub async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), asked: Arc::default() }
    }

    pub fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.listener.local_addr().unwrap())
    }

    pub async fn tcp(&self) -> TcpStream {
        timeout(DEADLINE, self.listener.accept()).await.expect("no client connected").unwrap().0
    }

    /// Accepts the next WebSocket.
    pub async fn socket(&self) -> Socket {
        let asked = Arc::clone(&self.asked);
        let stream = self.tcp().await;
        #[allow(clippy::result_large_err, reason = "the shape of the library's callback")]
        let keep = move |request: &Request, response: Response| {
            *asked.lock().unwrap() = Some(request.clone());
            Ok(response)
        };
        timeout(DEADLINE, accept_hdr_async(stream, keep)).await.expect("no handshake").unwrap()
    }
}

/// Answers the next HTTP request, and returns its head.
pub async fn answer(server: &Server, status: &str, body: &str) -> String {
    let (mut stream, head) = request(server).await;
    respond(&mut stream, status, body).await;
    head
}

/// The next HTTP request, of which the head has been read.
pub async fn request(server: &Server) -> (TcpStream, String) {
    let mut stream = server.tcp().await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(DEADLINE, stream.read_u8()).await.expect("no request").unwrap());
    }
    (stream, String::from_utf8(head).unwrap())
}

/// Answers a request.
pub async fn respond(stream: &mut TcpStream, status: &str, body: &str) {
    let length = body.len();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await.unwrap();
}

/// Waits until the client answers a ping, so that its side of the handshake is complete.
pub async fn settle(socket: &mut Socket) {
    socket.send(Message::Ping("settled?".into())).await.unwrap();
    while !timeout(DEADLINE, socket.next()).await.expect("no pong").expect("it ended").unwrap().is_pong() {}
}

/// Skips messages. Returns the close code of the client.
pub async fn end(socket: &mut Socket) -> Option<u16> {
    loop {
        if let Message::Close(frame) = timeout(DEADLINE, socket.next()).await.expect("not closed")?.ok()? {
            return frame.map(|frame| frame.code.into());
        }
    }
}
