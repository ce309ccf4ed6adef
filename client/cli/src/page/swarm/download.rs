//! Requests for missing chunks, rarest first, and the chunks that arrive.
use super::{Action, DisconnectReason, PeerId, Swarm};
use crate::page::chunk_store::ChunkStore;
use crate::page::message::request;
use std::time::Duration;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Bytes;

/// The most outstanding requests to one peer.
pub const MAX_WINDOW: usize = 8;
/// A chunk that arrives within this time increases the window of its sender by one.
const FAST_ANSWER: Duration = Duration::from_secs(1);
/// A peer with this many consecutive failures is disconnected.
pub const MAX_STRIKES: u8 = 3;
/// The last chunks are requested from up to this many peers at once, if the first does not answer within `DUPLICATE_AFTER`.
const MAX_DUPLICATES: usize = 2;
const DUPLICATE_AFTER: Duration = Duration::from_millis(500);

/// A missing chunk. Chunks are requested in the order of this type.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    requests: usize,
    holders: usize,
    /// Decides between equally rare chunks, so that readers request different ones.
    random: u32,
    chunk: u32,
    /// Each request is older than `DUPLICATE_AFTER`.
    slow: bool,
}

impl Swarm {
    /// Handles a chunk of a peer.
    pub fn on_chunk(&mut self, id: PeerId, message: &Bytes, now: Instant) {
        let (Some(peer), Some(store)) = (self.peers.get_mut(&id), self.store.as_mut()) else { return };
        let number = message.first_chunk().map(|number| u32::from_be_bytes(*number));
        let Some(chunk) = number.filter(|number| peer.take_due(*number)) else {
            return self.disconnect(id, DisconnectReason::Misbehaved("it sent a chunk that was not requested"));
        };
        let requested = peer.requested.remove(&chunk);
        peer.expired.remove(&chunk);
        let bytes = message.slice(4..);
        let size = bytes.len() as u64;
        let Some(new) = store.insert(chunk, bytes) else {
            return self.disconnect(id, DisconnectReason::Misbehaved("the hash of a chunk that it sent is wrong"));
        };
        (peer.received, self.received) = (peer.received + size, self.received + size);
        peer.strikes = 0;
        if requested.is_some_and(|at| now.saturating_duration_since(at) < FAST_ANSWER) {
            peer.window = (peer.window + 1).min(MAX_WINDOW);
        }
        if new {
            self.announce(id, chunk);
        }
        self.request_missing(now);
    }

    pub(super) fn on_reject(&mut self, id: PeerId, chunk: u32) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if !peer.take_due(chunk) || peer.requested.remove(&chunk).is_none() {
            return;
        }
        if let Some(has) = &mut peer.has {
            has.set(chunk, false);
        }
        self.add_strike(id);
    }

    pub(super) fn add_strike(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        peer.strikes = peer.strikes.saturating_add(1);
        if peer.strikes >= MAX_STRIKES {
            self.disconnect(id, DisconnectReason::Stalled);
        }
    }

    /// Requests missing chunks as far as the windows of the peers allow.
    pub(super) fn request_missing(&mut self, now: Instant) {
        let mut missing = self.missing(now);
        if missing.is_empty() {
            return;
        }
        let limit = if missing.iter().all(|one| one.requests > 0) { MAX_DUPLICATES } else { 1 };
        missing.sort_unstable();
        // Readers are asked before complete holders, so that the first holder sends each chunk about once.
        let mut order = self.ids();
        order.sort_by_key(|id| self.peer_is_complete(*id));
        let mut progress = true;
        while std::mem::take(&mut progress) {
            for id in &order {
                let Some(peer) = self.peers.get_mut(id).filter(|peer| peer.requested.len() < peer.window) else {
                    continue;
                };
                let fits = |one: &&mut Missing| one.requests < limit && one.slow && peer.can_request(one.chunk, now);
                let Some(one) = missing.iter_mut().find(fits) else { continue };
                (one.requests, one.slow) = (one.requests + 1, false);
                peer.request(one.chunk, now);
                self.actions.push_back(Action::SendMessage(*id, request(one.chunk)));
                progress = true;
            }
        }
    }

    /// The missing chunks; none where no peer can take a request.
    fn missing(&mut self, now: Instant) -> Vec<Missing> {
        let free = self.peers.values().any(|peer| peer.requested.len() < peer.window);
        let needed = |store: &&ChunkStore| free && !store.is_complete() && self.error.is_none();
        let Some(store) = self.store.as_ref().filter(needed) else { return Vec::new() };
        let mut missing = Vec::new();
        for chunk in (0..store.count()).filter(|chunk| !store.contains(*chunk)) {
            let holders = self.peers.values().filter(|peer| peer.offers(chunk)).count();
            let requested: Vec<Instant> =
                self.peers.values().filter_map(|peer| peer.requested.get(&chunk).copied()).collect();
            let slow = requested.iter().all(|at| now.saturating_duration_since(*at) >= DUPLICATE_AFTER);
            let random = self.rng.u32(..);
            missing.push(Missing { requests: requested.len(), holders, random, chunk, slow });
        }
        missing
    }
}
