//! What of leases and links is bounded. Names, ranges and defaults: the table of the relay's settings.

/// Times are ms.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Between two leases of a pod.
    pub lease_interval: u64,
    /// How long a lease holds.
    pub lease_duration: u64,
    /// Pods that are linked.
    pub link_peers: u64,
    /// Topics that one pod may want.
    pub link_subscriptions: u64,
    /// Messages of one topic that wait for one pod.
    pub link_messages: u64,
    /// Their bytes.
    pub link_bytes: u64,
    /// Bytes of all topics that wait for one pod.
    pub link_queued_bytes: u64,
    /// Between two pings.
    pub link_ping_interval: u64,
    /// A link that is silent this long is dead.
    pub link_idle_timeout: u64,
    /// How long a link may take to open.
    pub link_open_timeout: u64,
    /// Bytes of the largest message.
    pub message_bytes: u64,
    /// How long another pod is waited for that keeps a code.
    pub code_timeout: u64,
    /// Between two digests of revocations.
    pub revocations_interval: u64,
    /// Those of tokens, codes and revocations.
    pub access: parley_access::Limits,
}
