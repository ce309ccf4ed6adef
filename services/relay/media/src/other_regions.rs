//! Exchanges leases with the origins of other regions through NATS (MEDIA-18). The gateways of NATS carry them; only origins publish and receive them.
use super::origin_lease::OriginLease;
use super::regions::{Bounds, Observed, Origins};
use futures_util::StreamExt;
use parley_cluster::bus::{Bus, Subscriber};
use parley_cluster::url::Url;
use parley_protocol::subjects::relay_origin_subject;
use std::collections::BTreeSet;
use std::time::Instant;

/// The origins of other regions, and the subscription to their leases.
pub(crate) struct OtherRegions {
    pub origins: Origins,
    bus: Bus,
    subject: String,
    received: Subscriber,
    /// Relays that are not linked: each is reported once.
    reported: BTreeSet<String>,
    max_reported: usize,
}

impl OtherRegions {
    /// Subscribes. `own`: any lease of this relay.
    pub async fn join(bus: Bus, region: &str, pod: &str, own: OriginLease, bounds: Bounds) -> anyhow::Result<Self> {
        let received = bus.subscribe(&relay_origin_subject("*", "*")).await?;
        let subject = relay_origin_subject(region, pod);
        let max_reported = bounds.origins;
        let origins = Origins::new(own, region.to_owned(), bounds);
        Ok(Self { origins, bus, subject, received, reported: BTreeSet::new(), max_reported })
    }

    /// Publishes the lease of this relay.
    pub async fn publish(&self, lease: &OriginLease) {
        self.bus.publish(&self.subject, lease.bytes()).await;
    }

    /// Waits for the next lease with an effect. `allows`: whether an origin at this URL may be dialled (MEDIA-17).
    pub async fn next(&mut self, allows: impl Fn(&Url) -> bool) -> (String, Observed) {
        loop {
            let Some(message) = self.received.next().await else { return std::future::pending().await };
            let Some((region, lease)) = OriginLease::read(&message.payload, &message.subject) else { continue };
            let relay = lease.relay.clone();
            match self.origins.observe(region, lease, Instant::now(), &allows) {
                Observed::Ignored | Observed::Renewed => {}
                Observed::Refused | Observed::Full if !self.reports(&relay) => {}
                observed => return (relay, observed),
            }
        }
    }

    /// Whether a relay that is not linked has not been reported before.
    fn reports(&mut self, relay: &str) -> bool {
        self.reported.len() < self.max_reported && self.reported.insert(relay.to_owned())
    }
}
