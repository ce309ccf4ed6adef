//! Tokens and subjects that are revoked before their tokens expire. Rules STR-114, STR-115 and STR-118.
use super::Answer;
use super::grant::Grant;
use crate::Limits;
use parking_lot::Mutex;
use parley_net::codes::Code;
use parley_net::size;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What is revoked: `{"jti": …}` or `{"sub": …}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revocation {
    /// One token.
    #[serde(rename = "jti")]
    Token(Box<str>),
    /// Every token of a subject.
    #[serde(rename = "sub")]
    Subject(Box<str>),
}

impl Revocation {
    /// The id of the token, or the name of the subject.
    pub fn name(&self) -> &str {
        match self {
            Revocation::Token(name) | Revocation::Subject(name) => name,
        }
    }
}

/// A revocation with its term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What is revoked.
    #[serde(flatten)]
    pub revocation: Revocation,
    /// The term.
    #[serde(flatten)]
    pub term: Term,
}

/// Which tokens are revoked, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The highest generation that is revoked, of a participant who left a room; without it, all tokens are revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// When the revocation expires: seconds since 1970.
    pub until: u64,
}

impl Term {
    /// Revokes every token until this time.
    pub fn all(until: u64) -> Self {
        Self { generation: None, until }
    }

    /// The union of two terms, which does not depend on their order.
    fn union(self, other: Self) -> Self {
        let generation = self.generation.zip(other.generation).map(|(one, other)| one.max(other));
        Self { generation, until: self.until.max(other.until) }
    }
}

impl Entry {
    /// A hash of the entry, the same on every pod.
    fn digest(&self) -> u64 {
        let kind = matches!(self.revocation, Revocation::Subject(_));
        let Term { generation, until } = self.term;
        let text = format!("{kind} {generation:?} {until} {}", self.revocation.name());
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        digest.as_ref().iter().take(size_of::<u64>()).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// Publishes revocations to every pod.
pub trait Revocations: Send + Sync {
    /// Revokes until a time in seconds since 1970. On success the `Revoked` of this pod contains the revocation, and those of the others do soon
    /// after. `NotReady`: that of this pod contains it, and the others will once they can be reached.
    fn revoke(&self, revocation: Revocation, until: u64) -> Answer<'_, ()>;
}

/// The most entries of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Revocations that an operator requested. None of them is evicted.
    pub requested: usize,
    /// Revocations of participants who left a room. There are many of them; those that expire first are evicted.
    pub departed: usize,
}

/// The capacity according to the limits.
pub fn capacity(limits: &Limits) -> Capacity {
    Capacity { requested: size(limits.pod_revocations), departed: size(limits.pod_departures) }
}

/// The revocations that one pod knows.
#[derive(Debug)]
pub struct Revoked {
    list: Mutex<List>,
    capacity: Capacity,
}

#[derive(Debug, Default)]
struct List {
    terms: HashMap<Revocation, Term>,
    requested: BTreeSet<(u64, Revocation)>,
    departed: BTreeSet<(u64, Revocation)>,
    /// The digest of all entries, independent of their order.
    digest: u64,
}

impl List {
    /// The entries of one kind, in the order of expiry. A departure revokes tokens up to a generation, a requested revocation all.
    fn kind(&mut self, term: Term) -> &mut BTreeSet<(u64, Revocation)> {
        if term.generation.is_some() { &mut self.departed } else { &mut self.requested }
    }

    fn remove(&mut self, revocation: &Revocation) {
        let Some(term) = self.terms.remove(revocation) else { return };
        self.kind(term).remove(&(term.until, revocation.clone()));
        self.digest ^= Entry { revocation: revocation.clone(), term }.digest();
    }

    fn insert(&mut self, Entry { revocation, term }: Entry) {
        self.kind(term).insert((term.until, revocation.clone()));
        self.digest ^= Entry { revocation: revocation.clone(), term }.digest();
        self.terms.insert(revocation, term);
    }

    fn remove_expired(&mut self, now: u64) {
        loop {
            let first =
                [self.requested.first(), self.departed.first()].into_iter().flatten().find(|(until, _)| *until <= now);
            let Some((_, revocation)) = first.cloned() else { return };
            self.remove(&revocation);
        }
    }

    fn add(&mut self, entry: Entry, capacity: Capacity) -> Result<(), Code> {
        let Entry { revocation, mut term } = entry;
        let known = self.terms.get(&revocation).copied();
        if let Some(known) = known {
            term = term.union(known);
            if term == known {
                return Ok(());
            }
        }
        let is_new = known.is_none_or(|known| known.generation.is_some() != term.generation.is_some());
        let max = if term.generation.is_some() { capacity.departed } else { capacity.requested };
        if is_new && self.kind(term).len() >= max {
            // Full lists of two pods keep the same entries, whatever the order in which these arrive.
            let soonest = self.departed.first().filter(|_| term.generation.is_some()).cloned();
            match soonest.filter(|soonest| *soonest < (term.until, revocation.clone())) {
                Some((_, soonest)) => self.remove(&soonest),
                None => return Err(Code::TooManyRevocations),
            }
        }
        self.remove(&revocation);
        self.insert(Entry { revocation, term });
        Ok(())
    }
}

impl Revoked {
    /// An empty list with this capacity.
    pub fn new(capacity: Capacity) -> Self {
        Self { list: Mutex::default(), capacity }
    }

    /// Adds a revocation; the sweep closes its sockets. `now`: seconds since 1970.
    pub fn add(&self, entry: Entry, now: u64) -> Result<(), Code> {
        let mut list = self.list.lock();
        list.remove_expired(now);
        list.add(entry, self.capacity)
    }

    /// Adds the entries of another pod. Returns how many were refused for lack of capacity.
    pub fn merge(&self, entries: Vec<Entry>, now: u64) -> u64 {
        let mut list = self.list.lock();
        list.remove_expired(now);
        let valid = entries.into_iter().filter(|entry| entry.term.until > now);
        valid.map(|entry| u64::from(list.add(entry, self.capacity).is_err())).sum()
    }

    /// All entries.
    pub fn entries(&self, now: u64) -> Vec<Entry> {
        let mut list = self.list.lock();
        list.remove_expired(now);
        list.terms.iter().map(|(revocation, term)| Entry { revocation: revocation.clone(), term: *term }).collect()
    }

    /// A digest of the list: equal on two pods if and only if their lists are equal.
    pub fn digest(&self, now: u64) -> u64 {
        let mut list = self.list.lock();
        list.remove_expired(now);
        list.digest
    }

    /// Whether a grant is revoked. A token without a generation counts as the oldest.
    pub fn covers(&self, grant: &Grant) -> bool {
        let terms = &self.list.lock().terms;
        let is_covered = |last| grant.generation.is_none_or(|generation| generation <= last);
        let applies = |term: &Term| term.generation.is_none_or(is_covered);
        let has = |name: Option<Revocation>| name.and_then(|name| terms.get(&name)).is_some_and(applies);
        !terms.is_empty()
            && (has(grant.token.clone().map(Revocation::Token)) || has(grant.subject.clone().map(Revocation::Subject)))
    }
}

/// The revocations of a single pod, in its memory.
pub struct Memory(pub Arc<Revoked>);

impl Revocations for Memory {
    fn revoke(&self, revocation: Revocation, until: u64) -> Answer<'_, ()> {
        Box::pin(async move { self.0.add(Entry { revocation, term: Term::all(until) }, super::now()) })
    }
}
