//! One session that a peer opened: its counts, its end, and its redirect (MED-27, MED-50, MED-51).
use moq_net::goaway::Goaway;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use crate::server::codes::error;
use crate::server::control_bytes::ControlBytes;
use crate::server::metrics::{Kind, Meter, Traffic};
use crate::server::network::Network;
use crate::server::{Authorization, Refusal};

/// A session, from its handshake to its end.
pub(crate) struct LiveSession {
    pub session: moq_net::Session,
    pub authorization: Box<dyn Authorization>,
    pub kind: Kind,
    pub network: Network,
    /// The query of the URL, which a redirect keeps.
    pub query: String,
    pub meter: Meter,
    /// Received payload at the last review.
    pub media_at_review: AtomicU64,
    pub control_bytes: Mutex<ControlBytes>,
    pub ended: OnceLock<Refusal>,
}

impl LiveSession {
    pub fn traffic(&self) -> Traffic {
        self.meter.read(self.network.stats())
    }

    /// Updates and returns the level of bytes other than media.
    pub fn control_bytes(&self, traffic: Traffic) -> u64 {
        let traffic = Traffic { wire_in: self.network.received(), ..traffic };
        self.control_bytes.lock().level(traffic, Instant::now())
    }

    /// Reports whether the bytes since the last review could exceed `max`, which is cheap to check.
    pub fn may_exceed(&self, max: u64) -> bool {
        self.network.received() > self.control_bytes.lock().counted() + max
    }

    pub fn end(&self, code: Refusal) {
        if self.ended.set(code).is_ok() {
            self.session.abort(error(code));
        }
    }

    /// Sends GOAWAY (MED-50, MED-51).
    pub fn send_goaway(&self, successor: Option<&str>, window: Duration) {
        let address =
            successor.filter(|_| self.kind == Kind::Client).and_then(|successor| self.goaway_address(successor));
        let goaway = address.map_or_else(Goaway::new, Goaway::redirect).with_timeout(window);
        if let Err(error) = self.session.drain().send(goaway) {
            tracing::debug!(%error, "GOAWAY not sent");
        }
    }

    fn goaway_address(&self, successor: &str) -> Option<String> {
        let mut address = url::Url::parse(successor).ok()?;
        address.set_query(Some(&self.query));
        Some(address.into())
    }
}
