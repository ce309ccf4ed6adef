//! What of media is bounded. Names, ranges and defaults: the table of the relay's settings.

/// Times are ms.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Sessions of clients at once.
    pub sessions: usize,
    /// Sessions of one network at once, and handshakes.
    pub address_sessions: usize,
    /// Handshakes at once; over half of it addresses are proven first.
    pub handshakes: usize,
    /// A handshake that takes longer is given up.
    pub handshake_time: u64,
    /// Tracks that one client watches at once.
    pub subscriptions: usize,
    /// Bytes on the way to one client that it has not acknowledged.
    pub send_bytes: u64,
    /// Bytes from one client that are not yet read.
    pub receive_bytes: u64,
    /// Bytes that a client sends beside media, above some a second; over it it is ended.
    pub control_bytes: u64,
    /// Broadcasts that one client publishes at once.
    pub broadcasts: usize,
    /// Bytes of media kept for those who come late or are behind. Over twice as many, the client that brings the most is ended.
    pub cache_bytes: u64,
    /// How long media is kept.
    pub cache_time: u64,
    /// A client that was silent this long is gone.
    pub idle_time: u64,
    /// A link that was silent this long is gone.
    pub link_idle_time: u64,
    /// Between two pings on a link.
    pub link_ping: u64,
    /// Sessions are moved elsewhere within this time when the relay ends.
    pub drain_window: u64,
    /// A certificate of its own is good for this long (less than 14 days).
    pub certificate_life: u64,
    /// It is replaced after this long; its successor is announced before.
    pub certificate_rotation: u64,
}
