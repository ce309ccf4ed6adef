//! Tokens and people that are sent away before their time. Rules STR-114, STR-115 and STR-118.
use super::Answer;
use super::grant::Grant;
use crate::Limits;
use parking_lot::Mutex;
use parley_net::codes::Code;
use parley_net::size;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Whom: `{"jti": …}` or `{"sub": …}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revocation {
    /// The one token.
    #[serde(rename = "jti")]
    Token(Box<str>),
    /// Every token of the one it was made for.
    #[serde(rename = "sub")]
    Subject(Box<str>),
}

impl Revocation {
    /// The name in it.
    pub fn name(&self) -> &str {
        match self {
            Revocation::Token(name) | Revocation::Subject(name) => name,
        }
    }
}

/// Whom, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Whom.
    #[serde(flatten)]
    pub whom: Revocation,
    /// For how long.
    #[serde(flatten)]
    pub term: Term,
}

/// Times are seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// Tokens made later are as good as ever; all are revoked where there is no such time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Until when it holds.
    pub until: u64,
}

impl Term {
    /// Every token, until then.
    pub fn all(until: u64) -> Self {
        Self { before: None, until }
    }

    /// At least what both say, in whatever order they are heard.
    fn with(self, other: Self) -> Self {
        let before = self.before.zip(other.before).map(|(one, other)| one.max(other));
        Self { before, until: self.until.max(other.until) }
    }
}

impl Entry {
    /// One number for each entry, the same on every pod.
    fn digest(&self) -> u64 {
        let kind = matches!(self.whom, Revocation::Subject(_));
        let Term { before, until } = self.term;
        let text = format!("{kind} {before:?} {until} {}", self.whom.name());
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        digest.as_ref().iter().take(size_of::<u64>()).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// Tells every pod.
pub trait Revocations: Send + Sync {
    /// Revokes until a time in seconds since 1970. Once it is answered, this pod's `Revoked` holds it, and the others' soon after.
    /// `NotReady`: this pod's holds it, and the others' will once they can be reached.
    fn revoke(&self, whom: Revocation, until: u64) -> Answer<'_, ()>;
}

/// How many entries there are at most.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// That somebody asked for: none of them makes room.
    pub asked: usize,
    /// Of people who left a room, which are many: those that are over soonest make room.
    pub departed: usize,
}

/// As the limits say.
pub fn most(limits: &Limits) -> Most {
    Most { asked: size(limits.pod_revocations), departed: size(limits.pod_departures) }
}

/// What is revoked, as one pod knows it.
#[derive(Debug)]
pub struct Revoked {
    list: Mutex<List>,
    most: Most,
}

#[derive(Debug, Default)]
struct List {
    terms: HashMap<Revocation, Term>,
    asked: BTreeSet<(u64, Revocation)>,
    departed: BTreeSet<(u64, Revocation)>,
    /// Of all entries, whatever their order.
    digest: u64,
}

impl List {
    /// Those of one kind, the one that is over soonest first. A departure says which tokens it means; whoever asks means all.
    fn kind(&mut self, term: Term) -> &mut BTreeSet<(u64, Revocation)> {
        if term.before.is_some() { &mut self.departed } else { &mut self.asked }
    }

    fn remove(&mut self, whom: &Revocation) {
        let Some(term) = self.terms.remove(whom) else { return };
        self.kind(term).remove(&(term.until, whom.clone()));
        self.digest ^= Entry { whom: whom.clone(), term }.digest();
    }

    fn insert(&mut self, Entry { whom, term }: Entry) {
        self.kind(term).insert((term.until, whom.clone()));
        self.digest ^= Entry { whom: whom.clone(), term }.digest();
        self.terms.insert(whom, term);
    }

    fn forget_old(&mut self, now: u64) {
        loop {
            let first =
                [self.asked.first(), self.departed.first()].into_iter().flatten().find(|(until, _)| *until <= now);
            let Some((_, whom)) = first.cloned() else { return };
            self.remove(&whom);
        }
    }

    fn add(&mut self, entry: Entry, most: Most) -> Result<(), Code> {
        let Entry { whom, mut term } = entry;
        let known = self.terms.get(&whom).copied();
        if let Some(known) = known {
            term = term.with(known);
            if term == known {
                return Ok(());
            }
        }
        let is_new = known.is_none_or(|known| known.before.is_some() != term.before.is_some());
        let most = if term.before.is_some() { most.departed } else { most.asked };
        if is_new && self.kind(term).len() >= most {
            // Of two full lists the same is kept, in whatever order it is heard.
            let soonest = self.departed.first().filter(|_| term.before.is_some()).cloned();
            match soonest.filter(|soonest| *soonest < (term.until, whom.clone())) {
                Some((_, soonest)) => self.remove(&soonest),
                None => return Err(Code::TooManyRevocations),
            }
        }
        self.remove(&whom);
        self.insert(Entry { whom, term });
        Ok(())
    }
}

impl Revoked {
    /// At most so many at once.
    pub fn new(most: Most) -> Self {
        Self { list: Mutex::default(), most }
    }

    /// Adds one; the sweep ends its sockets. `now`: seconds since 1970.
    pub fn add(&self, entry: Entry, now: u64) -> Result<(), Code> {
        let mut list = self.list.lock();
        list.forget_old(now);
        list.add(entry, self.most)
    }

    /// Adds what another pod knows; answers how many of them there was no room for.
    pub fn merge(&self, entries: Vec<Entry>, now: u64) -> u64 {
        let mut list = self.list.lock();
        list.forget_old(now);
        let live = entries.into_iter().filter(|entry| entry.term.until > now);
        live.map(|entry| u64::from(list.add(entry, self.most).is_err())).sum()
    }

    /// All of it.
    pub fn entries(&self, now: u64) -> Vec<Entry> {
        let mut list = self.list.lock();
        list.forget_old(now);
        list.terms.iter().map(|(whom, term)| Entry { whom: whom.clone(), term: *term }).collect()
    }

    /// A number that pods with the same list share, and others do not.
    pub fn digest(&self, now: u64) -> u64 {
        let mut list = self.list.lock();
        list.forget_old(now);
        list.digest
    }

    /// Whether a grant is revoked. A token that does not say when it was made may be an old one.
    pub fn covers(&self, grant: &Grant) -> bool {
        let terms = &self.list.lock().terms;
        let means = |term: &Term| term.before.is_none_or(|before| grant.made.is_none_or(|made| made <= before));
        let has = |whom: Option<Revocation>| whom.and_then(|whom| terms.get(&whom)).is_some_and(means);
        !terms.is_empty()
            && (has(grant.token.clone().map(Revocation::Token)) || has(grant.subject.clone().map(Revocation::Subject)))
    }
}

/// Revocations of one pod.
pub struct Memory(pub Arc<Revoked>);

impl Revocations for Memory {
    fn revoke(&self, whom: Revocation, until: u64) -> Answer<'_, ()> {
        Box::pin(async move { self.0.add(Entry { whom, term: Term::all(until) }, super::now()) })
    }
}
