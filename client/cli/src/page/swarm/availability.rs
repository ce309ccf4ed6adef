//! Handshakes and bitfields: how the manifest is exchanged, and how each side learns which chunks the other has.
use super::{Action, DisconnectReason, PageError, PeerId, Swarm};
use crate::page::address::Address;
use crate::page::bitfield::Bitfield;
use crate::page::chunk_store::ChunkStore;
use crate::page::manifest::{Manifest, ManifestError};
use crate::page::message::{bitfield, handshake, have};
use std::time::Duration;
use tokio::time::Instant;

/// A repeated handshake of a peer is answered at most once in this time.
const HANDSHAKE_INTERVAL: Duration = Duration::from_millis(400);
/// The bound of chunk numbers while the manifest is not known: the most chunks that a page can have.
const MAX_CHUNKS: u32 = 4096;

impl Swarm {
    /// Whether a peer has all chunks.
    pub fn peer_is_complete(&self, id: PeerId) -> bool {
        let has = self.peers.get(&id).and_then(|peer| peer.has.as_ref());
        self.store.as_ref().zip(has).is_some_and(|(store, has)| has.is_complete(store.count()))
    }

    /// Sends the handshake and the bitfield. On a pipe they are repeated, as the peer may not have subscribed yet.
    pub fn send_handshake(&mut self, id: PeerId) {
        let manifest = self.store.as_ref().map(|store| store.manifest_text.as_str());
        // The manifest of a page with the most chunks is far below the limit of a message.
        self.actions.extend(handshake(self.page, manifest).map(|message| Action::SendMessage(id, message)));
        self.send_bitfield(id);
    }

    /// Whether a peer is known to have received the handshake. On a pipe, which stores nothing, the handshake is repeated until then.
    pub fn has_received_handshake(&self, id: PeerId) -> bool {
        let known = |peer: &super::Peer| peer.handshake_received && (peer.has.is_some() || self.store.is_none());
        self.peers.get(&id).is_none_or(known)
    }

    /// Sends the bitfield again if it changed: the messages `have` may be lost on a pipe.
    pub fn refresh_bitfield(&mut self, id: PeerId) {
        let present = self.store.as_ref().map_or(0, ChunkStore::present);
        if self.peers.get(&id).is_some_and(|peer| peer.announced != present) {
            self.send_bitfield(id);
        }
    }

    fn send_bitfield(&mut self, id: PeerId) {
        if let (Some(store), Some(peer)) = (&self.store, self.peers.get_mut(&id)) {
            let chunks = Bitfield::from_fn(store.count(), |chunk| store.contains(chunk)).encode();
            peer.announced = store.present();
            self.actions.extend(bitfield(&chunks).map(|message| Action::SendMessage(id, message)));
        }
    }

    pub(super) fn on_handshake(&mut self, id: PeerId, page: Address, manifest: Option<String>, now: Instant) {
        if page != self.page {
            return self.disconnect(id, DisconnectReason::Misbehaved("its handshake is for another page"));
        }
        let Some(peer) = self.peers.get_mut(&id) else { return };
        // The peer repeats its handshake: it may have missed ours.
        if std::mem::replace(&mut peer.handshake_received, true)
            && now.saturating_duration_since(std::mem::replace(&mut peer.answered_at, now)) >= HANDSHAKE_INTERVAL
        {
            match peer.has {
                None if self.store.is_some() => self.send_handshake(id),
                _ => self.send_bitfield(id),
            }
        }
        if let Some(text) = manifest.filter(|_| self.store.is_none() && self.error.is_none()) {
            self.on_manifest(id, text);
        }
    }

    fn on_manifest(&mut self, id: PeerId, text: String) {
        match Manifest::read(&text, self.page, self.max_bytes) {
            Ok(manifest) => {
                self.store = Some(ChunkStore::new(manifest, text));
                for id in self.ids() {
                    self.send_bitfield(id);
                }
                self.check_bitfields();
            }
            Err(ManifestError::HashMismatch) => {
                self.disconnect(id, DisconnectReason::Misbehaved("it sent another manifest"));
            }
            Err(ManifestError::TooLarge(bytes)) => self.fail(PageError::TooLarge(bytes)),
            Err(ManifestError::Malformed(why)) => self.fail(PageError::Malformed(why)),
        }
    }

    /// Checks the bitfields that arrived before the manifest.
    fn check_bitfields(&mut self) {
        let Some(count) = self.store.as_ref().map(ChunkStore::count) else { return };
        for id in self.ids() {
            let has = self.peers.get(&id).and_then(|peer| peer.has.as_ref());
            if has.is_some_and(|has| !has.fits(count)) {
                self.disconnect(id, DisconnectReason::Misbehaved("its bitfield does not fit the page"));
            }
        }
    }

    pub(super) fn on_bitfield(&mut self, id: PeerId, text: &str) {
        let fits = |bits: &Bitfield| self.store.as_ref().is_none_or(|store| bits.fits(store.count()));
        let Some(bits) = Bitfield::decode(text).filter(fits) else {
            return self.disconnect(id, DisconnectReason::Misbehaved("its bitfield does not fit the page"));
        };
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.has = Some(bits);
        }
        self.disconnect_if_complete(id);
    }

    /// The peer has one more chunk. On a pipe its bitfield may be lost, and on any connection it may know the manifest earlier than this side.
    pub(super) fn on_have(&mut self, id: PeerId, chunk: u32) {
        let count = self.store.as_ref().map_or(MAX_CHUNKS, ChunkStore::count);
        if chunk >= count {
            return self
                .disconnect(id, DisconnectReason::Misbehaved("it announced a chunk that the page does not have"));
        }
        let Some(peer) = self.peers.get_mut(&id) else { return };
        match &mut peer.has {
            Some(has) => has.set(chunk, true),
            None if self.store.is_some() => peer.has = Some(Bitfield::from_fn(count, |has| has == chunk)),
            // The peer sends a bitfield later.
            None => (),
        }
        self.disconnect_if_complete(id);
    }

    /// Disconnects a peer where both sides have all chunks.
    pub(super) fn disconnect_if_complete(&mut self, id: PeerId) {
        if self.is_complete() && self.peer_is_complete(id) {
            self.disconnect(id, DisconnectReason::NotNeeded);
        }
    }

    /// Announces a new chunk to the peers other than its sender.
    pub(super) fn announce(&mut self, sender: PeerId, chunk: u32) {
        if self.is_complete() && self.store.as_ref().is_some_and(|store| store.content().is_none()) {
            return self.fail(PageError::Malformed("the hash of its chunks together is wrong"));
        }
        for id in self.ids() {
            let complete = self.peer_is_complete(id);
            let ready = self.peers.get(&id).is_some_and(|peer| peer.handshake_received);
            if id != sender && !complete && ready {
                self.actions.push_back(Action::SendMessage(id, have(chunk)));
            }
            self.disconnect_if_complete(id);
        }
    }
}
