//! Follows whom owners muted, as signaling publishes it for the relays of all regions (MEDIA-29).
use super::Media;
use futures_util::StreamExt;
use parley_cluster::bus::Bus;
use parley_protocol::media::RelayMutes;
use parley_protocol::subjects::RELAY_MUTES_SUBJECT;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

impl Media {
    /// Applies what signaling publishes, without end. A message of another form is ignored, as one of a later version.
    pub async fn follow_mutes(self: Arc<Self>, bus: Bus) {
        let mut messages = match bus.subscribe(RELAY_MUTES_SUBJECT).await {
            Ok(messages) => messages,
            // The client of NATS has ended, and the process does.
            Err(error) => return tracing::error!(%error, "mutes are not followed"),
        };
        while let Some(message) = messages.next().await {
            let Ok(mutes) = serde_json::from_slice::<RelayMutes>(&message.payload) else { continue };
            let refused = self.mutes.apply(&mutes, Instant::now());
            if refused > 0 {
                self.refused_mutes.fetch_add(refused, Relaxed);
                tracing::warn!(refused, "participants are muted by clients alone: media.mutes");
            }
        }
    }
}
