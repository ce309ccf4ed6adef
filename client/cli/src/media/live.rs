//! Requests a relay for a live broadcast from a Parley host (MEDIA-8), and from other regions where that one does not answer (MEDIA-26).
use super::dial::{self, RelayAddress};
use crate::connection_end::ConnectionEnd;
use crate::http::{self, Failure};
use crate::regions::places;
use parley_protocol::http::{LiveAnswer, LiveRequest};
use parley_protocol::routes;
use parley_protocol::shared::RegionList;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

/// A new connection to a far region takes four round trips.
const OTHERS_AFTER: Duration = Duration::from_millis(1500);

/// `https://HOST/live/NAME`: the URL of the page of a live broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveUrl {
    /// `https://HOST/`.
    pub host: Url,
    /// The name in the URL of its page.
    pub name: String,
}

/// The relays of a live broadcast, for a viewer or a publisher.
pub struct LiveRelays {
    live: LiveUrl,
    publish: bool,
    /// The origins of the other regions, once the host has named them.
    others: Arc<OnceCell<Vec<Url>>>,
}

/// The region that is asked.
#[derive(Clone, Copy)]
enum Asked {
    Own,
    Other,
}

type Answered = (Asked, Result<RelayAddress, Failure>);

impl LiveUrl {
    /// The name of the broadcast on a relay.
    pub fn broadcast(&self) -> String {
        format!("live/{}", self.name)
    }
}

impl LiveRelays {
    /// For its publisher, or for a viewer.
    pub fn new(live: LiveUrl, publish: bool) -> Self {
        Self { live, publish, others: Arc::default() }
    }

    /// Requests a relay and a token; another relay than the one that was lost, if there is another (MEDIA-10). It is called before every session, as the
    /// relay may change.
    pub async fn request(&self, lost: Option<&str>) -> Result<RelayAddress, ConnectionEnd> {
        let mut own_end = ConnectionEnd::lost("the service does not answer");
        // Found while the host answers, for when it does not.
        let (host, known) = (self.live.host.clone(), self.others.clone());
        let mut finding =
            tokio::spawn(async move { known.get_or_try_init(|| find_others(host)).await.cloned().unwrap_or_default() });
        let mut asked = JoinSet::new();
        asked.spawn(self.ask(&self.live.host, Asked::Own, lost));
        match timeout(OTHERS_AFTER, asked.join_next()).await {
            Ok(Some(Ok((_, Err(Failure { is_of_region: true, end }))))) => own_end = end,
            Ok(Some(Ok((_, answer)))) => return answer.map_err(|failure| failure.end),
            _ => {}
        }
        let mut found = false;
        loop {
            tokio::select! {
                others = &mut finding, if !found => {
                    found = true;
                    for other in others.unwrap_or_default() {
                        asked.spawn(self.ask(&other, Asked::Other, lost));
                    }
                }
                Some(answer) = asked.join_next() => match answer {
                    Ok((_, Ok(address))) => return Ok(address),
                    Ok((Asked::Own, Err(failure))) => own_end = failure.end,
                    _ => {}
                },
                else => return Err(own_end),
            }
        }
    }

    /// Asks one region, whose edge leads to its relay.
    fn ask(&self, region: &Url, whose: Asked, lost: Option<&str>) -> impl Future<Output = Answered> + Send + use<> {
        let (region, publish, path) = (region.clone(), self.publish, routes::open_live(&self.live.name));
        let request = LiveRequest { publish: Some(publish), exclude: lost.and_then(|lost| lost.parse().ok()) };
        async move {
            let mut url = region.clone();
            url.set_path(&path);
            let address = |answer: LiveAnswer| {
                dial::address(&answer.relay, &region).map_err(|end| Failure { end, is_of_region: false })
            };
            (whose, http::post_in_region(url, &request).await.and_then(address))
        }
    }
}

/// The origins of all regions but that of the host.
async fn find_others(host: Url) -> Result<Vec<Url>, ConnectionEnd> {
    let mut url = host;
    url.set_path(routes::LIST_REGIONS);
    let list: RegionList = http::get(url).await?;
    let others = places(&list).into_iter().filter(|place| *place.name != *list.region);
    Ok(others.map(|place| place.url).collect())
}
