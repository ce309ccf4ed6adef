//! What one watcher got of the broadcasts it watches. **Every frame is judged here.**
use crate::payload;
use crate::sequence::{Arrival, Ledger};
use hdrhistogram::Histogram;

/// Frames, judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Frames that came, whole and for the first time.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that came once more.
    pub duplicated: u64,
    /// Those that came after a later one.
    pub out_of_order: u64,
    /// Frames that are, byte by byte, none that was sent.
    pub corrupt: u64,
    /// Frames of another broadcast.
    pub extra: u64,
    /// Groups that never came, or whose rest was skipped.
    pub skipped_groups: u64,
    /// Pauses that were too long.
    pub freezes: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.bytes += other.bytes;
        self.duplicated += other.duplicated;
        self.out_of_order += other.out_of_order;
        self.corrupt += other.corrupt;
        self.extra += other.extra;
        self.skipped_groups += other.skipped_groups;
        self.freezes += other.freezes;
    }
}

/// One watcher's book. Times are nanoseconds of the generator's clock.
pub struct Book {
    pages: Vec<Page>,
    /// A pause between two frames that is longer is a freeze.
    freeze: u64,
    /// So far.
    pub counts: Counts,
    /// From making to arrival.
    pub latency: Histogram<u64>,
    /// The longest pause that was a freeze.
    pub longest_freeze: u64,
}

/// What it got of one broadcast.
struct Page {
    broadcast: u32,
    ledger: Ledger,
    seen: Option<Seen>,
    last_group: Option<u64>,
    /// What was made before is not expected.
    from: Option<u64>,
    /// RFC 3550 section 6.4.1.
    jitter: f64,
}

#[derive(Clone, Copy)]
struct Seen {
    /// The lowest sequence that came.
    first: u64,
    /// When the first frame came, and the last.
    began: u64,
    last: u64,
    /// How long the last was on its way.
    transit: u64,
}

impl Book {
    /// For these broadcasts.
    pub fn new(broadcasts: &[usize], freeze: u64) -> anyhow::Result<Self> {
        let page = |broadcast: &usize| {
            let broadcast = u32::try_from(*broadcast)?;
            Ok(Page { broadcast, ledger: Ledger::default(), seen: None, last_group: None, from: None, jitter: 0.0 })
        };
        Ok(Self {
            pages: broadcasts.iter().map(page).collect::<anyhow::Result<_>>()?,
            freeze,
            counts: Counts::default(),
            latency: Histogram::new_with_bounds(1_000, 60_000_000_000, 2)?,
            longest_freeze: 0,
        })
    }

    /// Enters a frame that came; `made`: how many its publisher made so far.
    pub fn frame(&mut self, page: usize, payload: &[u8], made: u64, now: u64) {
        let Some(page) = self.pages.get_mut(page) else { return };
        let Some(stamp) = payload::check(payload) else {
            self.counts.corrupt += 1;
            return;
        };
        if stamp.topic != page.broadcast || stamp.sequence >= made {
            self.counts.extra += 1;
            return;
        }
        let transit = now.saturating_sub(stamp.time);
        if page.from.is_some_and(|from| stamp.sequence < from) {
            let pause = page.enter(stamp.sequence, now, transit);
            self.pause(pause);
            return;
        }
        match page.ledger.enter(stamp.sequence) {
            Arrival::Again => {
                self.counts.duplicated += 1;
                return;
            }
            Arrival::OutOfOrder => self.counts.out_of_order += 1,
            Arrival::InOrder => {}
        }
        self.counts.delivered += 1;
        self.counts.bytes += payload.len() as u64;
        let pause = page.enter(stamp.sequence, now, transit);
        self.pause(pause);
        self.latency.saturating_record(transit);
    }

    /// Begins anew: expected is what is made from here on. What was made before counts for pauses alone.
    pub fn restart(&mut self, made: impl Fn(usize) -> u64) {
        for page in &mut self.pages {
            page.from = Some(made(page.broadcast as usize));
            page.ledger = Ledger::default();
        }
        let Counts { duplicated, out_of_order, corrupt, extra, .. } = self.counts;
        self.counts = Counts { duplicated, out_of_order, corrupt, extra, ..Counts::default() };
        self.longest_freeze = 0;
        self.latency.reset();
    }

    /// Enters a group that came; one that was never seen lies between it and the last.
    pub fn group(&mut self, page: usize, sequence: u64) {
        let Some(page) = self.pages.get_mut(page) else { return };
        let last = page.last_group.replace(sequence);
        self.counts.skipped_groups += last.map_or(0, |last| sequence.saturating_sub(last + 1));
    }

    fn pause(&mut self, pause: u64) {
        if pause > self.freeze {
            self.counts.freezes += 1;
            self.longest_freeze = self.longest_freeze.max(pause);
        }
    }

    /// Publishers ended: a pause that lasts until now ends with them.
    pub fn end(&mut self, now: u64) {
        for pause in self.pages.iter().filter_map(|page| Some(now.saturating_sub(page.seen?.last))).collect::<Vec<_>>()
        {
            self.pause(pause);
        }
    }

    /// When the first frame of all came, if one of each broadcast did.
    pub fn began(&self) -> Option<u64> {
        let began = self.pages.iter().map(|page| page.seen.map(|seen| seen.began)).collect::<Option<Vec<_>>>()?;
        began.into_iter().min()
    }

    /// When a frame of each broadcast had come.
    pub fn complete(&self) -> Option<u64> {
        let began = self.pages.iter().map(|page| page.seen.map(|seen| seen.began)).collect::<Option<Vec<_>>>()?;
        Some(began.into_iter().max().unwrap_or_default())
    }

    /// Frames that never came, from the first of each broadcast on, of `made` by broadcast.
    pub fn missing(&self, made: impl Fn(usize) -> u64) -> u64 {
        self.each(made, |page, first, made| page.ledger.missing(made).saturating_sub(first))
    }

    /// Frames that should have come.
    pub fn expected(&self, made: impl Fn(usize) -> u64) -> u64 {
        self.each(made, |_, first, made| made.saturating_sub(first))
    }

    fn each(&self, made: impl Fn(usize) -> u64, count: impl Fn(&Page, u64, u64) -> u64) -> u64 {
        // Who saw nothing missed everything.
        let first = |page: &Page| page.from.unwrap_or_else(|| page.seen.map_or(0, |seen| seen.first));
        self.pages.iter().map(|page| count(page, first(page), made(page.broadcast as usize))).sum()
    }

    /// Mean of its broadcasts' jitter, in nanoseconds.
    #[allow(clippy::cast_precision_loss, reason = "a count of broadcasts")]
    pub fn jitter(&self) -> f64 {
        self.pages.iter().map(|page| page.jitter).sum::<f64>() / self.pages.len().max(1) as f64
    }
}

impl Page {
    /// Answers how long nothing came before it.
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds")]
    fn enter(&mut self, sequence: u64, now: u64, transit: u64) -> u64 {
        let Some(seen) = &mut self.seen else {
            self.seen = Some(Seen { first: sequence, began: now, last: now, transit });
            return 0;
        };
        self.jitter += (transit.abs_diff(seen.transit) as f64 - self.jitter) / 16.0;
        let pause = now.saturating_sub(seen.last);
        *seen = Seen { first: seen.first.min(sequence), began: seen.began, last: now, transit };
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{HEADER, Stamp, seal};

    const MS: u64 = 1_000_000;

    fn frame(topic: u32, sequence: u64) -> Vec<u8> {
        let mut out = Vec::new();
        seal(&mut out, &Stamp { topic, sequence, time: sequence * 10 * MS }, b"body");
        out
    }

    /// A book about broadcast 3, with these frames of ten milliseconds each entered two milliseconds after they were made.
    fn book(sequences: &[u64]) -> Book {
        let mut book = Book::new(&[3], 500 * MS).unwrap();
        for sequence in sequences {
            book.frame(0, &frame(3, *sequence), 100, (sequence * 10 + 2) * MS);
        }
        book
    }

    #[test]
    fn whoever_comes_late_misses_nothing_of_what_was_before() {
        let book = book(&[40, 41, 42]);
        assert_eq!((book.expected(|_| 43), book.missing(|_| 43), book.counts.delivered), (3, 0, 3));
        assert_eq!((book.missing(|_| 45), book.began()), (2, Some(402 * MS)));
    }

    #[test]
    fn what_is_lost_doubled_and_out_of_order_is_counted() {
        let book = book(&[10, 12, 12, 15, 14]);
        assert_eq!((book.missing(|_| 16), book.expected(|_| 16)), (2, 6));
        assert_eq!((book.counts.duplicated, book.counts.out_of_order, book.counts.delivered), (1, 1, 4));
    }

    #[test]
    fn what_nobody_sent_and_what_is_anothers_is_counted() {
        let mut book = book(&[1]);
        let mut bent = frame(3, 2);
        bent[HEADER] ^= 1;
        for (payload, made) in [(bent, 10), (frame(4, 2), 10), (frame(3, 10), 10)] {
            book.frame(0, &payload, made, 30 * MS);
        }
        assert_eq!((book.counts.corrupt, book.counts.extra, book.counts.delivered), (1, 2, 1));
    }

    #[test]
    fn a_long_pause_is_a_freeze_at_the_end_too() {
        let mut book = book(&[0, 1, 60, 61]);
        assert_eq!((book.counts.freezes, book.longest_freeze), (1, 590 * MS));
        book.end(612 * MS + 500 * MS);
        assert_eq!(book.counts.freezes, 1);
        book.end(612 * MS + 501 * MS);
        assert_eq!((book.counts.freezes, book.longest_freeze), (2, 590 * MS));
    }

    #[test]
    fn groups_that_never_came_are_counted() {
        let mut book = book(&[]);
        for sequence in [7, 8, 11] {
            book.group(0, sequence);
        }
        assert_eq!(book.counts.skipped_groups, 2);
    }

    #[test]
    fn whoever_saw_nothing_missed_everything() {
        let book = Book::new(&[0, 1], 1).unwrap();
        assert_eq!((book.missing(|_| 5), book.expected(|_| 5), book.began()), (10, 10, None));
    }

    #[test]
    fn from_a_new_beginning_only_what_is_made_then_is_expected() {
        let mut book = book(&[0, 1, 4, 5, 60]);
        book.restart(|_| 62);
        assert_eq!((book.expected(|_| 62), book.missing(|_| 62), book.counts.freezes), (0, 0, 0));
        for sequence in [61, 63, 130] {
            book.frame(0, &frame(3, sequence), 200, (sequence * 10 + 2) * MS);
        }
        assert_eq!((book.expected(|_| 132), book.missing(|_| 132), book.counts.delivered), (70, 68, 2));
        assert_eq!((book.counts.freezes, book.longest_freeze), (1, 670 * MS));
    }

    #[test]
    fn all_are_there_when_the_last_has_come() {
        let mut book = Book::new(&[3, 4], 500 * MS).unwrap();
        book.frame(0, &frame(3, 1), 9, 20 * MS);
        assert_eq!(book.complete(), None);
        book.frame(1, &frame(4, 1), 9, 30 * MS);
        assert_eq!((book.complete(), book.began()), (Some(30 * MS), Some(20 * MS)));
    }

    #[test]
    fn frames_that_take_equally_long_have_no_jitter() {
        assert!(book(&[0, 1, 2, 3]).jitter() < 1.0);
        let mut book = book(&[0]);
        book.frame(0, &frame(3, 1), 9, 28 * MS);
        assert!((book.jitter() - 1e6).abs() < 1.0, "{}", book.jitter());
    }
}
