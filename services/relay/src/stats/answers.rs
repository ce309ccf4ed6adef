//! The answers on `/ws`. An answer about all clients costs as much as thousands of deliveries on a full pod, so all requests within
//! `stats.interval` share one. Rules STR-60 and STR-61.
use super::report;
use crate::relay::Relay;
use bytes::{Bytes, BytesMut};
use parley_net::size;
use parley_net::ws::{Batch, Kind};

/// One message for each client.
pub fn clients(relay: &Relay) -> Bytes {
    let now = relay.now();
    relay.stats_cache.clients.get(now, relay.limits.stats_interval, || {
        let mut out = BytesMut::new();
        for client in relay.clients.all() {
            let json = serde_json::to_vec(&report::of(&client, now)).unwrap_or_default();
            out.extend_from_slice(Batch::message(Kind::Text, &json).bytes());
        }
        out.freeze()
    })
}

/// One message about the whole pod.
pub fn pod(relay: &Relay) -> Bytes {
    relay.stats_cache.pod.get(relay.now(), relay.limits.stats_interval, || {
        let json = report::summary(relay, size(relay.limits.stats_clients));
        Batch::message(Kind::Text, &json).bytes().clone()
    })
}
