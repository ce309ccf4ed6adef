//! What one watcher received of the broadcasts that it watches. **Every frame is verified here.**
use super::delays::Delays;
use crate::payload;
use crate::sequence::{Arrival, SequenceTracker};

/// Received frames by the result of their verification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Frames that arrived unchanged, for the first time.
    pub delivered: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that arrived again.
    pub duplicated: u64,
    /// Frames that arrived after a later one.
    pub out_of_order: u64,
    /// Frames whose bytes are not those of a frame that was sent.
    pub corrupt: u64,
    /// Frames of another broadcast.
    pub extra: u64,
    /// Groups that did not arrive, or whose rest the relay skipped.
    pub skipped_groups: u64,
    /// Pauses between two frames that exceeded the threshold.
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

/// The receiver of one watcher. Times are nanoseconds of the generator's clock.
pub struct Receiver {
    tracks: Vec<Track>,
    /// A longer pause between two frames is a freeze.
    freeze_threshold: u64,
    /// Since the beginning, or the last `restart`.
    pub counts: Counts,
    /// The longest freeze.
    pub longest_freeze: u64,
}

/// What it received of one broadcast.
struct Track {
    broadcast: u32,
    tracker: SequenceTracker,
    arrivals: Option<Arrivals>,
    last_group: Option<u64>,
    /// The first sequence number that is expected, after a `restart`.
    expected_from: Option<u64>,
    delays: Delays,
    /// RFC 3550 section 6.4.1.
    jitter: f64,
}

#[derive(Clone, Copy)]
struct Arrivals {
    /// The lowest sequence number that arrived.
    lowest: u64,
    /// When the first frame arrived.
    first_at: u64,
    /// When the last frame arrived.
    last_at: u64,
    /// From the making of the last frame to its arrival.
    transit: u64,
}

impl Receiver {
    /// Of these broadcasts. `freeze_threshold`: a longer pause between two frames is a freeze.
    pub fn new(broadcasts: &[usize], freeze_threshold: u64) -> anyhow::Result<Self> {
        let track = |broadcast: &usize| {
            Ok(Track {
                broadcast: u32::try_from(*broadcast)?,
                tracker: SequenceTracker::default(),
                arrivals: None,
                last_group: None,
                expected_from: None,
                delays: Delays::new()?,
                jitter: 0.0,
            })
        };
        Ok(Self {
            tracks: broadcasts.iter().map(track).collect::<anyhow::Result<_>>()?,
            freeze_threshold,
            counts: Counts::default(),
            longest_freeze: 0,
        })
    }

    /// Verifies and counts a frame. `made`: how many frames its publisher has made.
    pub fn record_frame(&mut self, track: usize, payload: &[u8], made: u64, now: u64) {
        let Some(track) = self.tracks.get_mut(track) else { return };
        let Some(stamp) = payload::verify(payload) else {
            self.counts.corrupt += 1;
            return;
        };
        if stamp.topic != track.broadcast || stamp.sequence >= made {
            self.counts.extra += 1;
            return;
        }
        let transit = now.saturating_sub(stamp.time);
        if track.expected_from.is_some_and(|from| stamp.sequence < from) {
            let pause = track.arrive(stamp.sequence, now, transit);
            self.record_pause(pause);
            return;
        }
        match track.tracker.record(stamp.sequence) {
            Arrival::Duplicate => {
                self.counts.duplicated += 1;
                return;
            }
            Arrival::OutOfOrder => self.counts.out_of_order += 1,
            Arrival::InOrder => {}
        }
        self.counts.delivered += 1;
        self.counts.bytes += payload.len() as u64;
        let pause = track.arrive(stamp.sequence, now, transit);
        track.delays.record(transit);
        self.record_pause(pause);
    }

    /// Expects from now on the frames that are made from now on. Earlier frames that still arrive only end pauses.
    pub fn restart(&mut self, made: impl Fn(usize) -> u64) {
        for track in &mut self.tracks {
            track.expected_from = Some(made(track.broadcast as usize));
            track.tracker = SequenceTracker::default();
        }
        let Counts { duplicated, out_of_order, corrupt, extra, .. } = self.counts;
        self.counts = Counts { duplicated, out_of_order, corrupt, extra, ..Counts::default() };
        self.longest_freeze = 0;
        self.restart_delays();
    }

    /// Forgets the delays of all frames.
    pub fn restart_delays(&mut self) {
        self.tracks.iter_mut().for_each(|track| track.delays.reset());
    }

    /// The delays of the frames of the broadcasts that are chosen by their index.
    pub fn delays(&self, chosen: impl Fn(usize) -> bool) -> anyhow::Result<Delays> {
        let mut delays = Delays::new()?;
        for track in self.tracks.iter().filter(|track| chosen(track.broadcast as usize)) {
            delays.add(&track.delays)?;
        }
        Ok(delays)
    }

    /// Records the beginning of a group, and the groups between it and the previous one as skipped.
    pub fn record_group(&mut self, track: usize, sequence: u64) {
        let Some(track) = self.tracks.get_mut(track) else { return };
        let last = track.last_group.replace(sequence);
        self.counts.skipped_groups += last.map_or(0, |last| sequence.saturating_sub(last + 1));
    }

    /// Records that the relay skipped the rest of a group.
    pub fn record_skipped_group(&mut self) {
        self.counts.skipped_groups += 1;
    }

    fn record_pause(&mut self, pause: u64) {
        if pause > self.freeze_threshold {
            self.counts.freezes += 1;
            self.longest_freeze = self.longest_freeze.max(pause);
        }
    }

    /// Ends the pauses that last until now, as publishing ended.
    pub fn finish(&mut self, now: u64) {
        let pauses = self.tracks.iter().filter_map(|track| Some(now.saturating_sub(track.arrivals?.last_at)));
        for pause in pauses.collect::<Vec<_>>() {
            self.record_pause(pause);
        }
    }

    /// When the first frame of all broadcasts arrived. `None`: a frame of one of them has not arrived.
    pub fn first_frame_at(&self) -> Option<u64> {
        self.first_frames()?.into_iter().min()
    }

    /// When the first frame of each broadcast had arrived. `None`: a frame of one of them has not arrived.
    pub fn all_tracks_at(&self) -> Option<u64> {
        Some(self.first_frames()?.into_iter().max().unwrap_or_default())
    }

    fn first_frames(&self) -> Option<Vec<u64>> {
        self.tracks.iter().map(|track| track.arrivals.map(|arrivals| arrivals.first_at)).collect()
    }

    /// How many expected frames did not arrive. `made`: how many frames of a broadcast were made.
    pub fn missing(&self, made: impl Fn(usize) -> u64) -> u64 {
        self.sum(made, |track, first, made| track.tracker.missing(made).saturating_sub(first))
    }

    /// How many frames are expected: those from the first that arrived of each broadcast, or from the last `restart`.
    pub fn expected(&self, made: impl Fn(usize) -> u64) -> u64 {
        self.sum(made, |_, first, made| made.saturating_sub(first))
    }

    fn sum(&self, made: impl Fn(usize) -> u64, count: impl Fn(&Track, u64, u64) -> u64) -> u64 {
        // All frames are expected of a broadcast of which none arrived.
        let first = |track: &Track| {
            let lowest = track.arrivals.map_or(0, |arrivals| arrivals.lowest);
            track.expected_from.unwrap_or(lowest)
        };
        self.tracks.iter().map(|track| count(track, first(track), made(track.broadcast as usize))).sum()
    }

    /// The mean of the jitter of its broadcasts, in nanoseconds.
    #[allow(clippy::cast_precision_loss, reason = "a count of broadcasts fits")]
    pub fn jitter(&self) -> f64 {
        self.tracks.iter().map(|track| track.jitter).sum::<f64>() / self.tracks.len().max(1) as f64
    }
}

impl Track {
    /// Records the time of an arrival. Returns the time since the previous one.
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a run fit")]
    fn arrive(&mut self, sequence: u64, now: u64, transit: u64) -> u64 {
        let Some(arrivals) = &mut self.arrivals else {
            self.arrivals = Some(Arrivals { lowest: sequence, first_at: now, last_at: now, transit });
            return 0;
        };
        self.jitter += (transit.abs_diff(arrivals.transit) as f64 - self.jitter) / 16.0;
        let pause = now.saturating_sub(arrivals.last_at);
        *arrivals =
            Arrivals { lowest: arrivals.lowest.min(sequence), first_at: arrivals.first_at, last_at: now, transit };
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{HEADER_BYTES, Stamp, encode};

    const MS: u64 = 1_000_000;

    fn frame(topic: u32, sequence: u64) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut out, &Stamp { topic, sequence, time: sequence * 10 * MS }, b"body");
        out
    }

    /// A receiver of broadcast 3. Each of these frames, one per ten milliseconds, arrived two milliseconds after it was made.
    fn receiver(sequences: &[u64]) -> Receiver {
        let mut receiver = Receiver::new(&[3], 500 * MS).unwrap();
        for sequence in sequences {
            receiver.record_frame(0, &frame(3, *sequence), 100, (sequence * 10 + 2) * MS);
        }
        receiver
    }

    #[test]
    fn frames_before_the_first_arrival_are_not_expected() {
        let receiver = receiver(&[40, 41, 42]);
        assert_eq!((receiver.expected(|_| 43), receiver.missing(|_| 43), receiver.counts.delivered), (3, 0, 3));
        assert_eq!((receiver.missing(|_| 45), receiver.first_frame_at()), (2, Some(402 * MS)));
    }

    #[test]
    fn missing_duplicate_and_reordered_frames_are_counted() {
        let receiver = receiver(&[10, 12, 12, 15, 14]);
        assert_eq!((receiver.missing(|_| 16), receiver.expected(|_| 16)), (2, 6));
        let Counts { duplicated, out_of_order, delivered, .. } = receiver.counts;
        assert_eq!((duplicated, out_of_order, delivered), (1, 1, 4));
    }

    #[test]
    fn corrupt_frames_and_those_of_another_broadcast_are_counted() {
        let mut receiver = receiver(&[1]);
        let mut changed = frame(3, 2);
        changed[HEADER_BYTES] ^= 1;
        for (payload, made) in [(changed, 10), (frame(4, 2), 10), (frame(3, 10), 10)] {
            receiver.record_frame(0, &payload, made, 30 * MS);
        }
        let Counts { corrupt, extra, delivered, .. } = receiver.counts;
        assert_eq!((corrupt, extra, delivered), (1, 2, 1));
    }

    #[test]
    fn a_long_pause_is_a_freeze_also_at_the_end() {
        let mut receiver = receiver(&[0, 1, 60, 61]);
        assert_eq!((receiver.counts.freezes, receiver.longest_freeze), (1, 590 * MS));
        receiver.finish(612 * MS + 500 * MS);
        assert_eq!(receiver.counts.freezes, 1);
        receiver.finish(612 * MS + 501 * MS);
        assert_eq!((receiver.counts.freezes, receiver.longest_freeze), (2, 590 * MS));
    }

    #[test]
    fn groups_that_did_not_arrive_are_counted() {
        let mut receiver = receiver(&[]);
        for sequence in [7, 8, 11] {
            receiver.record_group(0, sequence);
        }
        assert_eq!(receiver.counts.skipped_groups, 2);
    }

    #[test]
    fn without_an_arrival_all_frames_are_missing() {
        let receiver = Receiver::new(&[0, 1], 1).unwrap();
        assert_eq!((receiver.missing(|_| 5), receiver.expected(|_| 5), receiver.first_frame_at()), (10, 10, None));
    }

    #[test]
    fn after_a_restart_only_later_frames_are_expected() {
        let mut receiver = receiver(&[0, 1, 4, 5, 60]);
        receiver.restart(|_| 62);
        assert_eq!((receiver.expected(|_| 62), receiver.missing(|_| 62), receiver.counts.freezes), (0, 0, 0));
        for sequence in [61, 63, 130] {
            receiver.record_frame(0, &frame(3, sequence), 200, (sequence * 10 + 2) * MS);
        }
        assert_eq!((receiver.expected(|_| 132), receiver.missing(|_| 132), receiver.counts.delivered), (70, 68, 2));
        assert_eq!((receiver.counts.freezes, receiver.longest_freeze), (1, 670 * MS));
    }

    #[test]
    fn all_tracks_arrived_once_the_last_one_did() {
        let mut receiver = Receiver::new(&[3, 4], 500 * MS).unwrap();
        receiver.record_frame(0, &frame(3, 1), 9, 20 * MS);
        assert_eq!(receiver.all_tracks_at(), None);
        receiver.record_frame(1, &frame(4, 1), 9, 30 * MS);
        assert_eq!((receiver.all_tracks_at(), receiver.first_frame_at()), (Some(30 * MS), Some(20 * MS)));
    }

    #[test]
    fn frames_of_equal_transit_times_have_no_jitter() {
        assert!(receiver(&[0, 1, 2, 3]).jitter() < 1.0);
        let mut receiver = receiver(&[0]);
        receiver.record_frame(0, &frame(3, 1), 9, 28 * MS);
        assert!((receiver.jitter() - 1e6).abs() < 1.0, "{}", receiver.jitter());
    }
}
