//! What crosses between pods, in numbers. Rule STR-98.
use super::end::End;
use parley_metrics::{Counter, Gauge, Histogram};

/// The numbers of all links of a pod.
#[derive(Debug, Default)]
pub struct Counts {
    /// 1 while NATS is there.
    pub bus: Gauge,
    /// Messages on NATS that no pod would send.
    pub broken: Counter,
    /// Leases that came on another pod's subject.
    pub foreign: Counter,
    /// Leases with an address that no pod of the region has.
    pub unreachable: Counter,
    /// Revocations of other pods over `pod.revocations` or `pod.departures`.
    pub overfull: Counter,
    /// Links over which this pod hears others.
    pub hears: Gauge,
    /// Links over which this pod sends to others.
    pub sends: Gauge,
    /// Topics that others want, once for each pod that does.
    pub asked: Gauge,
    /// Wants over `link.subscriptions`.
    pub refused: Counter,
    /// Messages handed to links.
    pub sent: Counter,
    /// Bytes of them on the wire, with headers.
    pub sent_bytes: Counter,
    /// Messages that came over links.
    pub received: Counter,
    /// Bytes of them on the wire, with headers.
    pub received_bytes: Counter,
    /// Messages that came after nobody wanted them any more.
    pub late: Counter,
    /// Messages dropped as a link was too slow, or ended.
    pub dropped: Counter,
    /// Messages that wait for links.
    pub queued: Gauge,
    /// Their bytes.
    pub queued_bytes: Gauge,
    /// From a publisher to the next pod.
    pub hop: Histogram,
    /// How long answers to upgrades were held.
    pub held: Histogram,
    /// Of those: answered when `link.subscribeTimeout` had passed.
    pub overdue: Counter,
    ended: [Counter; End::ALL.len()],
}

impl Counts {
    /// Counts a link that ended, or was not let in.
    pub fn end(&self, end: End) {
        if let Some(counter) = self.ended.get(end as usize) {
            counter.add(1);
        }
    }

    /// Every reason with its number.
    pub fn ends(&self) -> impl Iterator<Item = (End, u64)> + '_ {
        End::ALL.iter().copied().zip(self.ended.iter().map(Counter::get))
    }
}
