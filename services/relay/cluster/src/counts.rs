//! The counters of the links of a pod: one set for those of its region, and one for those to other regions. Rules STR-98 and STR-145.
use super::end::End;
use parley_metrics::{Counter, Gauge, Histogram};

/// The counters of the links of one kind.
#[derive(Debug, Default)]
pub struct Counts {
    /// 1 while NATS is connected.
    pub nats_connected: Gauge,
    /// Messages on NATS that do not match their schema.
    pub invalid: Counter,
    /// Leases that were published on the subject of another pod.
    pub foreign: Counter,
    /// Leases with an address that no pod can have.
    pub unreachable: Counter,
    /// Leases of unknown pods over `link.peers`, or over `link.regions` and `link.ocean.peers`.
    pub full: Counter,
    /// Revocations of other pods over `pod.revocations` or `pod.departures`.
    pub revocation_refusals: Counter,
    /// Open links on which this pod receives.
    pub receiving: Gauge,
    /// Open links on which this pod sends.
    pub sending: Gauge,
    /// Subscriptions of other pods to topics of this pod.
    pub subscriptions: Gauge,
    /// Subscriptions refused over `link.subscriptions` or `pod.topics`.
    pub subscription_refusals: Counter,
    /// Messages written to links.
    pub sent: Counter,
    /// Their bytes on the wire, including headers.
    pub sent_bytes: Counter,
    /// Messages received on links.
    pub received: Counter,
    /// Their bytes on the wire, including headers.
    pub received_bytes: Counter,
    /// Messages received after their subscription had ended.
    pub late: Counter,
    /// Messages of other regions that had come by another port before.
    pub duplicates: Counter,
    /// Messages dropped because a link was too slow, or ended.
    pub dropped: Counter,
    /// Messages queued for links.
    pub queued: Gauge,
    /// Their bytes.
    pub queued_bytes: Gauge,
    /// Time from a publisher to the next pod.
    pub hop: Histogram,
    /// Time for which answers to upgrades were held.
    pub upgrade_hold: Histogram,
    /// Answers that were held for all of `link.subscribeTimeout`.
    pub upgrade_hold_timeouts: Counter,
    ended: [Counter; End::ALL.len()],
}

impl Counts {
    /// Counts a link that ended or was refused.
    pub fn end(&self, end: End) {
        if let Some(counter) = self.ended.get(end as usize) {
            counter.add(1);
        }
    }

    /// The count of every reason.
    pub fn ends(&self) -> impl Iterator<Item = (End, u64)> + '_ {
        End::ALL.iter().copied().zip(self.ended.iter().map(Counter::get))
    }
}
