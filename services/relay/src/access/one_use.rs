//! Codes that let one socket in: a web page's way to open a topic, as it can give its WebSocket no header. Rules STR-110, STR-111
//! and STR-117.
use super::Answer;
use super::grant::Grant;
use crate::codes::Code;
use crate::limits::{Limits, size};
use crate::topics::Role;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// What a code is good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The path it was made for.
    pub path: String,
    /// What its holder may do there.
    pub role: Role,
    /// The token it was made with.
    pub grant: Grant,
}

/// Where codes wait for their socket.
pub trait Codes: Send + Sync {
    /// A new code, and its pass kept for the time codes live.
    fn keep(&self, pass: Pass) -> Answer<'_, String>;
    /// Takes a pass out: of several who come with one code, one gets it. `None`: unknown, used or too old, and nobody learns which.
    fn take(&self, code: &str) -> Answer<'_, Option<Pass>>;
}

/// Six bytes are eight whole characters: no two pods of a region share them.
const MARK_BYTES: usize = 6;
const MARK: usize = 8;
/// Nobody guesses them.
const RANDOM_BYTES: usize = 16;

/// Which pod's memory a code is in; `None`: it is no code, and nothing is asked of a store.
pub fn mark(code: &str) -> Option<&str> {
    let is_code = URL_SAFE_NO_PAD.decode(code).is_ok_and(|bytes| bytes.len() == MARK_BYTES + RANDOM_BYTES);
    is_code.then(|| code.get(..MARK)).flatten()
}

/// Codes of one pod.
pub struct Memory {
    mark: String,
    kept: Mutex<Kept>,
    lifetime: Duration,
    most: usize,
}

#[derive(Default)]
struct Kept {
    passes: HashMap<String, (Pass, Instant)>,
    /// As all live equally long, the oldest ends first.
    ends: VecDeque<(Instant, String)>,
}

impl Memory {
    /// As the limits have it.
    pub fn with(limits: &Limits) -> Self {
        Self::new(size(limits.pod_codes), Duration::from_millis(limits.code_lifetime))
    }

    /// At most `most` codes, each of which lives for `lifetime`.
    pub fn new(most: usize, lifetime: Duration) -> Self {
        let mark = URL_SAFE_NO_PAD.encode(rand::random::<[u8; MARK_BYTES]>());
        Self { mark, kept: Mutex::default(), lifetime, most }
    }

    /// What its codes begin with: random, new at each start.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    fn code(&self) -> Result<String, Code> {
        let mut bytes = [0; RANDOM_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| Code::NotReady)?;
        Ok(format!("{}{}", self.mark, URL_SAFE_NO_PAD.encode(bytes)))
    }
}

impl Kept {
    fn forget_old(&mut self, now: Instant) {
        while let Some((end, _)) = self.ends.front() {
            if *end > now {
                return;
            }
            if let Some((_, code)) = self.ends.pop_front() {
                self.passes.remove(&code);
            }
        }
    }
}

impl Codes for Memory {
    fn keep(&self, pass: Pass) -> Answer<'_, String> {
        Box::pin(async move {
            let code = self.code()?;
            let now = Instant::now();
            let mut kept = self.kept.lock();
            kept.forget_old(now);
            // Used ones count until their time is up: they bound the list of ends.
            if kept.ends.len() >= self.most {
                return Err(Code::TooManyCodes);
            }
            kept.ends.push_back((now + self.lifetime, code.clone()));
            kept.passes.insert(code.clone(), (pass, now + self.lifetime));
            Ok(code)
        })
    }

    fn take(&self, code: &str) -> Answer<'_, Option<Pass>> {
        let taken = self.kept.lock().passes.remove(code);
        let live = taken.filter(|(_, end)| *end > Instant::now()).map(|(pass, _)| pass);
        Box::pin(async move { Ok(live) })
    }
}
