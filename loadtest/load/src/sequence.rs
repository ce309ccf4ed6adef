//! The sequence numbers that one reader received of one topic: each once, twice, out of order or never.
use std::collections::BTreeMap;

/// Tracks the sequence numbers of one topic.
#[derive(Debug, Default)]
pub struct SequenceTracker {
    /// One more than the highest sequence number received.
    next: u64,
    /// Ranges below `next` that were not received: from their beginning to their end, which is exclusive.
    gaps: BTreeMap<u64, u64>,
}

/// How a sequence number relates to those received before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is higher than all of them.
    InOrder,
    /// It arrived for the first time, after a higher one.
    OutOfOrder,
    /// It was received before.
    Duplicate,
}

impl SequenceTracker {
    /// Records a sequence number.
    pub fn record(&mut self, sequence: u64) -> Arrival {
        if sequence >= self.next {
            if sequence > self.next {
                self.gaps.insert(self.next, sequence);
            }
            self.next = sequence + 1;
            return Arrival::InOrder;
        }
        let gap = self.gaps.range(..=sequence).next_back().map(|(from, to)| (*from, *to));
        let Some((from, to)) = gap.filter(|(_, to)| sequence < *to) else { return Arrival::Duplicate };
        self.gaps.remove(&from);
        if from < sequence {
            self.gaps.insert(from, sequence);
        }
        if sequence + 1 < to {
            self.gaps.insert(sequence + 1, to);
        }
        Arrival::OutOfOrder
    }

    /// One more than the highest sequence number received.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many of the first `sent` messages were not received.
    pub fn missing(&self, sent: u64) -> u64 {
        self.gaps.iter().map(|(from, to)| to - from).sum::<u64>() + sent.saturating_sub(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arrival::{Duplicate, InOrder, OutOfOrder};

    #[test]
    fn arrivals_in_order_out_of_order_and_duplicate_are_distinguished() {
        let mut tracker = SequenceTracker::default();
        let arrivals = [
            (0, InOrder),
            (1, InOrder),
            (1, Duplicate),
            (5, InOrder),
            (3, OutOfOrder),
            (3, Duplicate),
            (2, OutOfOrder),
            (4, OutOfOrder),
            (0, Duplicate),
            (6, InOrder),
        ];
        for (sequence, arrival) in arrivals {
            assert_eq!(tracker.record(sequence), arrival, "{sequence}");
        }
        assert_eq!(tracker.missing(7), 0);
    }

    #[test]
    fn missing_messages_are_counted_in_the_middle_and_at_the_end() {
        let mut tracker = SequenceTracker::default();
        for sequence in [2, 3, 7] {
            tracker.record(sequence);
        }
        assert_eq!(tracker.missing(10), 2 + 3 + 2);
        assert_eq!(SequenceTracker::default().missing(4), 4);
    }
}
