//! One session with a relay (MED-11, MED-13, MEDIA-9).
use super::BoxFuture;
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
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

/// The head start of QUIC before WebSocket is tried too: a network that drops UDP sends no error.
const HEAD_START: Duration = Duration::from_millis(1500);
/// The longest time to connect, also on a second phone. After that another relay may be better.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// A relay that sends nothing for this long is lost; it is pinged three times meanwhile.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
const PINGS: u32 = 3;

/// The addresses of a relay, with a token.
#[derive(Clone, Debug, Default)]
pub struct RelayAddress {
    /// Its QUIC address: `https://HOST:PORT/?jwt=TOKEN`.
    pub quic: Option<Url>,
    /// The hashes of its certificates; none if a public CA signed them.
    pub hashes: Vec<CertificateHash>,
    /// Its WebSocket address: `wss://HOST/…?jwt=TOKEN`.
    pub websocket: Option<Url>,
    /// How its host is reached.
    pub connect: ConnectOptions,
    /// Its address as the service offered it, by which the next request names it where it was lost (MEDIA-10).
    pub offered: Option<String>,
}

/// The addresses of a relay that signaling offers (MEDIA-6, MEDIA-8). Its WebSocket goes through the edge of `host` (MEDIA-9).
pub fn address(offer: &RelayOffer, host: &Url) -> Result<RelayAddress, ConnectionEnd> {
    let refused = |why: &dyn fmt::Display| ConnectionEnd::Refused(format!("the service offers a relay: {why}"));
    let mut quic: Url = offer.url.parse().map_err(|why| refused(&why))?;
    let at = quic[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
    quic.query_pairs_mut().append_pair("jwt", &offer.token);
    let mut websocket = host.clone();
    websocket.set_path("/media");
    let _always_is = websocket.set_scheme(if host.scheme() == "https" { "wss" } else { "ws" });
    websocket.query_pairs_mut().clear().append_pair("at", &at).append_pair("jwt", &offer.token);
    let hashes = offer.certificate_hashes.iter().map(|hash| hash.parse()).collect::<anyhow::Result<_>>();
    let hashes = hashes.map_err(|why| refused(&why))?;
    let offered = Some(offer.url.clone());
    Ok(RelayAddress {
        quic: Some(quic),
        hashes,
        websocket: Some(websocket),
        connect: ConnectOptions::default(),
        offered,
    })
}

/// The SHA-256 of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateHash([u8; 32]);

impl FromStr for CertificateHash {
    type Err = anyhow::Error;

    /// Parses base64, as signaling and relays write it, or hex, as `openssl x509 -fingerprint` does.
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let plain = text.replace(':', "");
        let hex = (0..64).step_by(2).map(|at| u8::from_str_radix(plain.get(at..at + 2)?, 16).ok());
        let bytes = match hex.collect::<Option<Vec<u8>>>() {
            Some(bytes) if plain.len() == 64 => bytes,
            _ => BASE64_STANDARD.decode(text).unwrap_or_default(),
        };
        bytes
            .try_into()
            .map(CertificateHash)
            .map_err(|_| anyhow::anyhow!("a certificate's hash is SHA-256 in base64 or hex"))
    }
}

impl fmt::Display for CertificateHash {
    fn fmt(&self, form: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(form, "{byte:02x}"))
    }
}

/// The transport of a session.
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

/// What a session publishes and receives.
#[derive(Clone, Default)]
pub struct Broadcasts {
    /// The broadcasts that are published.
    pub publish: Option<origin::Consumer>,
    /// Receives the broadcasts that the relay announces.
    pub subscribe: Option<origin::Producer>,
    /// Counts the traffic.
    pub stats: Option<stats::Session>,
}

/// A session. **A relay refuses a token only after the handshake (MED-13): [`Connection::closed`] reports it.**
pub struct Session {
    /// The connection. It ends when its last copy is dropped, and it does not reconnect.
    pub connection: Connection,
    /// The transport that is used.
    pub over: Transport,
    client: Client,
}

impl Session {
    /// Ends the session when the relay has received everything that was published.
    pub async fn close(self) {
        let _ = self.connection.close().await;
        let _ = timeout(DIAL_TIMEOUT, self.client.close()).await;
    }
}

/// Connects to a relay over QUIC, and over WebSocket if QUIC is second or fails; or only over a given transport.
pub fn dial(
    address: RelayAddress,
    only: Option<Transport>,
    broadcasts: Broadcasts,
) -> BoxFuture<'static, anyhow::Result<Session>> {
    Box::pin(async move {
        let wanted = |over: Transport| only.is_none_or(|only| only == over);
        let quic = address.quic.clone().filter(|_| wanted(Transport::Quic));
        let websocket = address.websocket.clone().filter(|_| wanted(Transport::WebSocket));
        let over_quic = |url| open(url, Transport::Quic, &address.hashes, &broadcasts, &address.connect);
        let over_websocket = |url| open(url, Transport::WebSocket, &[], &broadcasts, &address.connect);
        let race = async {
            match (quic, websocket) {
                (Some(quic), Some(websocket)) => either(over_quic(quic), over_websocket(websocket)).await,
                (Some(quic), None) => over_quic(quic).await,
                (None, Some(websocket)) => over_websocket(websocket).await,
                (None, None) => bail!("the relay has no address for that transport"),
            }
        };
        timeout(DIAL_TIMEOUT, race).await.context("the relay does not answer")?
    })
}

/// Runs two attempts, the first with a head start, and returns the first that succeeds.
async fn either(
    first: impl Future<Output = anyhow::Result<Session>>,
    second: impl Future<Output = anyhow::Result<Session>>,
) -> anyhow::Result<Session> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    match timeout(HEAD_START, &mut first).await {
        Ok(Ok(dialled)) => return Ok(dialled),
        Ok(Err(why)) => {
            return second.await.map_err(|other| why.context(format!("neither QUIC nor WebSocket: {other:#}")));
        }
        Err(_) => {}
    }
    tokio::select! {
        ended = &mut first => match ended { Ok(dialled) => Ok(dialled), Err(_) => second.await },
        ended = &mut second => match ended { Ok(dialled) => Ok(dialled), Err(_) => first.await },
    }
}

async fn open(
    url: Url,
    over: Transport,
    hashes: &[CertificateHash],
    broadcasts: &Broadcasts,
    connect: &ConnectOptions,
) -> anyhow::Result<Session> {
    let mut config = Config::default();
    config.timeout = DIAL_TIMEOUT;
    // The caller chooses the next relay: the certificate of a relay that a goaway names is not known.
    config.once = Some(true);
    config.goaway.redirect = Redirect::Ignore;
    config.websocket.enabled = Some(over == Transport::WebSocket);
    // A machine without IPv6 cannot open a dual-stack socket.
    if matches!(url.host(), Some(Host::Ipv4(_))) {
        config.bind = Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    }
    config.tls.fingerprint = hashes.iter().map(ToString::to_string).collect();
    connect.apply_tls(&mut config);
    let address = connect.relay_addr(url).await?;
    let mut timing = quic::Config::default();
    timing.idle_timeout = IDLE_TIMEOUT;
    timing.keep_alive = IDLE_TIMEOUT / PINGS;
    let mut client = config.init(timing)?;
    if let Some(publish) = &broadcasts.publish {
        client = client.with_publisher(publish);
    }
    if let Some(subscribe) = &broadcasts.subscribe {
        client = client.with_subscriber(subscribe.clone());
    }
    if let Some(stats) = &broadcasts.stats {
        client = client.with_stats(stats.clone());
    }
    let connection = client.connect(address).established().await?;
    Ok(Session { connection, over, client })
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
            assert_eq!(text.parse::<CertificateHash>().unwrap().to_string(), HEX, "{text}");
        }
        for text in ["", "abc", &HEX[2..], &BASE64[4..], "€€"] {
            assert!(text.parse::<CertificateHash>().is_err(), "{text}");
        }
    }

    #[test]
    fn media_9_the_websocket_of_a_relay_goes_through_the_edge() {
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
