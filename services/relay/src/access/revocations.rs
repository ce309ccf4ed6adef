//! Tokens and people that are sent away before their time. Rules STR-114 and STR-115.
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

/// Tells every pod.
pub trait Revocations: Send + Sync {
    /// Revokes until a time in seconds since 1970. Once it is answered, this pod's `Revoked` holds it, and the others' soon after.
    fn revoke(&self, whom: Revocation, until: u64) -> Answer<'_, ()>;
}

/// What is revoked, as one pod knows it.
#[derive(Debug)]
pub struct Revoked {
    until: Mutex<HashMap<Revocation, u64>>,
    most: usize,
}

impl Revoked {
    /// At most `most` at once.
    pub fn new(most: usize) -> Self {
        Self { until: Mutex::default(), most }
    }

    /// Adds one; the sweep ends its sockets. `now`: seconds since 1970. None is forgotten before its time to make room.
    pub fn add(&self, whom: Revocation, until: u64, now: u64) -> Result<(), Code> {
        let mut list = self.until.lock();
        list.retain(|_, end| *end > now);
        if list.len() >= self.most && !list.contains_key(&whom) {
            return Err(Code::TooManyRevocations);
        }
        list.entry(whom).and_modify(|end| *end = until.max(*end)).or_insert(until);
        Ok(())
    }

    /// Whether a grant is revoked.
    pub fn covers(&self, grant: &Grant) -> bool {
        let list = self.until.lock();
        let has = |whom: Option<Revocation>| whom.is_some_and(|whom| list.contains_key(&whom));
        !list.is_empty()
            && (has(grant.token.clone().map(Revocation::Token)) || has(grant.subject.clone().map(Revocation::Subject)))
    }
}

/// Revocations of one pod.
pub struct Memory(pub Arc<Revoked>);

impl Revocations for Memory {
    fn revoke(&self, whom: Revocation, until: u64) -> Answer<'_, ()> {
        Box::pin(async move { self.0.add(whom, until, super::now()) })
    }
}
