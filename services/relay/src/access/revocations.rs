//! Tokens and people that are sent away before their time. Rules STR-114, STR-115 and STR-118.
use super::Answer;
use super::grant::Grant;
use crate::codes::Code;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Whom: `{"jti": …}` or `{"sub": …}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Whom, and until when in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Whom.
    #[serde(flatten)]
    pub whom: Revocation,
    /// Until when.
    pub until: u64,
}

impl Entry {
    /// One number for each entry, the same on every pod.
    fn digest(&self) -> u64 {
        let kind = matches!(self.whom, Revocation::Subject(_));
        let text = format!("{kind} {} {}", self.until, self.whom.name());
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

/// What is revoked, as one pod knows it.
#[derive(Debug)]
pub struct Revoked {
    list: Mutex<List>,
    most: usize,
}

#[derive(Debug, Default)]
struct List {
    until: HashMap<Revocation, u64>,
    /// Of all entries, whatever their order.
    digest: u64,
}

impl List {
    fn forget_old(&mut self, now: u64) {
        let digest = &mut self.digest;
        self.until.retain(|whom, until| {
            let keeps = *until > now;
            if !keeps {
                *digest ^= Entry { whom: whom.clone(), until: *until }.digest();
            }
            keeps
        });
    }

    /// Of two times the later counts.
    fn add(&mut self, entry: Entry, most: usize) -> Result<(), Code> {
        let known = self.until.get(&entry.whom).copied();
        match known {
            Some(until) if until >= entry.until => return Ok(()),
            Some(until) => self.digest ^= Entry { whom: entry.whom.clone(), until }.digest(),
            None if self.until.len() >= most => return Err(Code::TooManyRevocations),
            None => {}
        }
        self.digest ^= entry.digest();
        self.until.insert(entry.whom, entry.until);
        Ok(())
    }
}

impl Revoked {
    /// At most `most` at once.
    pub fn new(most: usize) -> Self {
        Self { list: Mutex::default(), most }
    }

    /// Adds one; the sweep ends its sockets. `now`: seconds since 1970. None is forgotten before its time to make room.
    pub fn add(&self, entry: Entry, now: u64) -> Result<(), Code> {
        let mut list = self.list.lock();
        list.forget_old(now);
        list.add(entry, self.most)
    }

    /// Adds what another pod knows; answers how many of them there was no room for.
    pub fn merge(&self, entries: Vec<Entry>, now: u64) -> u64 {
        let mut list = self.list.lock();
        list.forget_old(now);
        let live = entries.into_iter().filter(|entry| entry.until > now);
        live.map(|entry| u64::from(list.add(entry, self.most).is_err())).sum()
    }

    /// All of it.
    pub fn entries(&self, now: u64) -> Vec<Entry> {
        let mut list = self.list.lock();
        list.forget_old(now);
        list.until.iter().map(|(whom, until)| Entry { whom: whom.clone(), until: *until }).collect()
    }

    /// A number that pods with the same list share, and others do not.
    pub fn digest(&self, now: u64) -> u64 {
        let mut list = self.list.lock();
        list.forget_old(now);
        list.digest
    }

    /// Whether a grant is revoked.
    pub fn covers(&self, grant: &Grant) -> bool {
        let list = &self.list.lock().until;
        let has = |whom: Option<Revocation>| whom.is_some_and(|whom| list.contains_key(&whom));
        !list.is_empty()
            && (has(grant.token.clone().map(Revocation::Token)) || has(grant.subject.clone().map(Revocation::Subject)))
    }
}

/// Revocations of one pod.
pub struct Memory(pub Arc<Revoked>);

impl Revocations for Memory {
    fn revoke(&self, whom: Revocation, until: u64) -> Answer<'_, ()> {
        Box::pin(async move { self.0.add(Entry { whom, until }, super::now()) })
    }
}
