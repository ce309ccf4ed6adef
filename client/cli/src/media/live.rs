//! Requests a relay for a live broadcast from a Parley host (MEDIA-8).
use super::dial::{self, RelayAddress};
use crate::connection_end::ConnectionEnd;
use crate::http;
use parley_protocol::http::{LiveAnswer, LiveRequest};
use parley_protocol::routes;
use url::Url;

/// `https://HOST/live/NAME`: the URL of the page of a live broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveUrl {
    /// `https://HOST/`.
    pub host: Url,
    /// The name in the URL of its page.
    pub name: String,
}

impl LiveUrl {
    /// The name of the broadcast on a relay.
    pub fn broadcast(&self) -> String {
        format!("live/{}", self.name)
    }

    /// Requests a relay and a token to subscribe, or to publish. It is called before every session, as the relay may change.
    pub async fn request_relay(&self, publish: bool) -> Result<RelayAddress, ConnectionEnd> {
        let mut url = self.host.clone();
        url.set_path(&routes::open_live(&self.name));
        let request = LiveRequest { publish: Some(publish), exclude: None };
        let answer: LiveAnswer = http::post(url, None, &request).await?;
        dial::address(&answer.relay, &self.host)
    }
}
