//! The participants whom owners muted, as signaling publishes them on NATS (MEDIA-29). No I/O, no clock.
use parking_lot::Mutex;
use parley_protocol::media::RelayMutes;
use parley_protocol::shared::ParticipantId;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a mute lasts that is not repeated.
const KEEP: Duration = Duration::from_secs(45);

/// The participants that are muted now.
pub struct Mutes {
    known: Mutex<Known>,
    max: usize,
}

#[derive(Default)]
struct Known {
    /// Until when each is muted, if that is not repeated.
    until: HashMap<ParticipantId, Instant>,
    swept: Option<Instant>,
}

impl Known {
    /// Removes those whose mute was not repeated: often enough that the table does not grow with those who left, and always when it is full.
    fn sweep(&mut self, now: Instant, max: usize) {
        if self.until.len() >= max || self.swept.is_none_or(|swept| now >= swept + KEEP) {
            self.swept = Some(now);
            self.until.retain(|_, until| *until > now);
        }
    }
}

impl Mutes {
    /// Knows at most `max` participants at once.
    pub fn new(max: usize) -> Self {
        Self { known: Mutex::default(), max }
    }

    /// Applies a message. Returns how many participants were refused, as the table is full.
    pub fn apply(&self, message: &RelayMutes, now: Instant) -> u64 {
        let mut known = self.known.lock();
        known.sweep(now, self.max);
        for participant in message.unmuted.iter() {
            known.until.remove(participant);
        }
        let mut refused = 0;
        for participant in message.muted.iter() {
            if known.until.len() < self.max || known.until.contains_key(participant) {
                known.until.insert(participant.clone(), now + KEEP);
            } else {
                refused += 1;
            }
        }
        refused
    }

    /// Whether a participant is muted.
    pub fn covers(&self, participant: &str, now: Instant) -> bool {
        self.known.lock().until.get(participant).is_some_and(|until| *until > now)
    }

    /// How many participants are muted.
    pub fn count(&self, now: Instant) -> u64 {
        self.known.lock().until.values().map(|until| u64::from(*until > now)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(muted: &[&str], unmuted: &[&str]) -> RelayMutes {
        let ids = |names: &[&str]| names.iter().map(|name| id(name).try_into().unwrap()).collect::<Vec<_>>();
        RelayMutes { muted: ids(muted).try_into().unwrap(), unmuted: ids(unmuted).try_into().unwrap() }
    }

    fn id(name: &str) -> String {
        format!("p{name:0>16}")
    }

    #[test]
    fn media_29_a_mute_lasts_until_it_is_taken_back_or_not_repeated() {
        let mutes = Mutes::new(10);
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        assert!(!mutes.covers(&id("1"), now));
        assert_eq!(mutes.apply(&message(&["1", "2"], &[]), now), 0);
        assert!(mutes.covers(&id("1"), now) && mutes.covers(&id("2"), now) && !mutes.covers(&id("3"), now));
        assert_eq!(mutes.count(now), 2);
        mutes.apply(&message(&["2"], &["1"]), later(20));
        assert!(!mutes.covers(&id("1"), later(20)) && mutes.covers(&id("2"), later(64)));
        assert!(!mutes.covers(&id("2"), later(65)));
        assert_eq!((mutes.count(later(64)), mutes.count(later(65))), (1, 0));
    }

    #[test]
    fn media_29_media_mutes_bounds_the_table_and_those_in_it_are_repeated() {
        let mutes = Mutes::new(2);
        let now = Instant::now();
        assert_eq!(mutes.apply(&message(&["1", "2", "3"], &[]), now), 1);
        assert!(!mutes.covers(&id("3"), now));
        assert_eq!(mutes.apply(&message(&["1", "2"], &[]), now + KEEP / 2), 0);
        assert!(mutes.covers(&id("2"), now + KEEP));
        assert_eq!(mutes.apply(&message(&["3"], &["1"]), now + KEEP), 0);
        // Those who left are no longer named, and make place.
        assert_eq!(mutes.apply(&message(&["1"], &[]), now + KEEP * 2), 0);
    }
}
