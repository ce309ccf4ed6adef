//! What stands for media in a relay that was built without it: settings that ask for it are refused.
use super::{Config, Guard, Limits};
use parley_cluster::Shared;
use parley_cluster::bus::Bus;
use parley_cluster::lease::PeerLeases;
use std::sync::Arc;
use tokio::sync::watch;

/// Never open.
pub enum Media {}

#[allow(missing_docs, clippy::unused_async, reason = "as in running.rs, where they do something")]
impl Media {
    pub async fn open(_config: &Config, _guard: Guard, _limits: Limits) -> anyhow::Result<Self> {
        anyhow::bail!("media-listen is set, and this relay was built without media")
    }

    pub async fn tell(
        self: Arc<Self>,
        _shared: Arc<Shared>,
        _bus: Bus,
        _region: String,
        _drains: watch::Receiver<bool>,
    ) {
        match *self {}
    }

    pub fn metrics(&self) -> String {
        match *self {}
    }

    pub async fn drain(&self, _others: &PeerLeases) {
        match *self {}
    }
}
