//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! NATS subjects and JetStream buckets (BUS-1 to BUS-3).

/// `parley.v1.heartbeat`
pub const HEARTBEAT_SUBJECT: &str = "parley.v1.heartbeat";

/// `parley.v1.room.{room}`
pub fn room_subject(room: &str) -> String {
    format!("parley.v1.room.{room}")
}

/// `parley.v1.pod.{pod}`
pub fn pod_subject(pod: &str) -> String {
    format!("parley.v1.pod.{pod}")
}

/// `parley.v1.directed.{pod}`
pub fn pod_directed_subject(pod: &str) -> String {
    format!("parley.v1.directed.{pod}")
}

/// `parley.v1.home.{region}`
pub fn home_subject(region: &str) -> String {
    format!("parley.v1.home.{region}")
}

/// `parley.v1.home-terms`
pub const HOME_TERMS_SUBJECT: &str = "parley.v1.home-terms";

/// `parley.v1.media.relay.{region}.{relay}`
pub fn media_relay_subject(region: &str, relay: &str) -> String {
    format!("parley.v1.media.relay.{region}.{relay}")
}

/// `parley.v1.pages.heartbeat`
pub const PAGES_HEARTBEAT_SUBJECT: &str = "parley.v1.pages.heartbeat";

/// `parley.v1.pages.page.{page}`
pub fn page_subject(page: &str) -> String {
    format!("parley.v1.pages.page.{page}")
}

/// `parley.v1.pages.pod.{pod}`
pub fn pod_pages_subject(pod: &str) -> String {
    format!("parley.v1.pages.pod.{pod}")
}

/// `parley.v1.pages.directed.{pod}`
pub fn pod_visitor_directed_subject(pod: &str) -> String {
    format!("parley.v1.pages.directed.{pod}")
}

/// `parley.v1.media.mutes`
pub const RELAY_MUTES_SUBJECT: &str = "parley.v1.media.mutes";

/// `parley.v1.turn.node`
pub const TURN_NODE_SUBJECT: &str = "parley.v1.turn.node";

/// `parley.v1.relay.revoked`
pub const REVOKED_SUBJECT: &str = "parley.v1.relay.revoked";

/// `parley.v1.relay.lease.{region}.{relay}`
pub fn relay_lease_subject(region: &str, relay: &str) -> String {
    format!("parley.v1.relay.lease.{region}.{relay}")
}

/// `parley.v1.relay.lease.origin.{region}.{relay}`
pub fn relay_origin_subject(region: &str, relay: &str) -> String {
    format!("parley.v1.relay.lease.origin.{region}.{relay}")
}

/// `parley.v1.relay.public.{region}.{relay}`
pub fn relay_public_lease_subject(region: &str, relay: &str) -> String {
    format!("parley.v1.relay.public.{region}.{relay}")
}

/// `parley.v1.relay.codes.{mark}`
pub fn relay_codes_subject(mark: &str) -> String {
    format!("parley.v1.relay.codes.{mark}")
}

/// `parley-rooms`
pub const ROOMS_BUCKET: &str = "parley-rooms";

/// `parley-seats`
pub const SEATS_BUCKET: &str = "parley-seats";

/// `parley-followed`
pub const FOLLOWED_BUCKET: &str = "parley-followed";

/// `parley-terms`
pub const TERMS_BUCKET: &str = "parley-terms";
