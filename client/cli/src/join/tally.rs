//! The statistics of one track.
use std::time::Duration;
use tokio::time::Instant;

/// An audio track ends before silence with a frame that contains a timestamp and no media: the silence after it is not a gap (MEDIA-15).
const TIMESTAMP_BYTES: usize = 8;
/// A video track without frames for this long has stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Counts of a track, in total and since the last report.
#[derive(Debug, Default)]
pub struct Tally {
    is_audio: bool,
    frames: u64,
    bytes: u64,
    longest: Duration,
    /// When the last frame arrived; `None` during silence.
    last: Option<Instant>,
    /// The lowest and the highest group number, and how many groups arrived.
    groups: Option<(u64, u64)>,
    arrived: u64,
    incomplete: u64,
    reported: u64,
}

/// The statistics since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The number of frames.
    pub frames: u64,
    /// The bytes of the frames.
    pub bytes: u64,
    /// The longest time between two frames, or since the last frame.
    pub longest: Duration,
    /// Groups that did not arrive, or not completely.
    pub lost: u64,
}

impl Tally {
    /// The statistics of an audio or a video track.
    pub fn new(is_audio: bool) -> Self {
        Self { is_audio, ..Self::default() }
    }

    /// Counts a frame.
    pub fn frame(&mut self, at: Instant, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
        self.gap(at);
        self.last = (!self.is_audio || bytes > TIMESTAMP_BYTES).then_some(at);
    }

    /// Counts a group that begins.
    pub fn group(&mut self, number: u64) {
        let (first, newest) = self.groups.unwrap_or((number, number));
        self.groups = Some((first.min(number), newest.max(number)));
        self.arrived += 1;
    }

    /// Counts a group whose end does not arrive.
    pub fn incomplete_group(&mut self) {
        self.incomplete += 1;
    }

    /// Whether frames of a video track stopped arriving.
    pub fn has_stopped(&self, now: Instant) -> bool {
        !self.is_audio && self.last.is_some_and(|last| now.saturating_duration_since(last) > STOP_TIMEOUT)
    }

    /// Returns the statistics since the last report, and begins the next interval.
    pub fn report(&mut self, now: Instant) -> Interval {
        self.gap(now);
        let all = self.groups.map_or(0, |(first, newest)| newest - first + 1);
        // A group that arrives late is not lost.
        let lost = all.saturating_sub(self.arrived) + self.incomplete;
        let interval = Interval {
            frames: std::mem::take(&mut self.frames),
            bytes: std::mem::take(&mut self.bytes),
            longest: std::mem::take(&mut self.longest),
            lost: lost.saturating_sub(self.reported),
        };
        self.reported = self.reported.max(lost);
        interval
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
    fn the_longest_gap_is_between_two_frames_or_after_the_last() {
        let (mut tally, began) = (Tally::new(false), Instant::now());
        for at in [0, 40, 160, 200] {
            tally.frame(began + MS * at, 100);
        }
        let interval = |frames, bytes, longest| Interval { frames, bytes, longest: MS * longest, lost: 0 };
        assert_eq!(tally.report(began + MS * 210), interval(4, 400, 120));
        assert_eq!(tally.report(began + MS * 1210), interval(0, 0, 1010));
        assert!(!tally.has_stopped(began + MS * 2200) && tally.has_stopped(began + MS * 2201));
    }

    #[test]
    fn media_15_silence_is_not_a_gap() {
        let (mut tally, began) = (Tally::new(true), Instant::now());
        tally.frame(began, 80);
        tally.frame(began + MS * 20, 8);
        tally.frame(began + MS * 5000, 80);
        assert_eq!(tally.report(began + MS * 5000).longest, MS * 20);
        assert!(!tally.has_stopped(began + MS * 60_000));
    }

    #[test]
    fn missing_and_incomplete_groups_are_reported_once() {
        let (mut tally, now) = (Tally::new(false), Instant::now());
        [7, 8, 11].into_iter().for_each(|number| tally.group(number));
        tally.incomplete_group();
        assert_eq!((tally.report(now).lost, tally.report(now).lost), (3, 0));
        [9, 12].into_iter().for_each(|number| tally.group(number));
        assert_eq!(tally.report(now).lost, 0, "one arrived late");
        tally.group(14);
        tally.group(15);
        assert_eq!(tally.report(now).lost, 0, "the late one offsets a missing one");
        tally.group(17);
        assert_eq!(tally.report(now).lost, 1);
    }
}
