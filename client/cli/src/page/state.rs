//! One page of a visitor: its swarm, and its known holders.
use super::address::Address;
use super::swarm::{PageError, Swarm};
use parley_protocol::shared::Holder;
use parley_protocol::visit::Count;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// The first and the longest pause before the service is subscribed for more holders.
const PAUSE: Duration = Duration::from_secs(2);
const MAX_PAUSE: Duration = Duration::from_secs(15);
/// The limit of the service for the list `exclude`.
const MAX_EXCLUDED: usize = 64;

/// The state of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No holder is connected yet.
    Finding,
    /// Chunks arrive.
    Fetching,
    /// All chunks are present, and others can fetch them.
    Here,
    /// The page has no holder.
    Gone,
    /// The page cannot be fetched.
    Refused,
}

/// One page.
pub struct Page {
    /// Its chunks and its peers.
    pub swarm: Swarm,
    /// The counts of the whole site; absent while the service is not connected.
    pub count: Option<Count>,
    /// Why the service or this visitor refused the page.
    pub refused: Option<String>,
    /// Visitors that violated the protocol. They are not contacted again.
    pub banned: BTreeSet<String>,
    /// The last announcement to the service: whether all chunks are present.
    announced: Option<bool>,
    /// Known holders, and whether each has all chunks.
    holders: BTreeMap<String, bool>,
    /// Visitors that are not contacted before a time.
    backoff: BTreeMap<String, Instant>,
    /// Whether the service has this visitor's subscription.
    subscribed: bool,
    /// No message about this page is sent to the service before this time.
    paused_until: Instant,
    subscribe_at: Instant,
    attempts: u32,
}

impl Page {
    /// A page of which nothing is known.
    pub fn new(page: Address, most: u64, now: Instant) -> Self {
        Self {
            swarm: Swarm::new(page, most, fastrand::u64(..)),
            count: None,
            refused: None,
            banned: BTreeSet::new(),
            announced: None,
            holders: BTreeMap::new(),
            backoff: BTreeMap::new(),
            subscribed: false,
            paused_until: now,
            subscribe_at: now,
            attempts: 0,
        }
    }

    /// The state of the page.
    pub fn state(&self, connected: bool) -> State {
        let gone = self.count.as_ref().is_some_and(|count| count.settled && count.holders == 0);
        if self.swarm.is_complete() && self.swarm.error.is_none() {
            State::Here
        } else if self.refusal().is_some() {
            State::Refused
        } else if connected {
            State::Fetching
        } else if gone {
            State::Gone
        } else {
            State::Finding
        }
    }

    /// Why the page cannot be fetched.
    pub fn refusal(&self) -> Option<String> {
        let error = self.swarm.error.map(|why| match why {
            PageError::TooLarge(bytes) => format!("it has {bytes} bytes (PAGE_TOO_LARGE)"),
            PageError::Malformed(why) => format!("it is no valid page: {why} (PAGE_INVALID)"),
        });
        error.or_else(|| self.refused.clone())
    }

    /// Whether the page is still to be fetched.
    pub fn is_wanted(&self) -> bool {
        !self.swarm.is_complete() && self.refusal().is_none()
    }

    /// Forgets what the service said and was sent: a new socket is a new visitor.
    pub fn forget(&mut self) {
        (self.count, self.announced, self.subscribed) = (None, None, false);
        self.holders.clear();
    }

    /// Adds holders.
    pub fn add_holders(&mut self, holders: &[Holder]) {
        for Holder { visitor, whole } in holders {
            self.holders.insert(visitor.to_string(), *whole);
        }
    }

    /// Does not contact a visitor before a time.
    pub fn back_off(&mut self, visitor: &str, until: Instant) {
        self.backoff.insert(visitor.to_owned(), until);
    }

    /// Removes a holder that left.
    pub fn remove_holder(&mut self, visitor: &str) {
        self.holders.remove(visitor);
    }

    /// Chooses a holder to connect to, at random: one that has all chunks, if there is one.
    pub fn choose_holder(&mut self, now: Instant, busy: impl Fn(&str) -> bool) -> Option<String> {
        self.backoff.retain(|_, until| *until > now);
        let free =
            |visitor: &str| !self.banned.contains(visitor) && !self.backoff.contains_key(visitor) && !busy(visitor);
        let free: Vec<_> = self.holders.iter().filter(|(visitor, _)| free(visitor)).collect();
        let whole: Vec<_> = free.iter().filter(|(_, whole)| **whole).copied().collect();
        let among = if whole.is_empty() { free } else { whole };
        fastrand::choice(among).map(|(visitor, _)| visitor.clone())
    }

    /// Whether to ask the service for holders now: the first time, or because there are `too_few`. Returns the visitors to exclude.
    pub fn next_subscribe(&mut self, now: Instant, too_few: bool, connected: &[String]) -> Option<Vec<String>> {
        if now < self.subscribe_at.max(self.paused_until) || (self.subscribed && !too_few) {
            return None;
        }
        self.subscribed = true;
        let pause = PAUSE.saturating_mul(1 << self.attempts.min(8)).min(MAX_PAUSE);
        // Half of the pause is random, so that readers that lost the same holder do not ask at the same time.
        self.subscribe_at = now + pause.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.attempts += 1;
        let exclude: BTreeSet<&String> = self.banned.iter().chain(self.backoff.keys()).chain(connected).collect();
        Some(exclude.into_iter().take(MAX_EXCLUDED).cloned().collect())
    }

    /// Resets the pause: a chunk arrived.
    pub fn note_progress(&mut self) {
        self.attempts = 0;
    }

    /// Sends nothing to the service before a time: it reported too many messages.
    pub fn pause_until(&mut self, until: Instant) {
        (self.announced, self.subscribed, self.paused_until) = (None, false, until);
    }

    /// What to announce to the service, if it does not know it: whether all chunks are present.
    pub fn next_announcement(&mut self, now: Instant) -> Option<bool> {
        let store = self.swarm.store.as_ref().filter(|store| store.present() > 0 && now >= self.paused_until)?;
        let whole = store.is_complete();
        (self.refusal().is_none() && self.announced.replace(whole) != Some(whole)).then_some(whole)
    }

    /// Asks the service at once the next time.
    pub fn ask_at_once(&mut self, now: Instant) {
        (self.subscribe_at, self.paused_until, self.attempts) = (now, now, 0);
    }
}
