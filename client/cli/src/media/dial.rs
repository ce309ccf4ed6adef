//! One session with a relay (MED-11, MED-13, MEDIA-9).
use super::Boxed;
use crate::ending::Ending;
use crate::reach::Reach;
use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::ValueEnum;
use moq_net::{origin, stats};
use moq_tokio::connect::Config;
use moq_tokio::{Client, Connection, Redirect, quic};
use parley_protocol::shared::RelayOffer;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::timeout;
use url::{Host, Url};

/// A network that swallows UDP says nothing: after this WebSocket is tried as well.
const HEAD_START: Duration = Duration::from_millis(1500);
/// Not even a slow phone takes longer; another relay may be the better one.
const GIVE_UP: Duration = Duration::from_secs(10);
/// A relay that is silent this long is gone; it is pinged three times meanwhile.
const IDLE: Duration = Duration::from_secs(5);
const PINGS: u32 = 3;

/// Where a relay is, and what opens it.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// Its QUIC: `https://HOST:PORT/?jwt=TOKEN`.
    pub quic: Option<Url>,
    /// Its certificates' hashes; none where a public CA signed them.
    pub hashes: Vec<Hash>,
    /// Its WebSocket: `wss://HOST/…?jwt=TOKEN`.
    pub websocket: Option<Url>,
    /// By which way.
    pub reach: Reach,
}

/// How to reach a relay that signaling offers (MEDIA-6, MEDIA-8), through the edge of `host` where it is reached by WebSocket (MEDIA-9).
pub fn address(offer: &RelayOffer, host: &Url) -> Result<Address, Ending> {
    let refused = |why: &dyn fmt::Display| Ending::Refused(format!("the service offers a relay: {why}"));
    let mut quic: Url = offer.url.parse().map_err(|why| refused(&why))?;
    let at = quic[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
    quic.query_pairs_mut().append_pair("jwt", &offer.token);
    let mut websocket = host.clone();
    websocket.set_path("/media");
    let _always_is = websocket.set_scheme(if host.scheme() == "https" { "wss" } else { "ws" });
    websocket.query_pairs_mut().clear().append_pair("at", &at).append_pair("jwt", &offer.token);
    let hashes = offer.certificate_hashes.iter().map(|hash| hash.parse()).collect::<anyhow::Result<_>>();
    let hashes = hashes.map_err(|why| refused(&why))?;
    Ok(Address { quic: Some(quic), hashes, websocket: Some(websocket), reach: Reach::default() })
}

/// SHA-256 of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl FromStr for Hash {
    type Err = anyhow::Error;

    /// Base64, as signaling and relays write it, or hex, as `openssl x509 -fingerprint` does.
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let plain = text.replace(':', "");
        let hex = (0..64).step_by(2).map(|at| u8::from_str_radix(plain.get(at..at + 2)?, 16).ok());
        let bytes = match hex.collect::<Option<Vec<u8>>>() {
            Some(bytes) if plain.len() == 64 => bytes,
            _ => BASE64_STANDARD.decode(text).unwrap_or_default(),
        };
        bytes.try_into().map(Hash).map_err(|_| anyhow::anyhow!("a certificate's hash is SHA-256 in base64 or hex"))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, form: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(form, "{byte:02x}"))
    }
}

/// What carries a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "as they say")]
pub enum Transport {
    Quic,
    #[value(name = "websocket")]
    WebSocket,
}

impl fmt::Display for Transport {
    fn fmt(&self, form: &mut fmt::Formatter) -> fmt::Result {
        form.write_str(match self {
            Transport::Quic => "QUIC",
            Transport::WebSocket => "WebSocket",
        })
    }
}

/// What a session carries.
#[derive(Clone, Default)]
pub struct Ends {
    /// What is published here goes out.
    pub publish: Option<origin::Consumer>,
    /// What the relay offers comes in here.
    pub subscribe: Option<origin::Producer>,
    /// Counts what passes.
    pub stats: Option<stats::Session>,
}

/// A session. **A refused token is told after the handshake (MED-13): by [`Connection::closed`].**
pub struct Dialled {
    /// It ends when the last copy of this is dropped; it never dials again.
    pub connection: Connection,
    /// What carries it.
    pub over: Transport,
    client: Client,
}

impl Dialled {
    /// Ends it once the relay has everything that was published.
    pub async fn close(self) {
        let _ = self.connection.close().await;
        let _ = timeout(GIVE_UP, self.client.close()).await;
    }
}

/// Dials a relay: over QUIC, and over WebSocket where that is slow or does not get through, unless it is told which.
pub fn dial(address: Address, only: Option<Transport>, ends: Ends) -> Boxed<'static, anyhow::Result<Dialled>> {
    Box::pin(async move {
        let wanted = |over: Transport| only.is_none_or(|only| only == over);
        let quic = address.quic.clone().filter(|_| wanted(Transport::Quic));
        let websocket = address.websocket.clone().filter(|_| wanted(Transport::WebSocket));
        let quick = |url| open(url, Transport::Quic, &address.hashes, &ends, &address.reach);
        let slow = |url| open(url, Transport::WebSocket, &[], &ends, &address.reach);
        let race = async {
            match (quic, websocket) {
                (Some(quic), Some(websocket)) => either(quick(quic), slow(websocket)).await,
                (Some(quic), None) => quick(quic).await,
                (None, Some(websocket)) => slow(websocket).await,
                (None, None) => bail!("the relay has no address for that transport"),
            }
        };
        timeout(GIVE_UP, race).await.context("the relay does not answer")?
    })
}

/// The first of two that connects, with a head start for one.
async fn either(
    quick: impl Future<Output = anyhow::Result<Dialled>>,
    slow: impl Future<Output = anyhow::Result<Dialled>>,
) -> anyhow::Result<Dialled> {
    let (mut quick, mut slow) = (pin!(quick), pin!(slow));
    match timeout(HEAD_START, &mut quick).await {
        Ok(Ok(dialled)) => return Ok(dialled),
        Ok(Err(why)) => {
            return slow.await.map_err(|other| why.context(format!("neither QUIC nor WebSocket: {other:#}")));
        }
        Err(_) => {}
    }
    tokio::select! {
        first = &mut quick => match first { Ok(dialled) => Ok(dialled), Err(_) => slow.await },
        first = &mut slow => match first { Ok(dialled) => Ok(dialled), Err(_) => quick.await },
    }
}

async fn open(url: Url, over: Transport, hashes: &[Hash], ends: &Ends, reach: &Reach) -> anyhow::Result<Dialled> {
    let mut config = Config::default();
    config.timeout = GIVE_UP;
    // Where to dial next is asked for; and a relay that moves its clients names one whose certificate is not known.
    config.once = Some(true);
    config.goaway.redirect = Redirect::Ignore;
    config.websocket.enabled = Some(over == Transport::WebSocket);
    // A machine without IPv6 has no socket for both.
    if matches!(url.host(), Some(Host::Ipv4(_))) {
        config.bind = Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    }
    config.tls.fingerprint = hashes.iter().map(ToString::to_string).collect();
    reach.trust(&mut config);
    let address = reach.at(url).await?;
    let mut timing = quic::Config::default();
    timing.idle_timeout = IDLE;
    timing.keep_alive = IDLE / PINGS;
    let mut client = config.init(timing)?;
    if let Some(publish) = &ends.publish {
        client = client.with_publisher(publish);
    }
    if let Some(subscribe) = &ends.subscribe {
        client = client.with_subscriber(subscribe.clone());
    }
    if let Some(stats) = &ends.stats {
        client = client.with_stats(stats.clone());
    }
    let connection = client.connect(address).established().await?;
    Ok(Dialled { connection, over, client })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE64: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_hash_is_base64_or_hex() {
        let colons = HEX.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair)).collect::<Vec<_>>().join(":");
        for text in [BASE64, HEX, &colons, &colons.to_uppercase()] {
            assert_eq!(text.parse::<Hash>().unwrap().to_string(), HEX, "{text}");
        }
        for text in ["", "abc", &HEX[2..], &BASE64[4..], "€€"] {
            assert!(text.parse::<Hash>().is_err(), "{text}");
        }
    }

    #[test]
    fn media_9_without_udp_a_relay_is_reached_through_the_edge() {
        let offer = format!(r#"{{"url":"https://10.0.0.7:8141/","token":"t+k","certificateHashes":["{BASE64}"]}}"#);
        let offer: RelayOffer = parley_protocol::decode(offer.as_bytes()).unwrap();
        let address = address(&offer, &"http://localhost:8080/live/x".parse().unwrap()).unwrap();
        assert_eq!(address.quic.unwrap().as_str(), "https://10.0.0.7:8141/?jwt=t%2Bk");
        let websocket = address.websocket.unwrap();
        assert_eq!(websocket.as_str(), "ws://localhost:8080/media?at=10.0.0.7%3A8141&jwt=t%2Bk");
        assert_eq!(address.hashes.len(), 1);
        let secure = super::address(&offer, &"https://parley.example/r/x".parse().unwrap()).unwrap();
        assert_eq!(&secure.websocket.unwrap()[..url::Position::AfterPath], "wss://parley.example/media");
    }
}
