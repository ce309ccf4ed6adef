//! The substitute for media in a relay that is built without it. It refuses settings of media.
use super::{Config, Guard, Limits};
use parley_cluster::Shared;
use parley_cluster::bus::Bus;
use parley_cluster::lease::PeerLeases;
use parley_metrics::Families;
use std::sync::Arc;
use tokio::sync::watch;

/// Has no values.
pub enum Media {}

#[allow(missing_docs, clippy::unused_async, reason = "the interface of running.rs")]
impl Media {
    pub async fn open(_config: &Config, _guard: Guard, _limits: Limits) -> anyhow::Result<Self> {
        anyhow::bail!("media-listen is set, and this relay was built without media")
    }

    pub async fn publish_leases(
        self: Arc<Self>,
        _shared: Arc<Shared>,
        _bus: Bus,
        _region: String,
        _drains: watch::Receiver<bool>,
    ) {
        match *self {}
    }

    pub async fn follow_mutes(self: Arc<Self>, _bus: Bus) {
        match *self {}
    }

    pub fn collect(&self, _out: &mut Families) {
        match *self {}
    }

    pub fn has_namesake(&self) -> bool {
        match *self {}
    }

    pub async fn drain(&self, _others: &PeerLeases) {
        match *self {}
    }
}
