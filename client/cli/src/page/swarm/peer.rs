//! The state of one peer of a [`super::Swarm`].
use crate::page::bitfield::Bitfield;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// The number of requests that a new peer may have outstanding: its speed is not known yet.
pub const INITIAL_WINDOW: usize = 2;
/// A handshake or a chunk that does not arrive within this time is late. A late chunk is requested from another peer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A connected peer.
#[derive(Debug)]
pub struct Peer {
    pub(super) connected_at: Instant,
    pub(super) handshake_received: bool,
    /// When the peer last repeated its handshake and got an answer.
    pub(super) answered_at: Instant,
    /// The chunks that the peer has, once it sent them.
    pub(super) has: Option<Bitfield>,
    /// How many chunks were present when the last bitfield was sent to the peer.
    pub(super) announced: u32,
    /// The chunks requested from the peer, and when.
    pub(super) requested: BTreeMap<u32, Instant>,
    /// How many answers about each chunk are due. It includes expired requests, whose chunks may still arrive.
    pub(super) due: BTreeMap<u32, u8>,
    /// When the request for each chunk expired.
    pub(super) expired: BTreeMap<u32, Instant>,
    /// How many requests may be outstanding.
    pub(super) window: usize,
    /// Consecutive failures.
    pub(super) strikes: u8,
    /// When one side last requested something.
    pub(super) last_active: Instant,
    /// The chunks that the peer requested and that are not being sent yet.
    pub(super) queued: VecDeque<u32>,
    /// The chunks that are being sent to the peer.
    pub(super) sending: VecDeque<u32>,
    /// When the peer last made enough progress to keep its place, and `sent` at that time.
    pub(super) progress: (Instant, u64),
    /// Bytes of chunks received from the peer.
    pub received: u64,
    /// Bytes of chunks sent to the peer.
    pub sent: u64,
}

impl Peer {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            connected_at: now,
            handshake_received: false,
            answered_at: now,
            has: None,
            announced: 0,
            requested: BTreeMap::new(),
            due: BTreeMap::new(),
            expired: BTreeMap::new(),
            window: INITIAL_WINDOW,
            strikes: 0,
            last_active: now,
            queued: VecDeque::new(),
            sending: VecDeque::new(),
            progress: (now, 0),
            received: 0,
            sent: 0,
        }
    }

    /// Whether the peer can send a chunk.
    pub(super) fn offers(&self, chunk: u32) -> bool {
        self.handshake_received && self.has.as_ref().is_some_and(|has| has.contains(chunk))
    }

    /// Whether a chunk may be requested from the peer now. A chunk whose request expired is left to other peers for a while.
    pub(super) fn can_request(&self, chunk: u32, now: Instant) -> bool {
        let recent = |expired: &Instant| now.saturating_duration_since(*expired) < ANSWER_TIMEOUT;
        self.offers(chunk) && !self.requested.contains_key(&chunk) && !self.expired.get(&chunk).is_some_and(recent)
    }

    /// Records a request for a chunk.
    pub(super) fn request(&mut self, chunk: u32, now: Instant) {
        self.requested.insert(chunk, now);
        *self.due.entry(chunk).or_default() += 1;
        self.last_active = now;
    }

    /// Records an answer about a chunk. Returns whether one was due.
    pub(super) fn take_due(&mut self, chunk: u32) -> bool {
        let Some(due) = self.due.get_mut(&chunk) else { return false };
        *due -= 1;
        if *due == 0 {
            self.due.remove(&chunk);
        }
        true
    }

    /// Gives up late requests and halves the window if there are any. Returns whether there are any.
    pub(super) fn expire_requests(&mut self, now: Instant) -> bool {
        let late = |requested: &Instant| now.saturating_duration_since(*requested) >= ANSWER_TIMEOUT;
        let late: Vec<u32> = self.requested.iter().filter(|(_, at)| late(at)).map(|(chunk, _)| *chunk).collect();
        for chunk in &late {
            self.requested.remove(chunk);
            self.expired.insert(*chunk, now);
        }
        if !late.is_empty() {
            self.window = (self.window / 2).max(1);
        }
        !late.is_empty()
    }

    /// Whether one side waits for a chunk of the other.
    pub(super) fn has_work(&self) -> bool {
        !self.requested.is_empty() || !self.queued.is_empty() || !self.sending.is_empty()
    }
}
