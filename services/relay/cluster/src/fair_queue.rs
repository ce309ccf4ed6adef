//! The batches that wait for a link: one bounded queue per subscription, served in turn, so that no topic takes the turn of another. Rule STR-95.
use super::counts::Counts;
use super::frames::{BATCH_OVERHEAD, Passage};
use crate::Limits;
use parley_net::size;
use parley_net::ws::Batch;
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// The bounds of what waits for a link.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Messages in one queue.
    pub messages: usize,
    /// Bytes in one queue.
    pub bytes: usize,
    /// Bytes in all queues of a link.
    pub link_bytes: usize,
}

impl Bounds {
    /// The bounds according to the limits in force. One message of the largest size always fits.
    pub fn of(limits: &Limits) -> Self {
        Self::within(limits, limits.link_queued_bytes)
    }

    /// The bounds of a link to a pod of another region.
    pub fn of_ocean(limits: &Limits) -> Self {
        Self::within(limits, limits.link_ocean_backlog_bytes)
    }

    fn within(limits: &Limits, link_bytes: u64) -> Self {
        let largest = size(limits.message_bytes) + BATCH_OVERHEAD;
        Self {
            messages: size(limits.link_messages),
            bytes: size(limits.link_bytes).max(largest),
            link_bytes: size(link_bytes).max(largest),
        }
    }
}

/// The queues of one link, by the number of the subscription.
#[derive(Default)]
pub(super) struct FairQueue {
    queues: HashMap<u64, Queue>,
    /// The subscriptions with waiting batches, in the order in which they are served.
    turns: VecDeque<u64>,
    /// Bytes in all queues.
    bytes: usize,
}

#[derive(Default)]
struct Queue {
    batches: VecDeque<Queued>,
    messages: usize,
    bytes: usize,
}

/// A batch that waits.
pub(super) struct Queued {
    pub(super) batch: Batch,
    pub(super) passage: Option<Passage>,
    /// When its publisher handed it over.
    pub(super) taken: Instant,
}

impl FairQueue {
    /// Adds the queue of a subscription.
    pub(super) fn open(&mut self, number: u64) {
        self.queues.entry(number).or_default();
    }

    /// Removes the queue of a subscription with its batches, which are not counted as dropped.
    pub(super) fn close(&mut self, number: u64, counts: &Counts) {
        let queue = self.queues.remove(&number).unwrap_or_default();
        self.turns.retain(|turn| *turn != number);
        self.bytes -= queue.bytes;
        queue.uncount(counts);
    }

    /// Whether the subscription has a queue.
    pub(super) fn is_open(&self, number: u64) -> bool {
        self.queues.contains_key(&number)
    }

    /// Whether no batch waits.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Appends a batch to the queue of a subscription, then drops its oldest batches while a bound is exceeded.
    pub(super) fn push(&mut self, number: u64, queued: Queued, bounds: Bounds, counts: &Counts) {
        let Some(queue) = self.queues.get_mut(&number) else { return };
        if queue.batches.is_empty() {
            self.turns.push_back(number);
        }
        let (messages, bytes) = (queued.batch.count(), queued.batch.bytes().len());
        queue.batches.push_back(queued);
        queue.messages += messages;
        queue.bytes += bytes;
        self.bytes += bytes;
        counts.queued.add(messages as u64);
        counts.queued_bytes.add(bytes as u64);
        // The newest batch may exceed the bound of messages: one read can contain many small ones.
        while (queue.messages > bounds.messages && queue.batches.len() > 1)
            || queue.bytes > bounds.bytes
            || self.bytes > bounds.link_bytes
        {
            let Some(oldest) = queue.pop(counts) else { break };
            self.bytes -= oldest.batch.bytes().len();
            counts.dropped.add(oldest.batch.count() as u64);
        }
        if queue.batches.is_empty() {
            self.turns.retain(|turn| *turn != number);
        }
    }

    /// Takes the oldest batch of the subscription whose turn it is.
    pub(super) fn pop(&mut self, counts: &Counts) -> Option<(u64, Queued)> {
        loop {
            let number = self.turns.pop_front()?;
            let Some(queue) = self.queues.get_mut(&number) else { continue };
            let Some(queued) = queue.pop(counts) else { continue };
            if !queue.batches.is_empty() {
                self.turns.push_back(number);
            }
            self.bytes -= queued.batch.bytes().len();
            return Some((number, queued));
        }
    }

    /// Removes all queues. What waited is counted as dropped.
    pub(super) fn drop_all(&mut self, counts: &Counts) {
        for queue in self.queues.values() {
            queue.uncount(counts);
            counts.dropped.add(queue.messages as u64);
        }
        *self = Self::default();
    }
}

impl Queue {
    fn uncount(&self, counts: &Counts) {
        counts.queued.sub(self.messages as u64);
        counts.queued_bytes.sub(self.bytes as u64);
    }

    fn pop(&mut self, counts: &Counts) -> Option<Queued> {
        let oldest = self.batches.pop_front()?;
        let (messages, bytes) = (oldest.batch.count(), oldest.batch.bytes().len());
        self.messages -= messages;
        self.bytes -= bytes;
        counts.queued.sub(messages as u64);
        counts.queued_bytes.sub(bytes as u64);
        Some(oldest)
    }
}
