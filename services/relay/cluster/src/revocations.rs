//! Revocations that hold on every pod. Each is said when it is made. A message may be lost and a pod may come later, so every
//! pod also says a digest of its list, often after it came to the bus and then every `revocations.interval`; whoever has
//! another digest says its whole list, unless somebody else has just done so. Lists only grow until their entries are over, so
//! that they become one in whatever order they are heard. Rules STR-118 and STR-119.
use super::bus::Bus;
use super::counts::Counts;
use super::word::{ENTRIES, Word};
use crate::Limits;
use futures_util::StreamExt;
use parley_access::{self as access, Answer, Entry, Revocation, Revocations, Revoked, Term};
use parley_net::codes::Code;
use parley_net::size;
use parley_protocol::subjects::REVOKED_SUBJECT;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

/// All regions': a token is good in each of them.
pub const SUBJECT: &str = REVOKED_SUBJECT;
/// The client says that it is connected just before it is.
const SETTLE: Duration = Duration::from_millis(50);
/// Between the first two digests; twice as long after each, up to `revocations.interval`.
const SOON: Duration = Duration::from_secs(1);
/// Somebody else's list may come before ours is said.
const MANNERS: Duration = Duration::from_millis(250);
/// Between two whole lists: pods whose limits or clocks never agree do not fill the bus with them.
const GAP: Duration = Duration::from_secs(5);

/// The revocations of all pods.
pub struct Spread {
    revoked: Arc<Revoked>,
    bus: Bus,
    talking: AbortHandle,
}

impl Spread {
    /// Tells the others, and hears them.
    pub fn start(revoked: &Arc<Revoked>, bus: &Bus, limits: &Limits, counts: &Arc<Counts>) -> Self {
        let talk = Talk {
            revoked: Arc::clone(revoked),
            bus: bus.clone(),
            limits: limits.clone(),
            counts: Arc::clone(counts),
            list_at: None,
            list_said: None,
        };
        let talking = tokio::spawn(talk.run()).abort_handle();
        Self { revoked: Arc::clone(revoked), bus: bus.clone(), talking }
    }
}

impl Drop for Spread {
    fn drop(&mut self) {
        self.talking.abort();
    }
}

impl Revocations for Spread {
    fn revoke(&self, whom: Revocation, until: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let entry = Entry { whom, term: Term::all(until) };
            self.revoked.add(entry.clone(), access::now())?;
            let said = self.bus.say(SUBJECT, Word::Revoked(vec![entry]).bytes()).await && self.bus.flush().await;
            if said { Ok(()) } else { Err(Code::NotReady) }
        })
    }
}

struct Talk {
    revoked: Arc<Revoked>,
    bus: Bus,
    limits: Limits,
    counts: Arc<Counts>,
    /// When the whole list is due, if somebody lacks some of it.
    list_at: Option<Instant>,
    list_said: Option<Instant>,
}

impl Talk {
    async fn run(mut self) {
        let Ok(mut words) = self.bus.hear(SUBJECT).await else { return };
        let mut connects = self.bus.connects();
        let longest = Duration::from_millis(self.limits.revocations_interval);
        let (mut digest_at, mut pause) = (Instant::now() + SETTLE, SOON);
        loop {
            tokio::select! {
                Ok(()) = connects.changed() => (digest_at, pause) = (Instant::now() + SETTLE, SOON),
                () = sleep_until(digest_at) => {
                    self.say_digest().await;
                    pause = pause.min(longest);
                    digest_at = Instant::now() + pause;
                    pause *= 2;
                }
                () = due(self.list_at) => self.say_list().await,
                word = words.next() => match word {
                    Some(message) => self.hear(&message.payload),
                    None => return,
                },
            }
        }
    }

    async fn say_digest(&self) {
        let digest = self.revoked.digest(access::now());
        self.bus.say(SUBJECT, Word::Digest(digest).bytes()).await;
    }

    async fn say_list(&mut self) {
        self.list_at = None;
        self.list_said = Some(Instant::now());
        for some in self.revoked.entries(access::now()).chunks(ENTRIES) {
            if !self.bus.say(SUBJECT, Word::Revoked(some.to_vec()).bytes()).await {
                return;
            }
        }
        self.say_digest().await;
    }

    fn hear(&mut self, bytes: &[u8]) {
        match Word::read(bytes) {
            Some(Word::Revoked(entries)) => self.take(entries),
            Some(Word::Digest(digest)) if digest == self.revoked.digest(access::now()) => self.list_at = None,
            Some(Word::Digest(_)) => {
                let soon = Instant::now() + MANNERS.mul_f64(rand::random());
                let allowed = self.list_said.map_or(soon, |said| soon.max(said + GAP));
                self.list_at.get_or_insert(allowed);
            }
            None => self.counts.broken.add(1),
        }
    }

    /// Another pod is trusted no further than a request: names have their limit, and nothing is kept for ever.
    fn take(&self, entries: Vec<Entry>) {
        let now = access::now();
        // Its clock may be ahead of ours.
        let latest = now + access::revoked_for(&self.limits.access) + self.limits.access.token_leeway / 1000;
        let longest = size(self.limits.access.token_name_bytes);
        let (good, broken): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| (1..=longest).contains(&entry.whom.name().len()));
        self.counts.broken.add(broken.len() as u64);
        let short = |Term { before, until }: Term| Term { before, until: until.min(latest) };
        let good = good.into_iter().map(|entry| Entry { term: short(entry.term), ..entry }).collect();
        let refused = self.revoked.merge(good, now);
        if refused > 0 {
            self.counts.overfull.add(refused);
            tracing::warn!(refused, "revocations of other pods refused: pod.revocations, pod.departures");
        }
    }
}

async fn due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
