//! A relay of another region, for when the own one is lost and the service does not answer (MEDIA-24, MEDIA-25).
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use crate::http;
use crate::media::dial::{self, RelayAddress};
use parley_protocol::server::RelayStandby;
use parley_protocol::shared::RelayOffer;
use std::time::Duration;
use tokio::time::Instant;

/// The standby of the newest answer.
pub struct Standby {
    /// The address of the relay.
    pub address: RelayAddress,
    /// Until then its token opens sessions.
    until: Instant,
}

impl Standby {
    /// The standby of an answer, and when the participant asks again.
    pub fn new(standby: RelayStandby, connect: &ConnectOptions) -> Result<(Self, Instant), ConnectionEnd> {
        let RelayStandby { url, token, certificate_hashes, api, renew_after_ms } = standby;
        let offer = RelayOffer { url, token, certificate_hashes };
        let edge = api.parse().map_err(|_| http::invalid_answer())?;
        let address = RelayAddress { connect: connect.clone(), ..dial::address(&offer, &edge)? };
        let (now, renew_after) = (Instant::now(), Duration::from_millis(renew_after_ms.get()));
        Ok((Self { address, until: now + 2 * renew_after }, now + renew_after))
    }

    /// Its address, unless it was lost itself or its token is too old.
    pub fn usable(&self, lost: Option<&str>) -> Option<RelayAddress> {
        let usable = Instant::now() < self.until && self.address.offered.as_deref() != lost;
        usable.then(|| self.address.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_25_a_standby_that_was_lost_itself_or_whose_token_is_too_old_is_not_taken() {
        let text = r#"{"url":"https://10.0.0.7:8141","token":"t","certificateHashes":[],"api":"https://us","renewAfterMs":60000}"#;
        let answer: RelayStandby = parley_protocol::decode(text.as_bytes()).unwrap();
        let (mut standby, _) = Standby::new(answer, &ConnectOptions::default()).unwrap();
        let address = standby.usable(Some("https://10.0.0.8:8141")).unwrap();
        assert_eq!(address.websocket.unwrap().host_str(), Some("us"), "the edge of its region leads to it");
        assert!(standby.usable(None).is_some() && standby.usable(Some("https://10.0.0.7:8141")).is_none());
        standby.until = Instant::now();
        assert!(standby.usable(None).is_none());
    }
}
