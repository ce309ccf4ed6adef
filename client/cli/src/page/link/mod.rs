//! A connection with another visitor about one page: a task that carries messages.
//!
//! | module | content |
//! |---|---|
//! | [`direct`] | a data channel of WebRTC |
//! | [`local`] | the addresses of this machine, and its addresses as a STUN server sees them |
//! | [`pipe`] | a topic of the stream relay, where no path is found |
pub mod direct;
mod local;
pub mod pipe;

use super::swarm::PeerId;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Bytes;

/// The capacity of the queue of commands. A connection whose queue is full is closed: the peer receives nothing.
pub const COMMANDS: usize = 1024;
/// The largest message: larger than a chunk with its number, and than a manifest.
pub const MAX_MESSAGE: u32 = 524_288;

/// How messages travel; `Relay` is a pipe on the stream relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "as they say")]
pub enum Path {
    Connecting,
    Direct,
    Turn,
    Relay,
}

/// A command to the task.
#[derive(Debug)]
pub enum LinkCommand {
    /// The other visitor's answer to the offer.
    Answer(String),
    /// A candidate of the other visitor.
    Candidate(String),
    /// Sends a text message.
    Text(String),
    /// Sends a chunk with its number, and reports [`LinkEvent::ChunkSent`].
    Chunk(Vec<u8>),
    /// Closes the connection after all messages before it are sent.
    Close,
}

/// An event of the task.
#[derive(Debug)]
pub enum LinkEvent {
    /// The local description: an offer or an answer.
    Description(String),
    /// A local candidate, and the `mid` of its section of the description.
    Candidate(String, Option<String>),
    /// The connection is open.
    Open(Path),
    /// Messages take another path.
    PathChanged(Path),
    /// A text message of the peer.
    Text(String),
    /// A binary message of the peer.
    Binary(Bytes),
    /// A chunk is sent.
    ChunkSent,
    /// The connection is closed, and why.
    Closed(String),
}

/// Sends the events of one connection in order. A full channel stops the connection.
#[derive(Clone)]
pub struct EventSender {
    /// The connection.
    pub id: PeerId,
    /// The channel of the visitor's task.
    pub to: mpsc::Sender<(PeerId, LinkEvent)>,
}

impl EventSender {
    /// Waits for capacity. Returns false where the receiver is dropped.
    pub async fn send(&self, event: LinkEvent) -> bool {
        self.to.send((self.id, event)).await.is_ok()
    }
}
