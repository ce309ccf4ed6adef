//! The limits of leases and links. The relay's table of limits has their names, ranges and defaults.

/// The limits in force. Times are in milliseconds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The interval between two leases of a pod.
    pub lease_interval: u64,
    /// How long a lease is valid.
    pub lease_duration: u64,
    /// Linked pods.
    pub link_peers: u64,
    /// Subscriptions of one pod.
    pub link_subscriptions: u64,
    /// Messages of one topic that are queued for one pod.
    pub link_messages: u64,
    /// Their bytes.
    pub link_bytes: u64,
    /// Bytes of all topics that are queued for one pod.
    pub link_queued_bytes: u64,
    /// Other regions whose pods are linked.
    pub link_regions: u64,
    /// Linked pods of each other region.
    pub link_ocean_peers: u64,
    /// Bytes of all topics that are queued for one pod of another region.
    pub link_ocean_backlog_bytes: u64,
    /// The interval between two pings.
    pub link_ping_interval: u64,
    /// How long a peer may send nothing.
    pub link_idle_timeout: u64,
    /// How long the opening of a link may take.
    pub link_open_timeout: u64,
    /// The size limit of a message in bytes.
    pub message_bytes: u64,
    /// How long the pod that issued a code may take to answer.
    pub code_timeout: u64,
    /// The interval between two digests of revocations.
    pub revocations_interval: u64,
    /// The limits of tokens, codes and revocations.
    pub access: parley_access::Limits,
}
