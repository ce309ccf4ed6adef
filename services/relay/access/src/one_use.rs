//! Codes that each open one socket. Web pages use them, because they cannot set a header of a WebSocket. Rules STR-110, STR-111,
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

/// What a code or a token permits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The path that it opens.
    pub path: String,
    /// The role of its holder there.
    pub role: Role,
    /// The grant of the token behind it.
    pub grant: Grant,
}

/// A store of codes that have not been used yet.
pub trait Codes: Send + Sync {
    /// Creates a code for a client of this network, and stores its pass for the lifetime of codes.
    fn store(&self, pass: Pass, network: IpAddr) -> Answer<'_, String>;
    /// Removes a pass: of several clients with one code, one gets it. `None`: the code is unknown, used or expired; the caller cannot tell which.
    fn take(&self, code: &str) -> Answer<'_, Option<Pass>>;
}

/// The random prefix of a single pod: six bytes are eight characters of base64.
const PREFIX_BYTES: usize = 6;
const PREFIX: usize = 8;
/// 128 bits cannot be guessed.
const RANDOM_BYTES: usize = 16;

/// The prefix of a code, which names the pod that stores it. `None`: it is not a code, and no store needs to be asked.
pub fn prefix(code: &str) -> Option<&str> {
    let is_code = URL_SAFE_NO_PAD.decode(code).is_ok_and(|bytes| bytes.len() == PREFIX_BYTES + RANDOM_BYTES);
    is_code.then(|| code.get(..PREFIX)).flatten()
}

/// The prefix of the codes of a pod. It also ends the subject on which the pod answers requests for its codes; the configuration of NATS
/// contains it, so that no other relay receives these requests. Two pods of a region share a prefix once in a million regions.
pub fn prefix_of(pod: &str) -> String {
    let hash = digest::digest(&digest::SHA256, pod.as_bytes());
    hash.as_ref().iter().take(PREFIX / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// The codes of one pod, in its memory.
pub struct Memory {
    prefix: String,
    stored: Mutex<Stored>,
    lifetime: Duration,
    max: usize,
    shares: Shares,
}

#[derive(Default)]
struct Stored {
    passes: HashMap<String, (Pass, Instant)>,
    /// In the order of expiry, because all codes have the same lifetime.
    expiries: VecDeque<(Instant, String, IpAddr)>,
}

impl Memory {
    /// A store with these limits.
    pub fn with(limits: &Limits) -> Self {
        let lifetime = Duration::from_millis(limits.code_lifetime);
        Self::new(size(limits.pod_codes), limits.address_codes, lifetime)
    }

    /// The store of one pod of several, whose codes begin with the prefix of its name.
    pub fn of(pod: &str, limits: &Limits) -> Self {
        Self { prefix: prefix_of(pod), ..Self::with(limits) }
    }

    /// A store of at most `max` codes, `max_each` of one network, each of which is valid for `lifetime`.
    pub fn new(max: usize, max_each: u64, lifetime: Duration) -> Self {
        let prefix = URL_SAFE_NO_PAD.encode(rand::random::<[u8; PREFIX_BYTES]>());
        Self { prefix, stored: Mutex::default(), lifetime, max, shares: Shares::new(max_each) }
    }

    /// The prefix of its codes.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    fn code(&self) -> Result<String, Code> {
        let mut bytes = [0; RANDOM_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| Code::NotReady)?;
        Ok(format!("{}{}", self.prefix, URL_SAFE_NO_PAD.encode(bytes)))
    }
}

impl Stored {
    fn remove_expired(&mut self, now: Instant, shares: &Shares) {
        while let Some((end, ..)) = self.expiries.front() {
            if *end > now {
                return;
            }
            if let Some((_, code, network)) = self.expiries.pop_front() {
                self.passes.remove(&code);
                shares.give(network);
            }
        }
    }
}

impl Codes for Memory {
    fn store(&self, pass: Pass, network: IpAddr) -> Answer<'_, String> {
        Box::pin(async move {
            let code = self.code()?;
            let now = Instant::now();
            let mut stored = self.stored.lock();
            stored.remove_expired(now, &self.shares);
            // Used codes count until they expire, because they have entries in the list of expiries.
            if stored.expiries.len() >= self.max || !self.shares.take(network) {
                return Err(Code::TooManyCodes);
            }
            stored.expiries.push_back((now + self.lifetime, code.clone(), network));
            stored.passes.insert(code.clone(), (pass, now + self.lifetime));
            Ok(code)
        })
    }

    fn take(&self, code: &str) -> Answer<'_, Option<Pass>> {
        let taken = self.stored.lock().passes.remove(code);
        let valid = taken.filter(|(_, end)| *end > Instant::now()).map(|(pass, _)| pass);
        Box::pin(async move { Ok(valid) })
    }
}
