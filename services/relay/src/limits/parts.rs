//! The limits of each part of the relay, in the types of its crate.
use super::Limits;
use parley_net::size;

impl Limits {
    /// The limits of tokens, codes and revocations.
    pub fn access(&self) -> parley_access::Limits {
        parley_access::Limits {
            token_bytes: self.token_bytes,
            token_patterns: self.token_patterns,
            token_name_bytes: self.token_name_bytes,
            token_leeway: self.token_leeway,
            token_lifetime: self.token_lifetime,
            pod_unauthenticated: self.pod_unauthenticated,
            address_unauthenticated: self.address_unauthenticated,
            code_lifetime: self.code_lifetime,
            pod_codes: self.pod_codes,
            address_codes: self.address_codes,
            pod_revocations: self.pod_revocations,
            pod_departures: self.pod_departures,
        }
    }

    /// The limits of leases and links.
    pub fn cluster(&self) -> parley_cluster::Limits {
        parley_cluster::Limits {
            lease_interval: self.lease_interval,
            lease_duration: self.lease_duration,
            link_peers: self.link_peers,
            link_subscriptions: self.link_subscriptions,
            link_messages: self.link_messages,
            link_bytes: self.link_bytes,
            link_queued_bytes: self.link_queued_bytes,
            link_regions: self.link_regions,
            link_ocean_peers: self.link_ocean_peers,
            link_ocean_backlog_bytes: self.link_ocean_backlog_bytes,
            link_ping_interval: self.link_ping_interval,
            link_idle_timeout: self.link_idle_timeout,
            link_open_timeout: self.link_open_timeout,
            message_bytes: self.message_bytes,
            code_timeout: self.code_timeout,
            revocations_interval: self.revocations_interval,
            access: self.access(),
        }
    }

    /// The limits of media.
    pub fn media(&self) -> parley_media::Limits {
        parley_media::Limits {
            sessions: size(self.media_sessions),
            address_sessions: size(self.media_address_sessions),
            handshakes: size(self.media_handshakes),
            handshake_time: self.media_handshake_timeout,
            subscriptions: size(self.media_subscriptions),
            send_bytes: self.media_send_bytes,
            receive_bytes: self.media_receive_bytes,
            control_bytes: self.media_control_bytes,
            broadcasts: size(self.media_broadcasts),
            cache_bytes: self.media_cache_bytes,
            cache_time: self.media_cache_duration,
            traces: self.media_traces,
            hold: self.media_hold,
            idle_time: self.media_idle_timeout,
            link_idle_time: self.media_link_idle_timeout,
            link_ping: self.media_link_ping_interval,
            unreachable_keep: self.media_unreachable_keep,
            drain_window: self.drain_window,
            certificate_life: self.media_certificate_lifetime,
            certificate_rotation: self.media_certificate_rotation,
        }
    }
}
