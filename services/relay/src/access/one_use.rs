//! Codes that let one socket in: a web page's way to open a topic, as it can give its WebSocket no header. Rules STR-110 and STR-111.
use super::Answer;
use super::grant::Grant;
use crate::codes::Code;
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
    /// Keeps a pass for the time codes live.
    fn keep(&self, code: &str, pass: Pass) -> Answer<'_, ()>;
    /// Takes a pass out: of several who come with one code, one gets it. `None`: unknown, used or too old, and nobody learns which.
    fn take(&self, code: &str) -> Answer<'_, Option<Pass>>;
}

const RANDOM_BYTES: usize = 16;

/// A code nobody can guess.
pub fn random() -> Result<String, Code> {
    let mut bytes = [0; RANDOM_BYTES];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Code::NotReady)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Whether it looks like a code: nothing else is asked of a store.
pub fn is_code(text: &str) -> bool {
    URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == RANDOM_BYTES)
}

/// Codes of one pod.
pub struct Memory {
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
    /// At most `most` codes, each of which lives for `lifetime`.
    pub fn new(most: usize, lifetime: Duration) -> Self {
        Self { kept: Mutex::default(), lifetime, most }
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
    fn keep(&self, code: &str, pass: Pass) -> Answer<'_, ()> {
        let code = code.to_owned();
        Box::pin(async move {
            let now = Instant::now();
            let mut kept = self.kept.lock();
            kept.forget_old(now);
            // Used ones count until their time is up: they bound the list of ends.
            if kept.ends.len() >= self.most {
                return Err(Code::TooManyCodes);
            }
            kept.ends.push_back((now + self.lifetime, code.clone()));
            kept.passes.insert(code, (pass, now + self.lifetime));
            Ok(())
        })
    }

    fn take(&self, code: &str) -> Answer<'_, Option<Pass>> {
        let taken = self.kept.lock().passes.remove(code);
        let live = taken.filter(|(_, end)| *end > Instant::now()).map(|(pass, _)| pass);
        Box::pin(async move { Ok(live) })
    }
}
