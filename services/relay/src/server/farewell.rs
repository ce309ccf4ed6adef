//! The last words on a WebSocket that never was a client of a topic.
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A peer that takes a few bytes no faster is not reading.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends `bytes`, which end with a close frame, and ends the stream. Ending with unread bytes would reset the connection and take
/// the last words with it, so what the peer still sends is read for a moment.
pub async fn say(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = tokio::time::timeout(PATIENCE, stream.write_all(bytes)).await;
    let _ = stream.shutdown().await;
    let drained = async { while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {} };
    let _ = tokio::time::timeout(Duration::from_secs(1), drained).await;
}
