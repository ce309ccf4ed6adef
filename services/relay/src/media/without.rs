//! What stands for media in a relay that was built without it: settings that ask for it are refused.
use super::place::Others;
use super::{Config, Guard};
use crate::cluster::Shared;
use crate::cluster::bus::Bus;
use std::sync::Arc;

/// Never open.
pub enum Media {}

#[allow(missing_docs, clippy::unused_async, reason = "as in running.rs, where they do something")]
impl Media {
    pub async fn open(_config: &Config, _guard: Guard) -> anyhow::Result<Self> {
        anyhow::bail!("media-listen is set, and this relay was built without media")
    }

    pub async fn tell(self: Arc<Self>, _shared: Arc<Shared>, _bus: Bus, _region: String) {
        match *self {}
    }

    pub fn metrics(&self) -> String {
        match *self {}
    }

    pub async fn drain(&self, _others: &Others) {
        match *self {}
    }
}
