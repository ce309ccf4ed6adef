//! What the network has counted of a session, as its transport tells it.
//!
//! MoQ's library has these counts too, but whoever reads them there makes it sample the transport for the next 100 ms and then once more, and each sample
//! polls all that the session waits for.
use moq_net::session::Stats;
use moq_net::web_transport_trait::{Session as _, Stats as _};
use web_transport_moq::noq::{Connection, PathId};

use crate::server::counted::Received;

/// The transport of a session.
pub(crate) enum Network {
    Quic(Connection),
    /// WebSocket, with the received bytes.
    Socket(Box<qmux::Session>, Received),
}

impl Network {
    /// Returns the name of the transport in metrics.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Quic(_) => "quic",
            Self::Socket(..) => "websocket",
        }
    }

    /// Returns the received bytes, with headers.
    pub fn received(&self) -> u64 {
        match self {
            Self::Quic(connection) => connection.stats().udp_rx.bytes,
            Self::Socket(_, received) => received.bytes(),
        }
    }

    /// Returns the statistics: over WebSocket the round trip alone.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        match self {
            Self::Quic(connection) => {
                let counted = connection.stats();
                stats.rtt = connection.rtt(PathId::ZERO);
                stats.bytes_sent = Some(counted.udp_tx.bytes);
                stats.bytes_received = Some(counted.udp_rx.bytes);
                stats.packets_sent = Some(counted.udp_tx.datagrams);
                stats.packets_lost = connection.path_stats(PathId::ZERO).map(|path| path.lost_packets);
            }
            Self::Socket(session, _) => stats.rtt = session.stats().rtt(),
        }
        stats
    }
}
