//! Codes that let one socket in: a web page's way to open a topic, as it can give its WebSocket no header. Rules STR-110, STR-111,
//! STR-117 and STR-131.
use super::Answer;
use super::grant::Grant;
use crate::Limits;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use parley_net::codes::Code;
use parley_net::network::Shares;
use parley_net::size;
use parley_streams::Role;
use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
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
    /// A new code for a client of this network, and its pass kept for the time codes live.
    fn keep(&self, pass: Pass, network: IpAddr) -> Answer<'_, String>;
    /// Takes a pass out: of several who come with one code, one gets it. `None`: unknown, used or too old, and nobody learns which.
    fn take(&self, code: &str) -> Answer<'_, Option<Pass>>;
}

/// Six bytes are eight whole characters: two pods of a region share them once in a million regions.
const MARK_BYTES: usize = 6;
const MARK: usize = 8;
/// Nobody guesses them.
const RANDOM_BYTES: usize = 16;

/// Which pod's memory a code is in; `None`: it is no code, and nothing is asked of a store.
pub fn mark(code: &str) -> Option<&str> {
    let is_code = URL_SAFE_NO_PAD.decode(code).is_ok_and(|bytes| bytes.len() == MARK_BYTES + RANDOM_BYTES);
    is_code.then(|| code.get(..MARK)).flatten()
}

/// What the codes of a pod begin with, and the subject ends with that it is asked for them on. The configuration of NATS has the same,
/// so that no other relay is asked.
pub fn mark_of(pod: &str) -> String {
    let hash = digest::digest(&digest::SHA256, pod.as_bytes());
    hash.as_ref().iter().take(MARK / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// Codes of one pod.
pub struct Memory {
    mark: String,
    kept: Mutex<Kept>,
    lifetime: Duration,
    most: usize,
    shares: Shares,
}

#[derive(Default)]
struct Kept {
    passes: HashMap<String, (Pass, Instant)>,
    /// As all live equally long, the oldest ends first.
    ends: VecDeque<(Instant, String, IpAddr)>,
}

impl Memory {
    /// As the limits have it.
    pub fn with(limits: &Limits) -> Self {
        let lifetime = Duration::from_millis(limits.code_lifetime);
        Self::new(size(limits.pod_codes), limits.address_codes, lifetime)
    }

    /// The codes of a pod among others, which begin with what its name gives.
    pub fn of(pod: &str, limits: &Limits) -> Self {
        Self { mark: mark_of(pod), ..Self::with(limits) }
    }

    /// At most `most` codes, `most_each` of one network, each of which lives for `lifetime`.
    pub fn new(most: usize, most_each: u64, lifetime: Duration) -> Self {
        let mark = URL_SAFE_NO_PAD.encode(rand::random::<[u8; MARK_BYTES]>());
        Self { mark, kept: Mutex::default(), lifetime, most, shares: Shares::new(most_each) }
    }

    /// What its codes begin with.
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
    fn forget_old(&mut self, now: Instant, shares: &Shares) {
        while let Some((end, ..)) = self.ends.front() {
            if *end > now {
                return;
            }
            if let Some((_, code, network)) = self.ends.pop_front() {
                self.passes.remove(&code);
                shares.give(network);
            }
        }
    }
}

impl Codes for Memory {
    fn keep(&self, pass: Pass, network: IpAddr) -> Answer<'_, String> {
        Box::pin(async move {
            let code = self.code()?;
            let now = Instant::now();
            let mut kept = self.kept.lock();
            kept.forget_old(now, &self.shares);
            // Used ones count until their time is up: they bound the list of ends.
            if kept.ends.len() >= self.most || !self.shares.take(network) {
                return Err(Code::TooManyCodes);
            }
            kept.ends.push_back((now + self.lifetime, code.clone(), network));
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
