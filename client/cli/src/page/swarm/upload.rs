//! Chunks that peers request.
use super::{Action, DisconnectReason, PeerId, Swarm};
use crate::page::message::reject;
use std::time::Duration;
use tokio::time::Instant;

/// The most chunks in memory that are being sent to one peer.
const MAX_SENDING: usize = 4;
/// The most queued requests of one peer. A reader requests eight chunks at once; with expired requests it stays below this.
const MAX_QUEUED: usize = 64;
/// A reader that takes fewer than `MIN_PROGRESS` bytes in `PROGRESS_PERIOD` may lose its place to a new reader.
const MIN_PROGRESS: u64 = 131_072;
pub const PROGRESS_PERIOD: Duration = Duration::from_secs(20);

impl Swarm {
    pub(super) fn on_request(&mut self, id: PeerId, chunk: u32, now: Instant) {
        let present = self.store.as_ref().is_some_and(|store| store.contains(chunk));
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if !present {
            return self.actions.push_back(Action::SendMessage(id, reject(chunk)));
        }
        peer.last_active = now;
        if !peer.queued.contains(&chunk) {
            peer.queued.push_back(chunk);
        }
        if peer.queued.len() > MAX_QUEUED {
            return self.disconnect(id, DisconnectReason::Misbehaved("it has too many requests outstanding"));
        }
        self.send_queued(id);
    }

    fn send_queued(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        while peer.sending.len() < MAX_SENDING
            && let Some(chunk) = peer.queued.pop_front()
        {
            peer.sending.push_back(chunk);
            self.actions.push_back(Action::SendChunk(id, chunk));
        }
    }

    /// The oldest chunk that was being sent to a peer is sent.
    pub fn chunk_sent(&mut self, id: PeerId, now: Instant) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let size = peer.sending.pop_front().and_then(|chunk| Some(self.store.as_ref()?.chunk(chunk)?.len()));
        let size = size.unwrap_or(0) as u64;
        (peer.sent, self.sent) = (peer.sent + size, self.sent + size);
        if peer.sent - peer.progress.1 >= MIN_PROGRESS {
            peer.progress = (now, peer.sent);
        }
        self.send_queued(id);
    }

    /// Since when a peer has taken too little, if that is long enough to give its place to another.
    pub fn slow_since(&self, id: PeerId, now: Instant) -> Option<Instant> {
        let since = self.peers.get(&id)?.progress.0;
        (now.saturating_duration_since(since) >= PROGRESS_PERIOD).then_some(since)
    }
}
