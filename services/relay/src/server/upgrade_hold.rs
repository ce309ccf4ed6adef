//! Holds the answer to the upgrade of the first reader of a topic on this pod until the other pods send the topic here. A client whose
//! socket is open therefore misses no message. Rules STR-27 and STR-93.
use crate::relay::Relay;
use parley_streams::Membership;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Completes when the answer may be sent.
pub(crate) type UpgradeHold = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Holds the answer to a client that has joined its topic until every linked pod acknowledged the subscription, for at most
/// `link.subscribeTimeout`, or until the pod drains. `None`: there is nothing to wait for.
pub fn start(relay: &Arc<Relay>, membership: &Membership) -> Option<UpgradeHold> {
    let acknowledged = membership.until_acknowledged()?;
    let (relay, began) = (Arc::clone(relay), Instant::now());
    Some(Box::pin(async move {
        tokio::select! {
            () = acknowledged => {}
            () = sleep(Duration::from_millis(relay.limits.link_subscribe_timeout)) => {
                relay.links.region.upgrade_hold_timeouts.add(1);
            }
            () = relay.drain_begins() => {}
        }
        relay.links.region.upgrade_hold.observe(began.elapsed(), 1);
    }))
}
