//! Answers on `/ws`, made once for all who ask within `stats.interval`: each lists every client, and a full pod's takes as long
//! as thousands of deliveries. Rules STR-60 and STR-61.
use super::report;
use crate::relay::Relay;
use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use parley_net::size;
use parley_net::ws::{Batch, Kind};

/// The last answer of each kind.
#[derive(Debug, Default)]
pub struct Answers {
    each: Mutex<Option<Made>>,
    whole: Mutex<Option<Made>>,
}

#[derive(Debug)]
struct Made {
    at: u64,
    frames: Bytes,
}

impl Answers {
    /// One message for each client.
    pub fn each(&self, relay: &Relay) -> Bytes {
        recent(&self.each, relay, |now| {
            let mut out = BytesMut::new();
            for client in relay.clients.all() {
                let json = serde_json::to_vec(&report::of(&client, now)).unwrap_or_default();
                out.extend_from_slice(Batch::message(Kind::Text, &json).bytes());
            }
            out.freeze()
        })
    }

    /// One message for the pod as a whole.
    pub fn whole(&self, relay: &Relay) -> Bytes {
        recent(&self.whole, relay, |_| {
            let json = report::summary(relay, size(relay.limits.stats_clients));
            Batch::message(Kind::Text, &json).bytes().clone()
        })
    }
}

fn recent(last: &Mutex<Option<Made>>, relay: &Relay, make: impl FnOnce(u64) -> Bytes) -> Bytes {
    let mut last = last.lock();
    let now = relay.now();
    if let Some(made) = last.as_ref().filter(|made| now - made.at < relay.limits.stats_interval) {
        return made.frames.clone();
    }
    let frames = make(now);
    *last = Some(Made { at: now, frames: frames.clone() });
    frames
}
