//! What came of one track.
use std::time::Duration;
use tokio::time::Instant;

/// A voice ends its words with a frame of a time and no bytes: what follows is no gap (MEDIA-15).
const ONLY_TIME: usize = 8;
/// A picture that does not come for this long has stopped.
const STOPPED: Duration = Duration::from_secs(2);

/// Counts since it began, and since the last look.
#[derive(Debug, Default)]
pub struct Tally {
    is_voice: bool,
    frames: u64,
    bytes: u64,
    longest: Duration,
    /// When the last frame came; nothing in silence.
    last: Option<Instant>,
    /// The lowest and the highest number of a group, and how many came.
    groups: Option<(u64, u64)>,
    came: u64,
    cut: u64,
    told: u64,
}

/// What came since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The longest time between two frames, or since the last.
    pub longest: Duration,
    /// Groups that never came, or not to their end.
    pub lost: u64,
}

impl Tally {
    /// Of a voice, or of a picture.
    pub fn new(is_voice: bool) -> Self {
        Self { is_voice, ..Self::default() }
    }

    /// A frame came.
    pub fn frame(&mut self, at: Instant, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
        self.gap(at);
        self.last = (!self.is_voice || bytes > ONLY_TIME).then_some(at);
    }

    /// A group began to come.
    pub fn group(&mut self, number: u64) {
        let (first, newest) = self.groups.unwrap_or((number, number));
        self.groups = Some((first.min(number), newest.max(number)));
        self.came += 1;
    }

    /// The rest of a group will not come.
    pub fn cut(&mut self) {
        self.cut += 1;
    }

    /// A picture that does not come any more.
    pub fn has_stopped(&self, now: Instant) -> bool {
        !self.is_voice && self.last.is_some_and(|last| now.saturating_duration_since(last) > STOPPED)
    }

    /// Since the last look, which this is.
    pub fn look(&mut self, now: Instant) -> Part {
        self.gap(now);
        let all = self.groups.map_or(0, |(first, newest)| newest - first + 1);
        // One that comes late was not lost.
        let lost = all.saturating_sub(self.came) + self.cut;
        let part = Part {
            frames: std::mem::take(&mut self.frames),
            bytes: std::mem::take(&mut self.bytes),
            longest: std::mem::take(&mut self.longest),
            lost: lost.saturating_sub(self.told),
        };
        self.told = self.told.max(lost);
        part
    }

    fn gap(&mut self, until: Instant) {
        let gap = self.last.map_or(Duration::ZERO, |last| until.saturating_duration_since(last));
        self.longest = self.longest.max(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_longest_gap_is_between_two_frames_or_since_the_last() {
        let (mut tally, began) = (Tally::new(false), Instant::now());
        for at in [0, 40, 160, 200] {
            tally.frame(began + MS * at, 100);
        }
        let part = |frames, bytes, longest| Part { frames, bytes, longest: MS * longest, lost: 0 };
        assert_eq!(tally.look(began + MS * 210), part(4, 400, 120));
        assert_eq!(tally.look(began + MS * 1210), part(0, 0, 1010));
        assert!(!tally.has_stopped(began + MS * 2200) && tally.has_stopped(began + MS * 2201));
    }

    #[test]
    fn media_15_silence_is_no_gap() {
        let (mut tally, began) = (Tally::new(true), Instant::now());
        tally.frame(began, 80);
        tally.frame(began + MS * 20, 8);
        tally.frame(began + MS * 5000, 80);
        assert_eq!(tally.look(began + MS * 5000).longest, MS * 20);
        assert!(!tally.has_stopped(began + MS * 60_000));
    }

    #[test]
    fn groups_that_never_came_or_were_cut_are_lost_once() {
        let (mut tally, now) = (Tally::new(false), Instant::now());
        [7, 8, 11].into_iter().for_each(|number| tally.group(number));
        tally.cut();
        assert_eq!((tally.look(now).lost, tally.look(now).lost), (3, 0));
        [9, 12].into_iter().for_each(|number| tally.group(number));
        assert_eq!(tally.look(now).lost, 0, "one came late");
        tally.group(14);
        tally.group(15);
        assert_eq!(tally.look(now).lost, 0, "and made up for another");
        tally.group(17);
        assert_eq!(tally.look(now).lost, 1);
    }
}
