//! What waits for one reader whose socket takes no more: bounded in messages and bytes, the oldest dropped first. Rules STR-40
//! and STR-43.
use bytes::Bytes;
use parley_net::ws::Batch;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a whole pod holds back: for the readers that are behind, or for those who come late. Holders of one message share its
/// memory, so this is the most it can be.
#[derive(Debug)]
pub struct Backlog {
    bytes: AtomicU64,
    messages: AtomicU64,
    holders: AtomicU64,
    limit: u64,
}

/// What a message costs beside its bytes: its entry in a queue, and that of an allocation.
const HELD: u64 = 128;

impl Backlog {
    /// At most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { bytes: AtomicU64::new(0), messages: AtomicU64::new(0), holders: AtomicU64::new(0), limit }
    }

    /// The most it may be.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes that wait now.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Messages that wait now.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Whether more is held than the limit.
    pub fn is_over(&self) -> bool {
        self.bytes() + self.messages() * HELD > self.limit
    }

    /// Whether more is held than the limit, and of it by one holder more than an equal share.
    fn is_over_share(&self, messages: usize, bytes: usize) -> bool {
        let share = self.limit / self.holders.load(Ordering::Relaxed).max(1);
        self.is_over() && bytes as u64 + messages as u64 * HELD > share
    }

    /// A message is held.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
    }

    /// It no longer is.
    pub fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.messages.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bounds of one reader's queue.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most messages.
    pub messages: usize,
    /// Most bytes.
    pub bytes: usize,
}

/// What a frame in the queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The answer to the upgrade: no frame yet. Everything follows it, and it is never dropped.
    Answer,
    /// Counted, bounded, dropped when it is too old.
    Message,
    /// At most one of each control frame waits: a newer takes its place.
    Ping,
    /// The answer to the last ping.
    Pong,
    /// Nothing follows it.
    Close,
}

#[derive(Debug)]
struct Entry {
    bytes: Bytes,
    frame: Frame,
}

/// Counts that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages.
    pub messages: u64,
    /// Bytes of payload.
    pub bytes: u64,
}

impl Tally {
    /// Adds messages and bytes.
    pub fn add(&mut self, messages: usize, bytes: usize) {
        self.messages += messages as u64;
        self.bytes += bytes as u64;
    }
}

/// The queue of one reader.
#[derive(Debug, Default)]
pub struct Queue {
    entries: VecDeque<Entry>,
    /// How much of the first entry was sent. An entry that was begun must be finished, or the stream is garbage.
    sent: usize,
    messages: usize,
    bytes: usize,
}

impl Queue {
    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the answer to the upgrade has yet to be sent.
    pub fn is_unanswered(&self) -> bool {
        self.entries.front().is_some_and(|front| front.frame == Frame::Answer)
    }

    /// Messages that wait, one that was begun among them.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Bytes of those messages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends what is left of `batch` after its first `sent` bytes, then drops the oldest while the queue is over a bound.
    /// Answers what was dropped.
    pub fn push(&mut self, batch: &Batch, sent: usize, bounds: Bounds, backlog: &Backlog) -> Tally {
        let (first, begun) = batch.resume(sent);
        let next = first + usize::from(begun > 0);
        // More than may wait are not put in: a read holds tens of thousands of empty messages, and every reader would pay for each.
        let fits = batch.count().saturating_sub(bounds.messages).max(next);
        if begun > 0 {
            self.sent = begun;
        }
        for bytes in batch.frames(first).take(next - first).chain(batch.frames(fits)) {
            self.append(bytes, backlog);
        }
        let mut dropped = Tally::default();
        dropped.add(fits - next, batch.payload() * (fits - next) / batch.count());
        let more = self.trim(bounds, backlog);
        Tally { messages: dropped.messages + more.messages, bytes: dropped.bytes + more.bytes }
    }

    /// Drops the oldest while the queue is over a bound: its own, or an equal share of what the pod may hold where that is too
    /// much. Answers what was dropped.
    pub fn trim(&mut self, bounds: Bounds, backlog: &Backlog) -> Tally {
        let mut dropped = Tally::default();
        while self.messages > bounds.messages
            || self.bytes > bounds.bytes
            || backlog.is_over_share(self.messages, self.bytes)
        {
            let Some(bytes) = self.drop_oldest(backlog) else { break };
            dropped.add(1, parley_net::ws::frame::payload_of(bytes));
        }
        dropped
    }

    fn append(&mut self, bytes: Bytes, backlog: &Backlog) {
        if self.messages == 0 {
            backlog.holders.fetch_add(1, Ordering::Relaxed);
        }
        self.messages += 1;
        self.bytes += bytes.len();
        backlog.add(bytes.len());
        self.entries.push_back(Entry { bytes, frame: Frame::Message });
    }

    /// The message that was begun: it cannot be dropped.
    pub fn begun(&self) -> Option<&Bytes> {
        let front = self.entries.front().filter(|front| self.sent > 0 && front.frame == Frame::Message)?;
        Some(&front.bytes)
    }

    /// How many entries keep their place at the front: one that was begun, or the answer to the upgrade.
    fn fixed(&self) -> usize {
        usize::from(self.sent > 0 || self.is_unanswered())
    }

    /// Puts a control frame before the messages that wait, `Close` behind them.
    pub fn push_control(&mut self, frame: Frame, bytes: Bytes) {
        let fixed = self.fixed();
        if let Some(waiting) = self.entries.iter_mut().skip(fixed).find(|entry| entry.frame == frame) {
            waiting.bytes = bytes;
        } else if frame == Frame::Close {
            self.entries.push_back(Entry { bytes, frame });
        } else {
            self.entries.insert(fixed, Entry { bytes, frame });
        }
    }

    /// Forgets everything that was not begun, but for the answer to the upgrade.
    pub fn purge(&mut self, backlog: &Backlog) {
        while self.drop_oldest(backlog).is_some() {}
        self.entries.truncate(self.fixed());
    }

    /// Forgets everything.
    pub fn clear(&mut self, backlog: &Backlog) {
        self.sent = 0;
        self.purge(backlog);
        self.entries.clear();
    }

    /// Fills `slices` with what is to be sent next, in order. Answers how many.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slot, entry) in slices.iter_mut().zip(&self.entries) {
            let skip = if count == 0 { self.sent } else { 0 };
            *slot = IoSlice::new(&entry.bytes[skip..]);
            count += 1;
        }
        count
    }

    /// Takes `written` bytes off the front. Answers the messages that were completed, and whether `Close` was.
    pub fn advance(&mut self, mut written: usize, backlog: &Backlog) -> (Tally, bool) {
        let mut completed = Tally::default();
        let mut closed = false;
        while let Some(front) = self.entries.front() {
            let left = front.bytes.len() - self.sent;
            if written < left {
                self.sent += written;
                break;
            }
            written -= left;
            self.sent = 0;
            match (front.frame, front.bytes.len()) {
                (Frame::Message, size) => {
                    completed.add(1, parley_net::ws::frame::payload_of(size));
                    self.forget(size, backlog);
                }
                (frame, _) => closed |= frame == Frame::Close,
            }
            self.entries.pop_front();
        }
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
        (completed, closed)
    }

    fn drop_oldest(&mut self, backlog: &Backlog) -> Option<usize> {
        let oldest = (self.fixed()..self.entries.len()).find(|&at| self.entries[at].frame == Frame::Message)?;
        let size = self.entries.remove(oldest)?.bytes.len();
        self.forget(size, backlog);
        Some(size)
    }

    fn forget(&mut self, size: usize, backlog: &Backlog) {
        self.messages -= 1;
        self.bytes -= size;
        backlog.remove(size);
        if self.messages == 0 {
            backlog.holders.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_net::ws::{Decoder, Event};

    #[test]
    fn str_40_a_read_full_of_messages_costs_a_reader_no_more_than_its_bound() {
        let frames = [0x82, 0x80, 0, 0, 0, 0].repeat(40_000);
        let (backlog, mut queue) = (Backlog::new(1 << 30), Queue::default());
        let mut read = |event| {
            let Event::Messages(batch) = event else { return Tally::default() };
            queue.push(&batch, 3, Bounds { messages: 8, bytes: 1000 }, &backlog)
        };
        let mut dropped = Tally::default();
        Decoder::new(1024, 1).feed(&frames, &mut |event| dropped = read(event)).unwrap();
        // One was sent, one was begun, and it stays.
        assert_eq!((queue.messages(), dropped.messages), (8, 40_000 - 1 - 8));
        assert_eq!((queue.sent, backlog.messages(), backlog.bytes()), (1, 8, 16));
        assert!(queue.entries.capacity() < 100, "{}", queue.entries.capacity());
        queue.clear(&backlog);
        assert_eq!((backlog.bytes(), backlog.holders.load(Ordering::Relaxed)), (0, 0));
    }
}
