//! Relays in this process, each with its own threads, so that a test can kill one.
use parley_media::Limits;
use parley_media::server::{
    Admission, Authorization, Certificates, Clock, Config, Credential, Grant, HandshakeRequest, Peer, Refusal, Server,
    open_at,
};
use parley_metrics::Families;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::runtime::{Builder, Runtime};

const KEY: &str = "a key of the region";
const REGION_KEY: &str = "a key of other regions";
pub const DAY: Duration = Duration::from_secs(24 * 3600);

pub fn limits() -> Limits {
    Limits {
        sessions: 100,
        address_sessions: 100,
        handshakes: 100,
        handshake_time: 10_000,
        subscriptions: 100,
        send_bytes: 2 << 20,
        receive_bytes: 8 << 20,
        control_bytes: 16 << 20,
        broadcasts: 20,
        cache_bytes: 64 << 20,
        cache_time: 10_000,
        traces: 50,
        hold: 5,
        idle_time: 10_000,
        link_idle_time: 600,
        link_ping: 150,
        unreachable_keep: 60_000,
        drain_window: 3_000,
        certificate_life: 10 * 24 * 3_600_000,
        certificate_rotation: 4 * 24 * 3_600_000,
    }
}

/// Makes a test token: `publish` and `subscribe` patterns, with a space between lists and commas between patterns.
pub fn token(publish: &str, subscribe: &str) -> String {
    format!("{publish} {subscribe}")
}

/// Makes a token that may publish and subscribe to everything.
pub fn anything() -> String {
    token("**", "**")
}

/// Tokens that are revoked, or participants that are muted.
type Names = Arc<Mutex<HashSet<String>>>;

#[derive(Clone, Default)]
struct Guard {
    revoked: Names,
    muted: Names,
}

impl Admission for Guard {
    fn check_request(&self, request: &HandshakeRequest<'_>) -> Result<IpAddr, Refusal> {
        let address = request.forwarded.last().map_or(request.direct, |last| last.parse().unwrap());
        if request.origin == Some("https://evil.example") { Err("ORIGIN_DENIED") } else { Ok(address) }
    }

    fn network(&self, address: IpAddr) -> IpAddr {
        address
    }

    fn is_muted(&self, participant: &str) -> bool {
        self.muted.lock().unwrap().contains(participant)
    }

    fn authenticate(&self, credential: Credential<'_>) -> Result<Box<dyn Authorization>, Refusal> {
        match credential {
            Credential::Key(KEY) => Ok(Box::new(LinkAuthorization(Grant::Link))),
            Credential::Key(REGION_KEY) => Ok(Box::new(LinkAuthorization(Grant::RegionLink))),
            Credential::Key(_) => Err("KEY_INVALID"),
            Credential::None => Err("TOKEN_MISSING"),
            Credential::Token(token) => {
                Ok(Box::new(ClientAuthorization { token: token.to_owned(), revoked: self.revoked.clone() }))
            }
        }
    }
}

struct LinkAuthorization(Grant);

impl Authorization for LinkAuthorization {
    fn grant(&self) -> Grant {
        self.0.clone()
    }

    fn ended(&self) -> Option<Refusal> {
        None
    }
}

struct ClientAuthorization {
    token: String,
    revoked: Names,
}

impl Authorization for ClientAuthorization {
    fn grant(&self) -> Grant {
        let (publish, subscribe) = self.token.split_once(' ').unwrap();
        let list = |text: &str| text.split(',').filter(|text| !text.is_empty()).map(str::to_owned).collect();
        Grant::Client { publish: list(publish), subscribe: list(subscribe) }
    }

    fn ended(&self) -> Option<Refusal> {
        self.revoked.lock().unwrap().contains(&self.token).then_some("TOKEN_REVOKED")
    }
}

pub struct Relay {
    server: Option<Arc<Server>>,
    runtime: Option<Runtime>,
    guard: Guard,
    directory: PathBuf,
    /// The seconds by which its clock is ahead.
    ahead: Arc<AtomicU64>,
}

impl Relay {
    pub async fn start() -> Self {
        Self::with(limits()).await
    }

    pub async fn with(limits: Limits) -> Self {
        Self::at("127.0.0.1:0", limits).await
    }

    /// Starts a relay on another address.
    pub async fn at(address: &str, limits: Limits) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("parley-media-server-{}-{number}", std::process::id()));
        Self::on(address, directory, limits).await
    }

    pub async fn on(address: &str, directory: PathBuf, limits: Limits) -> Self {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self::of(address, Certificates::Pinned { directory: directory.clone(), names }, directory, limits).await
    }

    /// Starts a relay with certificate files that the test writes.
    pub async fn public(file: PathBuf) -> Self {
        let certificates = Certificates::Public { certificate: file.clone(), key: file };
        Self::of("127.0.0.1:0", certificates, PathBuf::new(), limits()).await
    }

    async fn of(address: &str, certificates: Certificates, directory: PathBuf, limits: Limits) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let guard = Guard::default();
        let ahead = Arc::<AtomicU64>::default();
        let offset = ahead.clone();
        let clock: Clock = Arc::new(move || SystemTime::now() + Duration::from_secs(offset.load(Ordering::Relaxed)));
        let listen: SocketAddr = address.parse().unwrap();
        let websocket = (listen.ip(), 0).into();
        let config = Config { listen, websocket, proxied: true, certificates, limits };
        let opening = open_at(config, Arc::new(guard.clone()), clock);
        let server = runtime.spawn(opening).await.unwrap().unwrap();
        Self { server: Some(Arc::new(server)), runtime: Some(runtime), guard, directory, ahead }
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// The metrics as a scraper reads them.
    pub fn metrics(&self) -> String {
        let mut families = Families::default();
        self.server().collect(&mut families);
        families.text()
    }

    pub fn url(&self, token: &str) -> url::Url {
        let mut url: url::Url = format!("https://{}/", self.server().address).parse().unwrap();
        url.query_pairs_mut().append_pair("jwt", token);
        url
    }

    pub fn websocket(&self, token: &str) -> url::Url {
        let mut url: url::Url = format!("ws://{}/", self.server().websocket).parse().unwrap();
        url.query_pairs_mut().append_pair("jwt", token);
        url
    }

    pub fn hashes(&self) -> Vec<String> {
        self.server().state().certificate_hashes
    }

    pub fn peer(&self, name: &str) -> Peer {
        Peer {
            name: name.to_owned(),
            address: Some(self.server().address),
            port: self.server().address.port(),
            key: KEY.to_owned(),
            certificate_hashes: self.hashes(),
            host: "localhost".to_owned(),
            cost: 1,
            in_other_region: false,
        }
    }

    /// The relay as one of another region, whose host is looked up.
    pub fn peer_in_other_region(&self, name: &str, cost: u64) -> Peer {
        let host = "127.0.0.1".to_owned();
        Peer { address: None, host, key: REGION_KEY.to_owned(), cost, in_other_region: true, ..self.peer(name) }
    }

    /// Dials the other relays and waits until the links are up.
    pub async fn dial(&self, others: &[&Relay]) {
        let peers = others.iter().enumerate().map(|(at, relay)| relay.peer(&format!("relay-{at}")));
        self.server().dial(peers.collect());
        self.until("links_up", |up| up as usize == others.len()).await;
    }

    /// Returns the file with the current certificate and its key.
    pub fn file(&self) -> PathBuf {
        self.directory.join("current/relay.pem")
    }

    pub fn revoke(&self, token: &str) {
        self.guard.revoked.lock().unwrap().insert(token.to_owned());
    }

    pub fn mute(&self, participant: &str) {
        self.guard.muted.lock().unwrap().insert(participant.to_owned());
    }

    pub fn unmute(&self, participant: &str) {
        self.guard.muted.lock().unwrap().remove(participant);
    }

    pub fn pass_time(&self, time: Duration) {
        self.ahead.fetch_add(time.as_secs(), Ordering::Relaxed);
    }

    /// Returns the sum of a metric's samples that have all of these labels.
    pub fn metric(&self, name: &str, labels: &[&str]) -> f64 {
        let name = format!("parley_media_{name}");
        let text = self.metrics();
        let lines = text.lines().filter(|line| {
            line.strip_prefix(&name).is_some_and(|rest| rest.starts_with(['{', ' ']))
                && labels.iter().all(|label| line.contains(label))
        });
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
    }

    pub async fn until(&self, name: &str, good: impl Fn(f64) -> bool) {
        let waiting = async {
            while !good(self.metric(name, &[])) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
        assert!(waited.is_ok(), "{name} is {}", self.metric(name, &[]));
    }

    /// Begins the drain.
    pub fn drain(&self, successor: Option<String>) -> tokio::task::JoinHandle<()> {
        let server = self.server.clone().unwrap();
        self.runtime.as_ref().unwrap().spawn(async move { server.drain(successor).await })
    }

    /// Ends the relay as `kill -9` does, without another packet. Returns its directory.
    pub fn kill(mut self) -> PathBuf {
        self.runtime.take().unwrap().shutdown_background();
        std::mem::take(&mut self.directory)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        drop(self.server.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        if !self.directory.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}
