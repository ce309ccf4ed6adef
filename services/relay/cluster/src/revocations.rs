//! Revocations that are valid on every pod. A pod publishes each one when it is made. A message may be lost and a pod may start later, so every
//! pod also publishes a digest of its list: frequently after it connected, then every `revocations.interval`. A pod that receives a different
//! digest publishes its whole list, unless another pod has just done so. Entries leave a list only when they expire, so the lists of all pods
//! converge in whatever order messages arrive. Rules STR-118 and STR-119.
use super::bus::Bus;
use super::counts::Counts;
use super::revocation_message::{MAX_ENTRIES, RevocationMessage};
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

/// The subject, which all regions share: a token is valid in each of them.
pub const SUBJECT: &str = REVOKED_SUBJECT;
/// The wait before the first digest. The client reports a connection slightly before it can publish.
const CONNECT_DELAY: Duration = Duration::from_millis(50);
/// The interval between the first two digests; it doubles after each, up to `revocations.interval`.
const FIRST_DIGEST_INTERVAL: Duration = Duration::from_secs(1);
/// The longest random delay before the whole list is published, in which the list of another pod may make it unnecessary.
const MAX_LIST_DELAY: Duration = Duration::from_millis(250);
/// The shortest interval between two whole lists: pods whose limits or clocks differ must not flood NATS with them.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(5);

/// The revocations of all pods.
pub(crate) struct ClusterRevocations {
    revoked: Arc<Revoked>,
    bus: Bus,
    syncing: AbortHandle,
}

impl ClusterRevocations {
    /// Starts to exchange revocations with the other pods.
    pub fn start(revoked: &Arc<Revoked>, bus: &Bus, limits: &Limits, counts: &Arc<Counts>) -> Self {
        let sync = Sync {
            revoked: Arc::clone(revoked),
            bus: bus.clone(),
            limits: limits.clone(),
            counts: Arc::clone(counts),
            list_at: None,
            list_published: None,
        };
        let syncing = tokio::spawn(sync.run()).abort_handle();
        Self { revoked: Arc::clone(revoked), bus: bus.clone(), syncing }
    }
}

impl Drop for ClusterRevocations {
    fn drop(&mut self) {
        self.syncing.abort();
    }
}

impl Revocations for ClusterRevocations {
    fn revoke(&self, revocation: Revocation, until: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let entry = Entry { revocation, term: Term::all(until) };
            self.revoked.add(entry.clone(), access::now())?;
            let message = RevocationMessage::Revoked(vec![entry]);
            let published = self.bus.publish(SUBJECT, message.bytes()).await && self.bus.flush().await;
            if published { Ok(()) } else { Err(Code::NotReady) }
        })
    }
}

struct Sync {
    revoked: Arc<Revoked>,
    bus: Bus,
    limits: Limits,
    counts: Arc<Counts>,
    /// When the whole list is due, if another pod lacks some of it.
    list_at: Option<Instant>,
    list_published: Option<Instant>,
}

impl Sync {
    async fn run(mut self) {
        let Ok(mut messages) = self.bus.subscribe(SUBJECT).await else { return };
        let mut connects = self.bus.connects();
        let longest = Duration::from_millis(self.limits.revocations_interval);
        let (mut digest_at, mut pause) = (Instant::now() + CONNECT_DELAY, FIRST_DIGEST_INTERVAL);
        loop {
            tokio::select! {
                Ok(()) = connects.changed() => (digest_at, pause) = (Instant::now() + CONNECT_DELAY, FIRST_DIGEST_INTERVAL),
                () = sleep_until(digest_at) => {
                    self.publish_digest().await;
                    pause = pause.min(longest);
                    digest_at = Instant::now() + pause;
                    pause *= 2;
                }
                () = due(self.list_at) => self.publish_list().await,
                message = messages.next() => match message {
                    Some(message) => self.receive(&message.payload),
                    None => return,
                },
            }
        }
    }

    async fn publish_digest(&self) {
        let digest = self.revoked.digest(access::now());
        self.bus.publish(SUBJECT, RevocationMessage::Digest(digest).bytes()).await;
    }

    async fn publish_list(&mut self) {
        self.list_at = None;
        self.list_published = Some(Instant::now());
        for chunk in self.revoked.entries(access::now()).chunks(MAX_ENTRIES) {
            if !self.bus.publish(SUBJECT, RevocationMessage::Revoked(chunk.to_vec()).bytes()).await {
                return;
            }
        }
        self.publish_digest().await;
    }

    fn receive(&mut self, bytes: &[u8]) {
        match RevocationMessage::read(bytes) {
            Some(RevocationMessage::Revoked(entries)) => self.merge(entries),
            Some(RevocationMessage::Digest(digest)) if digest == self.revoked.digest(access::now()) => {
                self.list_at = None;
            }
            Some(RevocationMessage::Digest(_)) => {
                let earliest = Instant::now() + MAX_LIST_DELAY.mul_f64(rand::random());
                let allowed = self.list_published.map_or(earliest, |last| earliest.max(last + MIN_LIST_INTERVAL));
                self.list_at.get_or_insert(allowed);
            }
            None => self.counts.invalid.add(1),
        }
    }

    /// Merges the list of another pod, which is trusted no more than a request: names have a length limit, and entries an expiry.
    fn merge(&self, entries: Vec<Entry>) {
        let now = access::now();
        // The clock of the other pod may be ahead.
        let latest = now + access::revocation_lifetime(&self.limits.access) + self.limits.access.token_leeway / 1000;
        let longest = size(self.limits.access.token_name_bytes);
        let (valid, invalid): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| (1..=longest).contains(&entry.revocation.name().len()));
        self.counts.invalid.add(invalid.len() as u64);
        let bounded = |term: Term| Term { until: term.until.min(latest), ..term };
        let valid = valid.into_iter().map(|entry| Entry { term: bounded(entry.term), ..entry }).collect();
        let refused = self.revoked.merge(valid, now);
        if refused > 0 {
            self.counts.revocation_refusals.add(refused);
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
