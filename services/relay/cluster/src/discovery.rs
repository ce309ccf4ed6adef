//! Exchanges leases with the other pods of the region, or with those of other regions, and dials the pods that are discovered. Rules STR-90,
//! STR-97 and STR-139.
use crate::bus::{Bus, Leases};
use crate::dial::Dialler;
use crate::lease::Lease;
use crate::peers::{Observed, Peers};
use crate::shared::Shared;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};

/// Publishes the lease of this pod, receives those of the others, and dials them. Ends with a lease that says that the pod drains.
pub(crate) async fn run(bus: Bus, mut leases: Leases, shared: Arc<Shared>) {
    let limits = &shared.limits;
    let duration = Duration::from_millis(limits.lease_duration);
    let mut peers = Peers::new(shared.own.clone(), duration, shared.scope.max(limits));
    let mut ticks = interval(Duration::from_millis(limits.lease_interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drains = shared.drains();
    let mut media = shared.media.subscribe();
    let mut connects = bus.connects();
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                leases.publish(&shared.lease()).await;
                shared.counts.nats_connected.set(u64::from(bus.is_connected()));
                for pod in peers.expire(Instant::now(), Dialler::is_up) {
                    tracing::info!(pod, "pod lost");
                    shared.forget(&pod);
                }
            }
            lease = leases.next() => {
                let (pod, epoch) = (lease.pod.clone(), lease.epoch);
                match peers.observe(lease.clone(), Instant::now(), |lease| Dialler::start(lease, &shared)) {
                    Observed::New | Observed::Restarted => {
                        tracing::info!(pod, epoch, "pod discovered");
                        shared.remember(lease);
                        // The new pod discovers this one without waiting for the next tick.
                        leases.publish(&shared.lease()).await;
                    }
                    Observed::Renewed => shared.remember(lease),
                    Observed::Draining => shared.forget(&pod),
                    Observed::NameConflict => {
                        let last = shared.namesake.send_replace(Some(Instant::now()));
                        if last.is_none_or(|last| last.elapsed() > duration) {
                            tracing::warn!(pod, epoch, "another pod has the name of this pod: set pod");
                        }
                    }
                    Observed::Full => {
                        shared.counts.full.add(1);
                        tracing::warn!(pod, "pod not linked: link.peers, or link.regions and link.ocean.peers, reached");
                    }
                    Observed::Own | Observed::Stale => {}
                }
            }
            // Nothing was published while NATS was disconnected.
            Ok(()) = connects.changed() => ticks.reset_immediately(),
            Ok(()) = media.changed() => leases.publish(&shared.lease()).await,
            _ = drains.changed() => break,
        }
    }
    leases.publish(&Lease { draining: true, ..shared.own.clone() }).await;
    bus.flush().await;
}
