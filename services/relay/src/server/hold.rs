//! The answer to the upgrade of whoever hears a topic first on this pod, held until the other pods send what it hears: once a
//! client sees its socket open, it misses nothing. Rules STR-27 and STR-93.
use crate::relay::Relay;
use parley_streams::Membership;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Over when the answer may be sent.
pub type Held = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Holds the answer to a client that has joined its topic: until every linked pod acknowledged the want, for `link.subscribeTimeout` at
/// most, and not when the pod drains. `None`: there is nothing to wait for.
pub fn begin(relay: &Arc<Relay>, membership: &Membership) -> Option<Held> {
    let acknowledged = membership.until_acknowledged()?;
    let (relay, began) = (Arc::clone(relay), Instant::now());
    Some(Box::pin(async move {
        tokio::select! {
            () = acknowledged => {}
            () = sleep(Duration::from_millis(relay.limits.link_subscribe_timeout)) => relay.links.overdue.add(1),
            () = relay.drain_begins() => {}
        }
        relay.links.held.observe(began.elapsed(), 1);
    }))
}
