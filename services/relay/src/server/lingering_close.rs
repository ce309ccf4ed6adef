//! Closes a WebSocket that is not a client of a topic.
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The wait for a peer to accept the last bytes. A peer that takes longer for a few bytes does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the input of the peer is read and discarded.
const LINGER: Duration = Duration::from_secs(1);

/// Sends `bytes`, which end with a close frame, and ends the stream. Closing a socket with unread bytes would reset the connection and
/// discard what was sent, so further input is read for a moment.
pub async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = tokio::time::timeout(WRITE_TIMEOUT, stream.write_all(bytes)).await;
    let _ = stream.shutdown().await;
    let drained = async { while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {} };
    let _ = tokio::time::timeout(LINGER, drained).await;
}
