//! What one reader got of its topic, exactly: each message once, twice, late or never.
use std::collections::BTreeMap;

/// One reader's book.
#[derive(Debug, Default)]
pub struct Ledger {
    /// One more than the highest sequence seen.
    next: u64,
    /// Sequences below `next` that were not seen: beginning to end, the end not in it.
    gaps: BTreeMap<u64, u64>,
}

/// What an arrival was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Higher than any before it.
    InOrder,
    /// For the first time, but after a later one.
    OutOfOrder,
    /// Seen before.
    Again,
}

impl Ledger {
    /// Enters an arrival.
    pub fn enter(&mut self, sequence: u64) -> Arrival {
        if sequence >= self.next {
            if sequence > self.next {
                self.gaps.insert(self.next, sequence);
            }
            self.next = sequence + 1;
            return Arrival::InOrder;
        }
        let gap = self.gaps.range(..=sequence).next_back().map(|(from, to)| (*from, *to));
        let Some((from, to)) = gap.filter(|(_, to)| sequence < *to) else { return Arrival::Again };
        self.gaps.remove(&from);
        if from < sequence {
            self.gaps.insert(from, sequence);
        }
        if sequence + 1 < to {
            self.gaps.insert(sequence + 1, to);
        }
        Arrival::OutOfOrder
    }

    /// One more than the highest sequence seen.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many of the first `sent` messages never came.
    pub fn missing(&self, sent: u64) -> u64 {
        self.gaps.iter().map(|(from, to)| to - from).sum::<u64>() + sent.saturating_sub(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arrival::{Again, InOrder, OutOfOrder};

    #[test]
    fn every_arrival_is_told_apart() {
        let mut ledger = Ledger::default();
        let story = [
            (0, InOrder),
            (1, InOrder),
            (1, Again),
            (5, InOrder),
            (3, OutOfOrder),
            (3, Again),
            (2, OutOfOrder),
            (4, OutOfOrder),
            (0, Again),
            (6, InOrder),
        ];
        for (sequence, arrival) in story {
            assert_eq!(ledger.enter(sequence), arrival, "{sequence}");
        }
        assert_eq!(ledger.missing(7), 0);
    }

    #[test]
    fn what_never_came_is_counted_in_the_middle_and_at_the_end() {
        let mut ledger = Ledger::default();
        for sequence in [2, 3, 7] {
            ledger.enter(sequence);
        }
        assert_eq!(ledger.missing(10), 2 + 3 + 2);
        assert_eq!(Ledger::default().missing(4), 4);
    }
}
