//! The swarm of one page: its connected peers, the chunks requested from them and the chunks sent to them (PAGE-16, PAGE-17). It has no
//! sockets and no clock: the caller passes in messages and times, and takes out actions.
//!
//! | module | content |
//! |---|---|
//! | [`peer`] | the state of one peer |
//! | [`availability`] | handshakes and bitfields: the manifest, and which chunks each side has |
//! | [`download`] | requests for missing chunks, and the chunks that arrive |
//! | [`upload`] | chunks that peers request |
mod availability;
mod download;
mod peer;
mod upload;

use super::address::Address;
use super::chunk_store::ChunkStore;
use super::message::{PeerMessage, number};
use peer::{ANSWER_TIMEOUT, Peer};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// Identifies the connection to a peer within this process.
pub type PeerId = u64;

/// A peer is disconnected when neither side has requested anything for this long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// What the caller has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this message.
    SendMessage(PeerId, PeerMessage),
    /// Send this chunk, and call [`Swarm::chunk_sent`] afterwards.
    SendChunk(PeerId, u32),
    /// Close the connection.
    Disconnect(PeerId, DisconnectReason),
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// Neither side needs the other any more.
    NotNeeded,
    /// The peer has none of the missing chunks.
    Idle,
    /// The peer sent no handshake in time.
    NoHandshake,
    /// The peer leaves requests unanswered. It may only be slow.
    Stalled,
    /// The peer violated the protocol. It is not contacted again.
    Misbehaved(&'static str),
}

/// Why a page cannot be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageError {
    /// It has this many bytes, more than `page.bytes`.
    TooLarge(u64),
    /// Its manifest has the right hash but is invalid.
    Malformed(&'static str),
}

/// One page and its peers.
pub struct Swarm {
    page: Address,
    max_bytes: u64,
    /// The chunks that are present, once the manifest is known.
    pub store: Option<ChunkStore>,
    /// Why the page cannot be fetched.
    pub error: Option<PageError>,
    /// Bytes of received chunks.
    pub received: u64,
    /// Bytes of sent chunks.
    pub sent: u64,
    peers: BTreeMap<PeerId, Peer>,
    actions: VecDeque<Action>,
    rng: fastrand::Rng,
}

impl Swarm {
    /// A page of which no chunk is present. A manifest of more than `max_bytes` is an error.
    pub fn new(page: Address, max_bytes: u64, seed: u64) -> Self {
        Self {
            page,
            max_bytes,
            store: None,
            error: None,
            received: 0,
            sent: 0,
            peers: BTreeMap::new(),
            actions: VecDeque::new(),
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// Takes the next action out.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The state of a connected peer.
    pub fn peer(&self, id: PeerId) -> Option<&Peer> {
        self.peers.get(&id)
    }

    /// Whether all chunks are present.
    pub fn is_complete(&self) -> bool {
        self.store.as_ref().is_some_and(ChunkStore::is_complete)
    }

    /// Adds a peer whose connection is open, and sends the handshake.
    pub fn add_peer(&mut self, id: PeerId, now: Instant) {
        self.peers.insert(id, Peer::new(now));
        self.send_handshake(id);
    }

    /// Removes a peer whose connection is closed.
    pub fn remove_peer(&mut self, id: PeerId, now: Instant) {
        if self.peers.remove(&id).is_some() {
            self.request_missing(now);
        }
    }

    /// Handles a message of a peer.
    pub fn on_message(&mut self, id: PeerId, message: PeerMessage, now: Instant) {
        if !self.peers.contains_key(&id) {
            return;
        }
        match message {
            PeerMessage::Handshake(handshake) => {
                self.on_handshake(id, Address::from(&handshake.page), handshake.manifest.map(String::from), now);
            }
            PeerMessage::Bitfield(bitfield) => self.on_bitfield(id, &bitfield.chunks),
            PeerMessage::Have(have) => self.on_have(id, number(have.chunk)),
            PeerMessage::Request(request) => self.on_request(id, number(request.chunk), now),
            PeerMessage::Reject(reject) => self.on_reject(id, number(reject.chunk)),
            PeerMessage::Bye => self.disconnect(id, DisconnectReason::NotNeeded),
        }
        self.request_missing(now);
    }

    /// Disconnects a peer.
    pub fn disconnect(&mut self, id: PeerId, reason: DisconnectReason) {
        if self.peers.remove(&id).is_some() {
            if !matches!(reason, DisconnectReason::Misbehaved(_)) {
                self.actions.push_back(Action::SendMessage(id, PeerMessage::Bye));
            }
            self.actions.push_back(Action::Disconnect(id, reason));
        }
    }

    /// Handles timeouts. The caller calls it at short intervals.
    pub fn tick(&mut self, now: Instant) {
        let since = |then: Instant| now.saturating_duration_since(then);
        for id in self.ids() {
            let Some(peer) = self.peers.get_mut(&id) else { continue };
            if !peer.handshake_received && since(peer.connected_at) >= ANSWER_TIMEOUT {
                self.disconnect(id, DisconnectReason::NoHandshake);
            } else if peer.expire_requests(now) {
                // Requests that expire together count as one failure: the whole path may be slow.
                self.add_strike(id);
            } else if peer.has_work() {
                peer.last_active = now;
            } else if since(peer.last_active) >= IDLE_TIMEOUT {
                self.disconnect(id, DisconnectReason::Idle);
            }
        }
        self.request_missing(now);
    }

    /// Gives the page up.
    fn fail(&mut self, error: PageError) {
        self.error = Some(error);
        for id in self.ids() {
            self.disconnect(id, DisconnectReason::NotNeeded);
        }
    }

    fn ids(&self) -> Vec<PeerId> {
        self.peers.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests;
