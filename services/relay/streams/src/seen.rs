//! The messages of other regions that a topic has received. While its port changes, two pods may send the same messages. Rule STR-142.
use crate::hop::Stamp;
use std::collections::HashMap;

/// The origins that a topic remembers: more than there are relays in other regions. Of more, the one that sent nothing for the longest time is
/// forgotten.
const MAX_ORIGINS: usize = 1024;

/// The newest message of each origin.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    origins: HashMap<u64, Newest>,
    /// Counts the batches that were admitted.
    time: u64,
    /// The period for which this is valid.
    period: u64,
}

#[derive(Debug)]
struct Newest {
    sequence: u64,
    time: u64,
}

impl Seen {
    /// Forgets everything if `period` is another one than before: the topic receives from the beginning, and kept messages again.
    pub fn begin(&mut self, period: u64) {
        if self.period != period {
            *self = Self { period, ..Self::default() };
        }
    }

    /// Admits a batch of `count` messages. Returns how many of its first messages came before; all of them: the batch is a duplicate.
    pub fn admit(&mut self, stamp: Stamp, count: usize) -> usize {
        if stamp.origin == 0 {
            return 0;
        }
        self.time += 1;
        let last = stamp.sequence.saturating_add(count as u64 - 1);
        if !self.origins.contains_key(&stamp.origin) && self.origins.len() >= MAX_ORIGINS {
            self.forget_oldest();
        }
        let Some(newest) = self.origins.get_mut(&stamp.origin) else {
            self.origins.insert(stamp.origin, Newest { sequence: last, time: self.time });
            return 0;
        };
        newest.time = self.time;
        let known = newest.sequence.checked_sub(stamp.sequence).map_or(0, |ahead| ahead.saturating_add(1));
        newest.sequence = newest.sequence.max(last);
        usize::try_from(known).unwrap_or(usize::MAX).min(count)
    }

    fn forget_oldest(&mut self) {
        let oldest = self.origins.iter().min_by_key(|(_, newest)| newest.time).map(|(origin, _)| *origin);
        if let Some(oldest) = oldest {
            self.origins.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(origin: u64, sequence: u64) -> Stamp {
        Stamp { origin, sequence }
    }

    #[test]
    fn str_142_each_message_of_an_origin_is_admitted_once_and_in_order() {
        let mut seen = Seen::default();
        let admitted = [(1, 10, 3), (2, 5, 1), (1, 10, 3), (1, 12, 3), (1, 14, 1), (1, 20, 1), (1, 15, 2), (2, 6, 1)]
            .map(|(origin, sequence, count)| seen.admit(stamp(origin, sequence), count));
        assert_eq!(admitted, [0, 0, 3, 1, 1, 0, 2, 0]);
    }

    #[test]
    fn str_142_messages_without_a_stamp_are_admitted() {
        let mut seen = Seen::default();
        assert_eq!([0, 0].map(|sequence| seen.admit(stamp(0, sequence), 2)), [0, 0]);
    }

    #[test]
    fn str_142_a_new_period_begins_without_memory() {
        let mut seen = Seen::default();
        seen.begin(1);
        seen.admit(stamp(1, 10), 1);
        seen.begin(1);
        assert_eq!(seen.admit(stamp(1, 10), 1), 1);
        seen.begin(2);
        assert_eq!(seen.admit(stamp(1, 10), 1), 0);
    }

    #[test]
    fn str_142_the_number_of_origins_and_their_numbers_are_bounded() {
        let mut seen = Seen::default();
        for origin in 1..=2000 {
            seen.admit(stamp(origin, u64::MAX), 5);
            // An origin that sends stays.
            assert_eq!(seen.admit(stamp(1, u64::MAX), 1), usize::from(origin > 0));
        }
        assert_eq!(seen.origins.len(), MAX_ORIGINS);
        assert_eq!(seen.admit(stamp(1, 3), 1), 1);
    }
}
