//! The queue of a reader whose socket accepts no more bytes. It is bounded in messages and bytes, and drops the oldest messages first. Rules STR-40
//! and STR-43.
use bytes::Bytes;
use parley_net::ws::Batch;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicU64, Ordering};

/// The messages that a whole pod keeps, either in queues of readers or for late subscribers. Several queues share the memory of a message, so this
/// is an upper bound.
#[derive(Debug)]
pub struct Backlog {
    bytes: AtomicU64,
    messages: AtomicU64,
    holders: AtomicU64,
    limit: u64,
}

/// The memory that a message takes beyond its bytes: an entry of a queue, and the overhead of an allocation.
const MESSAGE_OVERHEAD: u64 = 128;

impl Backlog {
    /// A backlog of at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { bytes: AtomicU64::new(0), messages: AtomicU64::new(0), holders: AtomicU64::new(0), limit }
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes that are kept.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The messages that are kept.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Whether the limit is exceeded.
    pub fn is_over(&self) -> bool {
        self.bytes() + self.messages() * MESSAGE_OVERHEAD > self.limit
    }

    /// Whether the limit is exceeded, and one queue keeps more than an equal share.
    fn is_over_share(&self, messages: usize, bytes: usize) -> bool {
        let share = self.limit / self.holders.load(Ordering::Relaxed).max(1);
        self.is_over() && bytes as u64 + messages as u64 * MESSAGE_OVERHEAD > share
    }

    /// Counts a message.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
    }

    /// Uncounts a message.
    pub fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.messages.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bounds of one reader's queue.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most messages.
    pub messages: usize,
    /// The most bytes.
    pub bytes: usize,
}

/// The kind of an entry of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The answer to the upgrade, which is not a frame. It stays first and is never dropped.
    Answer,
    /// A message, which is counted, bounded, and dropped when it is the oldest of a full queue.
    Message,
    /// A ping. At most one control frame of each kind waits; a newer one replaces it.
    Ping,
    /// The answer to the last ping.
    Pong,
    /// A close frame, which stays last.
    Close,
}

#[derive(Debug)]
struct Entry {
    bytes: Bytes,
    frame: Frame,
}

/// Counts of messages and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages.
    pub messages: u64,
    /// Their payload in bytes.
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
    /// The bytes of the first entry that were sent. A partly sent entry must be completed, or the stream becomes invalid.
    sent: usize,
    messages: usize,
    bytes: usize,
}

impl Queue {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the answer to the upgrade is not sent yet.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.entries.front().is_some_and(|front| front.frame == Frame::Answer)
    }

    /// The messages that wait, including a partly sent one.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Their bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends the rest of `batch` after its first `sent` bytes, then drops the oldest messages while a bound is exceeded.
    /// Returns what was dropped.
    pub fn push(&mut self, batch: &Batch, sent: usize, bounds: Bounds, backlog: &Backlog) -> Tally {
        let (first, begun) = batch.resume(sent);
        let next = first + usize::from(begun > 0);
        // Messages over the bound are not appended at all: one read may contain tens of thousands of empty messages, and each would cost time for every reader.
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

    /// Drops the oldest messages while the queue exceeds its own bounds or, if the pod exceeds its limit, an equal share of that.
    /// Returns what was dropped.
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

    /// The message that is partly sent and cannot be dropped.
    pub fn begun(&self) -> Option<&Bytes> {
        let front = self.entries.front().filter(|front| self.sent > 0 && front.frame == Frame::Message)?;
        Some(&front.bytes)
    }

    /// The number of entries that stay at the front: a partly sent one, or the answer to the upgrade.
    fn fixed(&self) -> usize {
        usize::from(self.sent > 0 || self.is_unanswered())
    }

    /// Inserts a control frame before the messages that wait; `Close` goes behind them.
    pub(crate) fn push_control(&mut self, frame: Frame, bytes: Bytes) {
        let fixed = self.fixed();
        if let Some(waiting) = self.entries.iter_mut().skip(fixed).find(|entry| entry.frame == frame) {
            waiting.bytes = bytes;
        } else if frame == Frame::Close {
            self.entries.push_back(Entry { bytes, frame });
        } else {
            self.entries.insert(fixed, Entry { bytes, frame });
        }
    }

    /// Removes everything but a partly sent entry or the answer to the upgrade.
    pub(crate) fn purge(&mut self, backlog: &Backlog) {
        while self.drop_oldest(backlog).is_some() {}
        self.entries.truncate(self.fixed());
    }

    /// Removes everything.
    pub fn clear(&mut self, backlog: &Backlog) {
        self.sent = 0;
        self.purge(backlog);
        self.entries.clear();
    }

    /// Fills `slices` with the bytes to send next, in order. Returns how many slices it used.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slot, entry) in slices.iter_mut().zip(&self.entries) {
            let skip = if count == 0 { self.sent } else { 0 };
            *slot = IoSlice::new(&entry.bytes[skip..]);
            count += 1;
        }
        count
    }

    /// Removes `written` bytes from the front. Returns the messages that were completed, and whether `Close` was.
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
    fn str_40_a_batch_of_many_messages_costs_a_reader_no_more_than_its_bound() {
        let frames = [0x82, 0x80, 0, 0, 0, 0].repeat(40_000);
        let (backlog, mut queue) = (Backlog::new(1 << 30), Queue::default());
        let mut read = |event| {
            let Event::Messages(batch) = event else { return Tally::default() };
            queue.push(&batch, 3, Bounds { messages: 8, bytes: 1000 }, &backlog)
        };
        let mut dropped = Tally::default();
        Decoder::new(1024, 1).feed(&frames, &mut |event| dropped = read(event)).unwrap();
        // One message was sent, and one was partly sent and stays.
        assert_eq!((queue.messages(), dropped.messages), (8, 40_000 - 1 - 8));
        assert_eq!((queue.sent, backlog.messages(), backlog.bytes()), (1, 8, 16));
        assert!(queue.entries.capacity() < 100, "{}", queue.entries.capacity());
        queue.clear(&backlog);
        assert_eq!((backlog.bytes(), backlog.holders.load(Ordering::Relaxed)), (0, 0));
    }
}
