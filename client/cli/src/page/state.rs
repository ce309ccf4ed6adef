//! One page of a visitor: its swarm, and who else might give it.
use super::address::Address;
use super::swarm::{Refused, Swarm};
use parley_protocol::shared::Holder;
use parley_protocol::visit::Count;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// The longest pause before others are asked for; the shortest is the first.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// As many as the service takes in `exclude`.
const EXCLUDE_MAX: usize = 64;

/// How far a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody who has it is connected yet.
    Finding,
    /// Chunks come.
    Fetching,
    /// All of it is here, and held for others.
    Here,
    /// Nobody holds it.
    Gone,
    /// It cannot be had.
    Refused,
}

/// One page.
pub struct Page {
    /// What is here of it, and who is connected.
    pub swarm: Swarm,
    /// Of the whole site; none while the service is away.
    pub count: Option<Count>,
    /// The service's refusal, or ours.
    pub refused: Option<String>,
    /// Whoever sent what is not of the page: they are not asked any more.
    pub dropped: BTreeSet<String>,
    /// What the service was told last: whether it is here in part or whole.
    said: Option<bool>,
    /// Who may give something, and whether all of it.
    known: BTreeMap<String, bool>,
    /// Who is left alone until then.
    resting: BTreeMap<String, Instant>,
    /// The service knows that it is wanted.
    asked: bool,
    /// The service is not to be asked or told anything before.
    silent: Instant,
    wants_at: Instant,
    tries: u32,
}

impl Page {
    /// Of which nothing is known.
    pub fn new(page: Address, most: u64, now: Instant) -> Self {
        Self {
            swarm: Swarm::new(page, most, fastrand::u64(..)),
            count: None,
            refused: None,
            dropped: BTreeSet::new(),
            said: None,
            known: BTreeMap::new(),
            resting: BTreeMap::new(),
            asked: false,
            silent: now,
            wants_at: now,
            tries: 0,
        }
    }

    /// How far it is.
    pub fn state(&self, connected: bool) -> State {
        let gone = self.count.as_ref().is_some_and(|count| count.settled && count.holders == 0);
        if self.swarm.is_whole() && self.swarm.refused.is_none() {
            State::Here
        } else if self.why().is_some() {
            State::Refused
        } else if connected {
            State::Fetching
        } else if gone {
            State::Gone
        } else {
            State::Finding
        }
    }

    /// Why it cannot be had.
    pub fn why(&self) -> Option<String> {
        let unfit = self.swarm.refused.map(|why| match why {
            Refused::TooLarge(bytes) => format!("it has {bytes} bytes (PAGE_TOO_LARGE)"),
            Refused::Malformed(why) => format!("whoever made it made no page: {why} (PAGE_INVALID)"),
        });
        unfit.or_else(|| self.refused.clone())
    }

    /// Whether it is to be fetched.
    pub fn is_wanted(&self) -> bool {
        !self.swarm.is_whole() && self.why().is_none()
    }

    /// Everybody is found anew: the service is another, or we are another visitor to it.
    pub fn forget(&mut self) {
        (self.count, self.said, self.asked) = (None, None, false);
        self.known.clear();
    }

    /// Some who may give something.
    pub fn meet(&mut self, givers: &[Holder]) {
        for Holder { visitor, whole } in givers {
            self.known.insert(visitor.to_string(), *whole);
        }
    }

    /// Somebody is left alone for a while.
    pub fn rest(&mut self, visitor: &str, until: Instant) {
        self.resting.insert(visitor.to_owned(), until);
    }

    /// Somebody is not there any more.
    pub fn lose(&mut self, visitor: &str) {
        self.known.remove(visitor);
    }

    /// Somebody to connect with: one who has all of it where there is one, else by chance.
    pub fn choose(&mut self, now: Instant, busy: impl Fn(&str) -> bool) -> Option<String> {
        self.resting.retain(|_, until| *until > now);
        let free =
            |visitor: &str| !self.dropped.contains(visitor) && !self.resting.contains_key(visitor) && !busy(visitor);
        let free: Vec<_> = self.known.iter().filter(|(visitor, _)| free(visitor)).collect();
        let whole: Vec<_> = free.iter().filter(|(_, whole)| **whole).copied().collect();
        let among = if whole.is_empty() { free } else { whole };
        fastrand::choice(among).map(|(visitor, _)| visitor.clone())
    }

    /// Whether the service is to be asked now, for the first time or as there is nobody to connect with; without whom.
    pub fn wants(&mut self, now: Instant, alone: bool, connected: &[String]) -> Option<Vec<String>> {
        if now < self.wants_at.max(self.silent) || (self.asked && !alone) {
            return None;
        }
        self.asked = true;
        let pause = PAUSE.saturating_mul(1 << self.tries.min(8)).min(PAUSE_MAX);
        // Half of it by chance, so that those who lost somebody together do not ask together.
        self.wants_at = now + pause.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.tries += 1;
        let exclude: BTreeSet<&String> = self.dropped.iter().chain(self.resting.keys()).chain(connected).collect();
        Some(exclude.into_iter().take(EXCLUDE_MAX).cloned().collect())
    }

    /// Something came: whoever is lost next is looked for soon.
    pub fn goes_on(&mut self) {
        self.tries = 0;
    }

    /// The service was asked or told too much: it is again, but not before then.
    pub fn wait(&mut self, until: Instant) {
        (self.said, self.asked, self.silent) = (None, false, until);
    }

    /// What the service is to be told of what is here, where it does not know that: whether it is whole.
    pub fn tells(&mut self, now: Instant) -> Option<bool> {
        let copy = self.swarm.copy.as_ref().filter(|copy| copy.here() > 0 && now >= self.silent)?;
        let whole = copy.is_whole();
        (self.why().is_none() && self.said.replace(whole) != Some(whole)).then_some(whole)
    }

    /// The next question is at once.
    pub fn hurry(&mut self, now: Instant) {
        (self.wants_at, self.silent, self.tries) = (now, now, 0);
    }
}
