//! The limits of media. Names, ranges and defaults are in the table of the relay's settings.

/// Durations are in ms.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Concurrent sessions of clients.
    pub sessions: usize,
    /// Concurrent sessions and handshakes of one network.
    pub address_sessions: usize,
    /// Concurrent handshakes; above half of it, a client has to prove its address first.
    pub handshakes: usize,
    /// The longest handshake.
    pub handshake_time: u64,
    /// Concurrent subscriptions of one client to tracks.
    pub subscriptions: usize,
    /// Bytes in flight to one client that it has not acknowledged.
    pub send_bytes: u64,
    /// Bytes from one client that the relay has not read.
    pub receive_bytes: u64,
    /// Bytes other than media from one client, above a fixed rate. Over it, the session ends.
    pub control_bytes: u64,
    /// Concurrent broadcasts of one client.
    pub broadcasts: usize,
    /// Bytes of media that are cached for late and slow subscribers. Above twice this, the session of the client that sends the most ends.
    pub cache_bytes: u64,
    /// Spans of traced sessions in a second.
    pub traces: u64,
    /// How long media is cached.
    pub cache_time: u64,
    /// How long a busy relay holds a small frame; 0: it holds none.
    pub hold: u64,
    /// The idle timeout of a client.
    pub idle_time: u64,
    /// The idle timeout of a link.
    pub link_idle_time: u64,
    /// The interval of pings on a link.
    pub link_ping: u64,
    /// How long an origin of another region is kept after its last sign of life.
    pub unreachable_keep: u64,
    /// The longest drain.
    pub drain_window: u64,
    /// The lifetime of a certificate that the relay makes (less than 14 days).
    pub certificate_life: u64,
    /// How long such a certificate is in use. Its successor is announced all that time.
    pub certificate_rotation: u64,
}
