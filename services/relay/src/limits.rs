//! Every limit of the relay: its name, default, range, unit, the code of a refusal, and the reason for the value.
//! A limit is set by the flag `--limit name=value`, by `PARLEY_RELAY_LIMIT_` and the name in capitals with underscores, or in
//! the settings file under `[limits]`. Rule STR-82.
use parley_net::codes::Code;

mod parts;

/// A limit, which is one row of the table.
#[derive(Debug)]
pub struct Limit {
    /// The name in settings: `stream.messageBytes`.
    pub name: &'static str,
    /// The default.
    pub value: u64,
    /// The least value.
    pub min: u64,
    /// The greatest value.
    pub max: u64,
    /// The unit of the value.
    pub unit: &'static str,
    /// The code of a refusal over the limit; `None` if nothing is refused.
    pub code: Option<Code>,
    /// The reason for the value.
    pub reason: &'static str,
}

macro_rules! limits {
    ($($field:ident $name:literal = $value:expr, $min:expr => $max:expr, $unit:literal, $code:expr, $reason:literal;)*) => {
        /// The limits in force: the defaults with the operator's changes.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each field is documented by its row in LIMITS")]
        pub struct Limits { $(pub $field: u64,)* }

        /// The table of limits.
        pub const LIMITS: &[Limit] = &[
            $(Limit { name: $name, value: $value, min: $min, max: $max, unit: $unit, code: $code, reason: $reason },)*
        ];

        impl Default for Limits {
            fn default() -> Self { Self { $($field: $value,)* } }
        }

        impl Limits {
            fn slot(&mut self, name: &str) -> Option<&mut u64> {
                match name { $($name => Some(&mut self.$field),)* _ => None }
            }
        }
    };
}

limits! {
    message_bytes "stream.messageBytes" = 10 << 20, 1024 => 64 << 20, "bytes", Some(Code::MessageTooLarge),
        "Crossbar's: a thousand times a usual key frame";
    fragments "stream.fragments" = 16_384, 1 => 1 << 20, "fragments", Some(Code::MessageTooLarge),
        "a message of 10 MiB in fragments of 640 bytes; without it, a message of empty fragments never ends";
    message_timeout "stream.messageTimeout" = 120_000, 100 => 3_600_000, "ms", Some(Code::MessageTimeout),
        "10 MiB at 0.7 Mbit/s; a message that never ends holds memory for nothing";
    reader_messages "reader.messages" = 1024, 1 => 1 << 20, "messages", None,
        "half a minute of video at 30 frames per second; older messages are useless to a live viewer";
    reader_bytes "reader.bytes" = 16 << 20, 1024 => 1 << 30, "bytes", None,
        "one message of the largest size, and 6 MiB after it";
    reader_stall_timeout "reader.stallTimeout" = 30_000, 100 => 3_600_000, "ms", Some(Code::SlowConsumer),
        "a reader that accepts no byte for that long has vanished or is frozen";
    pod_sockets "pod.sockets" = 16_000, 1 => 1_000_000, "sockets", Some(Code::PodFull),
        "below the 20,000 descriptors a process usually gets";
    pod_topics "pod.topics" = 16_000, 1 => 1_000_000, "topics", Some(Code::TooManyTopics),
        "every socket may have its own";
    pod_queued_bytes "pod.queuedBytes" = 256 << 20, 1024 => 1 << 40, "bytes", None,
        "sixteen readers with full queues; above it, each slow reader keeps an equal share";
    pod_reassembly_bytes "pod.reassemblyBytes" = 256 << 20, 1024 => 1 << 40, "bytes", Some(Code::MemoryLimitExceeded),
        "25 incomplete messages of the largest size";
    address_sockets "address.sockets" = 2000, 1 => 1_000_000, "sockets", Some(Code::TooManySockets),
        "a campus behind one address; an IPv6 /64 counts as one";
    address_reassembly_bytes "address.reassemblyBytes" = 64 << 20, 1024 => 1 << 40, "bytes", Some(Code::MemoryLimitExceeded),
        "a quarter of pod.reassemblyBytes: six messages of the largest size from one network at once";
    address_unauthenticated "address.unauthenticated" = 500, 1 => 1_000_000, "sockets", Some(Code::TooManyUnauthenticated),
        "a quarter of pod.unauthenticated: a network that sends no tokens leaves places to others";
    address_codes "address.codes" = 1000, 1 => 1_000_000, "codes", Some(Code::TooManyCodes),
        "a tenth of pod.codes: 30 per second, for a campus that opens a page";
    topic_bytes "topic.bytes" = 512, 8 => 8192, "bytes", Some(Code::TopicInvalid),
        "longer than any path that is written by hand";
    headers_bytes "headers.bytes" = 16_384, 512 => 65_536, "bytes", Some(Code::HeadersTooLarge),
        "browsers send less than 4 kB, and proxies add to it";
    headers_timeout "headers.timeout" = 5000, 50 => 60_000, "ms", Some(Code::UpgradeTimeout),
        "a head is one or two packets; a client that sends single bytes attacks the relay";
    ping_interval "socket.pingInterval" = 54_000, 20 => 600_000, "ms", None,
        "Crossbar's";
    idle_timeout "socket.idleTimeout" = 60_000, 50 => 3_600_000, "ms", Some(Code::IdleTimeout),
        "Crossbar's: the ping was not answered";
    close_timeout "socket.closeTimeout" = 5000, 50 => 60_000, "ms", None,
        "how long a closing socket may stay open";
    replay_bytes "replay.bytes" = 8 << 20, 1024 => 1 << 30, "bytes", None,
        "the messages that one topic keeps for late subscribers, whatever their number";
    pod_replay_bytes "pod.replayBytes" = 256 << 20, 1024 => 1 << 40, "bytes", None,
        "the messages that all topics keep for late subscribers: 32 topics with replay.bytes";
    lease_interval "lease.interval" = 1000, 20 => 60_000, "ms", None,
        "a new pod is discovered by its first lease; a lost one is forgotten after three";
    lease_duration "lease.duration" = 3500, 50 => 600_000, "ms", None,
        "three missing leases; it affects only discovery, an open link stays";
    link_peers "link.peers" = 64, 1 => 1024, "pods", None,
        "every pod links to every other of its region: 4,032 links for 64 pods";
    link_subscriptions "link.subscriptions" = 16_000, 1 => 1_000_000, "topics", None,
        "all topics of a pod with pod.topics";
    link_messages "link.messages" = 1024, 1 => 1 << 20, "messages", None,
        "of one topic, queued for one pod: as for one reader";
    link_bytes "link.bytes" = 16 << 20, 1024 => 1 << 30, "bytes", None,
        "of one topic, queued for one pod: as for one reader; one message of the largest size always fits";
    link_queued_bytes "link.queuedBytes" = 64 << 20, 1024 => 1 << 40, "bytes", None,
        "of all topics, queued for one pod: half a second of a 1 Gbit/s link";
    link_regions "link.regions" = 8, 1 => 64, "regions", None,
        "other regions; each pod that they reach links to those of each of them";
    link_ocean_peers "link.ocean.peers" = 16, 1 => 256, "pods", None,
        "of each other region: ports are few, as a topic crosses once for its region";
    link_ocean_backlog_bytes "link.ocean.backlogBytes" = 32 << 20, 1024 => 1 << 40, "bytes", None,
        "of all topics, queued for one pod of another region: two seconds of a 100 Mbit/s link; older messages are useless to a live viewer";
    link_ping_interval "link.pingInterval" = 1000, 20 => 60_000, "ms", None,
        "a dead pod is detected within five seconds";
    link_idle_timeout "link.idleTimeout" = 3000, 50 => 600_000, "ms", None,
        "two pings without an answer";
    link_open_timeout "link.openTimeout" = 2000, 50 => 60_000, "ms", None,
        "a round trip within a region, and time for a busy machine";
    link_subscribe_timeout "link.subscribeTimeout" = 250, 0 => 10_000, "ms", None,
        "a round trip within a region, on a busy machine; a frozen pod delays a first reader by no more";
    stats_sockets "stats.sockets" = 32, 0 => 10_000, "sockets", Some(Code::TooManySockets),
        "each answer lists every client";
    stats_interval "stats.interval" = 200, 20 => 60_000, "ms", None,
        "at most five answers per second and socket, as each lists every client";
    stats_clients "stats.clients" = 1000, 1 => 100_000, "clients", None,
        "rows in one push; a page with more is unreadable";
    token_bytes "token.bytes" = 4096, 256 => 16_384, "bytes", Some(Code::TokenInvalid),
        "four times the size of a token with a dozen patterns";
    token_patterns "token.patterns" = 64, 1 => 1024, "patterns", Some(Code::TokenInvalid),
        "each is compared at every upgrade; use a wider pattern instead of more";
    token_name_bytes "token.nameBytes" = 128, 16 => 1024, "bytes", Some(Code::TokenInvalid),
        "jti and sub are kept with every socket; a UUID is 36";
    token_leeway "token.leeway" = 5000, 0 => 600_000, "ms", Some(Code::TokenNotYetValid),
        "how far the clocks of signer and relay may differ at nbf and iat; exp is exact, as it ends live sockets too";
    token_lifetime "token.lifetime" = 86_400_000, 1000 => 31_536_000_000, "ms", Some(Code::TokenInvalid),
        "a day of an instrument; a revocation is kept that long";
    token_timeout "token.timeout" = 10_000, 50 => 60_000, "ms", Some(Code::TokenTimeout),
        "a program sends its token at once; ten round trips of a bad network";
    pod_unauthenticated "pod.unauthenticated" = 2000, 1 => 1_000_000, "sockets", Some(Code::TooManyUnauthenticated),
        "16,000 clients with a round trip of a second connect at 2,000 per second";
    code_lifetime "code.lifetime" = 30_000, 50 => 600_000, "ms", Some(Code::CodeInvalid),
        "a page opens its socket as soon as it has the code";
    code_timeout "code.timeout" = 1000, 50 => 60_000, "ms", Some(Code::NotReady),
        "a request to the pod that issued a code takes 1 ms within a region; the bound of a delayed upgrade";
    pod_codes "pod.codes" = 10_000, 1 => 1_000_000, "codes", Some(Code::TooManyCodes),
        "300 per second; each takes less than 1 kB";
    pod_revocations "pod.revocations" = 10_000, 1 => 1_000_000, "names", Some(Code::TooManyRevocations),
        "one every nine seconds for a day";
    pod_departures "pod.departures" = 100_000, 1 => 1_000_000, "names", None,
        "of participants who left rooms: 300 per second for five minutes; those that expire first are evicted";
    revocations_interval "revocations.interval" = 30_000, 100 => 600_000, "ms", None,
        "how often a pod publishes a digest of its revocations; a lost message is repaired within it";
    body_bytes "body.bytes" = 4096, 64 => 65_536, "bytes", Some(Code::BodyTooLarge),
        "the only body is one name in JSON";
    log_lines "log.lines" = 200, 1 => 1_000_000, "lines", None,
        "of one kind per second: a draining pod would write 1,600; with 200 bytes each at most 3 GB per day";
    media_sessions "media.sessions" = 1000, 1 => 1_000_000, "sessions", Some(Code::TooManySessions),
        "one relay on one processor; signaling chooses another relay before";
    media_address_sessions "media.addressSessions" = 500, 1 => 1_000_000, "sessions", Some(Code::TooManySessions),
        "half a relay: a campus behind one address; handshakes count too";
    media_handshakes "media.handshakes" = 800, 2 => 1_000_000, "handshakes", Some(Code::TooManyHandshakes),
        "each takes 2 ms of a processor; half of it, the share of unverified addresses, is below media.addressSessions";
    media_handshake_timeout "media.handshakeTimeout" = 10_000, 100 => 60_000, "ms", None,
        "ten round trips of a bad network";
    media_subscriptions "media.subscriptions" = 1000, 1 => 1_000_000, "tracks", Some(Code::TooManySubscriptions),
        "of one session: audio, video and catalog of each participant in a room of 300";
    media_send_bytes "media.sendBytes" = 2 << 20, 16_384 => 1 << 30, "bytes", None,
        "to one client, not acknowledged: 80 Mbit/s over 200 ms; a client that stops reading holds that much";
    media_receive_bytes "media.receiveBytes" = 8 << 20, 16_384 => 1 << 30, "bytes", None,
        "from one client, not read yet: 300 Mbit/s over 200 ms";
    media_control_bytes "media.controlBytes" = 16 << 20, 65_536 => 1 << 30, "bytes", Some(Code::MemoryLimitExceeded),
        "from one client besides media, above 256 kB per second: the largest request of a room of 300 is 100 kB";
    media_broadcasts "media.broadcasts" = 64, 1 => 100_000, "broadcasts", Some(Code::TooManyBroadcasts),
        "of one session: camera, microphone and screen, many times over";
    media_mutes "media.mutes" = 20_000, 1 => 1_000_000, "participants", None,
        "muted by owners in the rooms of all regions, 100 bytes each; beyond it clients alone enforce a mute";
    media_cache_bytes "media.cacheBytes" = 256 << 20, 1 << 20 => 1 << 40, "bytes", Some(Code::MemoryLimitExceeded),
        "200 broadcasts of 1 Mbit/s for as long as media.cacheDuration";
    media_cache_duration "media.cacheDuration" = 10_000, 100 => 600_000, "ms", None,
        "several groups of video: a late subscriber begins with a whole one, and a client can resume";
    media_traces "media.traces" = 50, 1 => 100_000, "spans per second", None,
        "of sessions that are part of traced joins; one token may open many sessions";
    media_hold "media.hold" = 5, 0 => 20, "ms", None,
        "for frames of at most 512 bytes while the relay writes 5000 of them a second; 0: never";
    media_idle_timeout "media.idleTimeout" = 10_000, 1000 => 3_600_000, "ms", None,
        "a phone that changes networks reconnects within it";
    media_link_idle_timeout "media.linkIdleTimeout" = 600, 200 => 60_000, "ms", None,
        "with a ping, a dead origin is detected within 0.75 s; QUIC takes at least three probe timeouts";
    media_link_ping_interval "media.linkPingInterval" = 150, 20 => 10_000, "ms", None,
        "three pings may be lost before a link times out";
    media_unreachable_keep "media.unreachableKeep" = 300_000, 1000 => 86_400_000, "ms", None,
        "a cut between regions, after which their origins are linked again without NATS; as unreachable.keep of signaling";
    media_token_max_age "media.tokenMaxAge" = 300_000, 1000 => 86_400_000, "ms", Some(Code::TokenExpired),
        "the lifetime that signaling gives: time to connect, and to reconnect once";
    media_certificate_lifetime "media.certificateLifetime" = 864_000_000, 3_601_000 => 1_123_200_000, "ms", None,
        "browsers pin no certificate that is valid for more than 14 days";
    media_certificate_rotation "media.certificateRotation" = 345_600_000, 500 => 1_123_200_000, "ms", None,
        "a client that knows the current and the next hash can reconnect for as long again";
    drain_window "drain.window" = 10_000, 10 => 600_000, "ms", None,
        "clients of a full pod move to other pods at 1,600 per second; within the 30 s that Kubernetes allows a process to end";
}

/// The reason for which a value was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    /// There is no such limit.
    #[error("there is no limit named {0}")]
    Unknown(String),
    /// The value is not a number in the range.
    #[error("limit {name} must be {min} to {max} {unit}, not {given}")]
    Range {
        /// The limit.
        name: &'static str,
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
        /// The unit.
        unit: &'static str,
        /// The refused value.
        given: String,
    },
    /// Two limits contradict each other.
    #[error("{0}")]
    Together(&'static str),
}

impl Limits {
    /// Sets one limit.
    pub fn set(&mut self, name: &str, given: &str) -> Result<(), Refused> {
        let Some(row) = LIMITS.iter().find(|row| row.name == name) else {
            return Err(Refused::Unknown(name.to_owned()));
        };
        let range =
            || Refused::Range { name: row.name, min: row.min, max: row.max, unit: row.unit, given: given.into() };
        let value: u64 = given.parse().map_err(|_| range())?;
        if !(row.min..=row.max).contains(&value) {
            return Err(range());
        }
        if let Some(slot) = self.slot(row.name) {
            *slot = value;
        }
        Ok(())
    }

    /// Checks limits that depend on each other, after all are set.
    pub fn check(&self) -> Result<(), Refused> {
        if self.reader_bytes < self.message_bytes {
            return Err(Refused::Together(
                "reader.bytes must be at least stream.messageBytes, or the largest is always dropped",
            ));
        }
        if self.address_reassembly_bytes < self.message_bytes {
            return Err(Refused::Together(
                "address.reassemblyBytes must be at least stream.messageBytes, or the largest never arrives",
            ));
        }
        if self.idle_timeout <= self.ping_interval {
            return Err(Refused::Together(
                "socket.idleTimeout must be above socket.pingInterval, or quiet sockets are closed",
            ));
        }
        if self.link_idle_timeout < 2 * self.link_ping_interval || self.lease_duration < 2 * self.lease_interval {
            return Err(Refused::Together(
                "link.idleTimeout and lease.duration must be at least twice link.pingInterval and lease.interval",
            ));
        }
        if self.media_link_idle_timeout < 2 * self.media_link_ping_interval {
            return Err(Refused::Together("media.linkIdleTimeout must be at least twice media.linkPingInterval"));
        }
        if self.media_certificate_lifetime < 2 * self.media_certificate_rotation + 3_600_000 {
            return Err(Refused::Together(
                "media.certificateLifetime must be at least twice media.certificateRotation and an hour, as the next one is made before",
            ));
        }
        Ok(())
    }
}

/// The environment variable of a limit: `stream.messageBytes` is `PARLEY_RELAY_LIMIT_STREAM_MESSAGE_BYTES`.
pub fn key(name: &str) -> String {
    let mut key = String::from("PARLEY_RELAY_LIMIT_");
    for letter in name.chars() {
        match letter {
            '.' => key.push('_'),
            upper if upper.is_ascii_uppercase() => key.extend(['_', upper]),
            lower => key.push(lower.to_ascii_uppercase()),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_within_its_range_and_the_defaults_are_consistent() {
        for row in LIMITS {
            assert!((row.min..=row.max).contains(&row.value), "{}", row.name);
            assert!(!row.reason.is_empty() && !row.unit.is_empty(), "{}", row.name);
            Limits::default().set(row.name, &row.value.to_string()).unwrap();
        }
        Limits::default().check().unwrap();
    }

    #[test]
    fn str_82_an_environment_variable_is_the_name_in_capitals() {
        assert_eq!(key("stream.messageBytes"), "PARLEY_RELAY_LIMIT_STREAM_MESSAGE_BYTES");
    }

    #[test]
    fn str_82_a_value_out_of_range_and_an_unknown_name_are_refused() {
        let mut limits = Limits::default();
        assert_eq!(limits.set("pod.sokets", "1"), Err(Refused::Unknown("pod.sokets".into())));
        for bad in ["0", "-1", "x", "", "99999999999999999999", "1e3"] {
            assert!(matches!(limits.set("pod.sockets", bad), Err(Refused::Range { .. })), "{bad}");
        }
        assert_eq!(limits, Limits::default());
    }

    #[test]
    fn str_82_limits_that_contradict_each_other_are_refused() {
        let mut limits = Limits::default();
        limits.set("reader.bytes", "1024").unwrap();
        assert!(matches!(limits.check(), Err(Refused::Together(_))));
        for (name, value) in [
            ("address.reassemblyBytes", "1024"),
            ("media.linkPingInterval", "800"),
            ("media.certificateLifetime", "600000000"),
        ] {
            let mut limits = Limits::default();
            limits.set(name, value).unwrap();
            assert!(matches!(limits.check(), Err(Refused::Together(_))), "{name}");
        }
    }
}
