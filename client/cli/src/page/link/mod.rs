//! One connection with another visitor about one page: a task that carries messages.
//!
//! | module | what |
//! |---|---|
//! | [`direct`] | a data channel of WebRTC |
//! | [`local`] | addresses of this machine, and what STUN says they are |
//! | [`pipe`] | a topic of the stream relay, where two cannot connect otherwise |
pub mod direct;
mod local;
pub mod pipe;

use super::swarm::Id;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Bytes;

/// Commands that wait for a connection: over it whoever is there takes nothing, and is left.
pub const WAITING: usize = 1024;
/// What does not fit a chunk and its number, or a manifest, is of nobody honest.
pub const MESSAGE_MAX: u32 = 524_288;

/// How chunks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "as they say")]
pub enum Way {
    Connecting,
    Direct,
    Turn,
    Relay,
}

/// To the task.
#[derive(Debug)]
pub enum Order {
    /// What the other answered to an offer.
    Answer(String),
    /// Where the other may be reached.
    Candidate(String),
    /// To be said.
    Text(String),
    /// A chunk with its number; it is told when it is gone.
    Chunk(Vec<u8>),
    /// Once all before it is gone.
    End,
}

/// From the task.
#[derive(Debug)]
pub enum News {
    /// Our offer, or our answer.
    Description(String),
    /// Where we may be reached, and of which section of the description that is.
    Candidate(String, Option<String>),
    /// Messages go both ways from here on.
    Open(Way),
    /// They go another way.
    Way(Way),
    /// What the other said.
    Text(String),
    /// What the other sent.
    Binary(Bytes),
    /// A chunk is gone.
    Sent,
    /// It is over, and why.
    Ended(String),
}

/// Tells what happens on one connection, one after the other: whoever does not listen stops the sender.
#[derive(Clone)]
pub struct Teller {
    /// Of which.
    pub id: Id,
    /// To whom.
    pub to: mpsc::Sender<(Id, News)>,
}

impl Teller {
    /// Waits until it is heard; false where nobody listens any more.
    pub async fn tell(&self, news: News) -> bool {
        self.to.send((self.id, news)).await.is_ok()
    }
}
