//! Clients that publish numbered frames and subscribe to them.
use moq_net::{Timestamp, bytes::Bytes};
use moq_tokio::{Connection, connect, quic};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// The interval of frames, and the number of frames in a group.
const PACE: Duration = Duration::from_millis(20);
pub const GROUP: u64 = 25;
const FRAME: usize = 1000;

/// The most that the machine may add to the bound of a gap. A machine that stalls for longer cannot test promises of a second.
const MAX_STALL: Duration = Duration::from_secs(1);

/// The variable that names the version of MoQ of clients whose test does not: `make test-all` runs these tests with one that the fan-out does not
/// serve too.
const VERSION: &str = "PARLEY_TEST_MOQ_VERSION";

/// The longest wait for an expected event.
const TIMEOUT: Duration = Duration::from_secs(10);

fn client(url: &url::Url, hashes: &[String], once: bool) -> moq_tokio::Client {
    let bind = if matches!(url.host(), Some(url::Host::Ipv6(_))) { "[::]:0" } else { "0.0.0.0:0" };
    client_at(bind, hashes, once)
}

fn client_at(bind: &str, hashes: &[String], once: bool) -> moq_tokio::Client {
    let _ = moq_tokio::crypto::install_default();
    let config = connect::Config::default();
    client_with(config, bind, hashes, once)
}

fn client_with(mut config: connect::Config, bind: &str, hashes: &[String], once: bool) -> moq_tokio::Client {
    config.bind = Some(bind.parse().unwrap());
    config.tls.fingerprint = hashes.iter().map(|hash| hex(hash)).collect();
    config.tls.insecure = hashes.is_empty().then_some(true);
    config.once = Some(once);
    config.backoff.initial = Duration::from_millis(100);
    config.backoff.timeout = Duration::ZERO;
    if config.version.is_empty() {
        config.version = std::env::var(VERSION).iter().map(|version| version.parse().unwrap()).collect();
    }
    config.init(quic::Config::default()).unwrap()
}

fn hex(hash: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::prelude::BASE64_STANDARD.decode(hash).unwrap();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The frame of this number.
pub fn numbered(number: u64) -> Bytes {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend((8..FRAME as u64).map(|at| (number * 31 + at * 7) as u8));
    bytes.into()
}

/// Dials without a broadcast, and returns why the session ended.
pub async fn call(url: url::Url, hashes: &[String]) -> moq_tokio::Result<()> {
    let origin = moq_tokio::origin::spawn();
    let connection = client(&url, hashes, true).with_subscriber(origin).connect(url);
    tokio::time::timeout(TIMEOUT, connection.closed()).await.expect("the session did not end")
}

/// Dials once, and fails if the relay refuses the session.
pub async fn dial(url: url::Url, hashes: &[String]) -> moq_tokio::Result<Connection> {
    let origin = moq_tokio::origin::spawn();
    let connection = client(&url, hashes, true).with_subscriber(origin).connect(url);
    tokio::time::timeout(TIMEOUT, connection.established()).await.expect("the session was not established in time")
}

/// Dials from another address of this machine.
pub async fn dial_from(bind: &str, url: url::Url, hashes: &[String]) -> moq_tokio::Result<Connection> {
    let origin = moq_tokio::origin::spawn();
    let connection = client_at(bind, hashes, true).with_subscriber(origin).connect(url);
    tokio::time::timeout(TIMEOUT, connection.established()).await.expect("the session was not established in time")
}

/// Dials and keeps the session open.
pub async fn stay(url: url::Url, hashes: &[String]) -> Connection {
    dial(url, hashes).await.unwrap()
}

pub struct Publisher {
    pub connection: Connection,
    writing: AbortHandle,
    gap: Arc<Mutex<Duration>>,
}

impl Publisher {
    /// Publishes a broadcast with one track until dropped.
    pub async fn start(url: url::Url, hashes: &[String], name: &str) -> Self {
        Self::paced(url, hashes, name, PACE, GROUP).await
    }

    /// Publishes with another interval of frames and another number of frames in a group.
    pub async fn paced(url: url::Url, hashes: &[String], name: &str, pace: Duration, frames: u64) -> Self {
        let origin = moq_tokio::origin::spawn();
        let broadcast = origin.create_broadcast(name).unwrap();
        let track = broadcast.create_track("video", None).unwrap();
        broadcast.announce(Default::default()).unwrap();
        let connection = client(&url, hashes, false).with_publisher(origin.consume().with_hidden(true)).connect(url);
        let connection = tokio::time::timeout(TIMEOUT, connection.established())
            .await
            .expect("the session was not established in time")
            .unwrap();
        let gap = Arc::<Mutex<Duration>>::default();
        let longest = gap.clone();
        let writing = tokio::spawn(async move {
            let _kept = (origin, broadcast);
            let mut tick = tokio::time::interval(pace);
            let mut group = track.append_group().unwrap();
            let mut last = Instant::now();
            for number in 0.. {
                tick.tick().await;
                if number > 0 && number % frames == 0 {
                    group.finish().unwrap();
                    group = track.append_group().unwrap();
                }
                group.write_frame(Timestamp::now(), numbered(number)).unwrap();
                let mut longest = longest.lock().unwrap();
                *longest = longest.max(last.elapsed());
                last = Instant::now();
            }
        });
        Self { connection, writing: writing.abort_handle(), gap }
    }

    /// Returns the longest time between two sent frames, at most `MAX_STALL`: what the machine adds to the bound of a gap.
    pub fn gap(&self) -> Duration {
        MAX_STALL.min(*self.gap.lock().unwrap())
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.writing.abort();
    }
}

pub struct Watcher {
    _connection: Connection,
    frames: mpsc::UnboundedReceiver<(Instant, u64)>,
    reading: AbortHandle,
}

impl Watcher {
    /// Subscribes to a broadcast until dropped, and again whenever the subscription ends.
    pub async fn start(url: url::Url, hashes: &[String], name: &str) -> Self {
        let origin = moq_tokio::origin::spawn();
        let connection = client(&url, hashes, false).with_subscriber(origin.clone()).connect(url);
        let connection = tokio::time::timeout(TIMEOUT, connection.established())
            .await
            .expect("the session was not established in time")
            .unwrap();
        let (seen, frames) = mpsc::unbounded_channel();
        let name = name.to_owned();
        let reading = tokio::spawn(async move {
            let origin = origin.consume().with_hidden(true);
            loop {
                let _ = read(&origin, &name, &seen).await;
                tokio::time::sleep(PACE).await;
            }
        });
        Self { _connection: connection, frames, reading: reading.abort_handle() }
    }

    /// Waits for `count` frames, each unchanged.
    pub async fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.next().await;
        }
    }

    async fn next(&mut self) -> (Instant, u64) {
        tokio::time::timeout(TIMEOUT, self.frames.recv()).await.expect("no frame arrives").unwrap()
    }

    /// Returns the longest time without a frame during the next `time`.
    pub async fn gap(&mut self, time: Duration) -> Duration {
        while self.frames.try_recv().is_ok() {}
        let begin = Instant::now();
        let (mut last, mut longest) = (begin, Duration::ZERO);
        while last - begin < time {
            let (at, _) = self.next().await;
            longest = longest.max(at.saturating_duration_since(last));
            last = at;
        }
        longest
    }

    /// Returns the time since the last received frame.
    pub fn silence(&mut self, since: Instant) -> Duration {
        let mut last = since;
        while let Ok((at, _)) = self.frames.try_recv() {
            last = at;
        }
        last.elapsed()
    }

    /// Reports whether no frame has arrived.
    pub fn received_nothing(&mut self) -> bool {
        self.frames.try_recv().is_err()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

type Seen = mpsc::UnboundedSender<(Instant, u64)>;

async fn read(origin: &moq_net::origin::Consumer, name: &str, seen: &Seen) -> Result<(), moq_net::Error> {
    let broadcast = origin.routed_broadcast(name).await?;
    let mut track = broadcast.track("video")?.subscribe(None).await?;
    while let Some(mut group) = track.recv_group().await? {
        while let Some(received) = group.read_frame().await? {
            let number = u64::from_be_bytes(received.payload[..8].try_into().unwrap());
            assert_eq!(received.payload, numbered(number));
            let _ = seen.send((Instant::now(), number));
        }
    }
    Ok(())
}

/// Dials once and publishes the broadcasts of `origin`.
pub fn publish(url: url::Url, hashes: &[String], origin: &moq_net::origin::Producer) -> Connection {
    client(&url, hashes, true).with_publisher(origin).connect(url)
}

/// The same with one version of MoQ.
pub fn publish_with(version: &str, url: url::Url, origin: &moq_net::origin::Producer) -> Connection {
    let _ = moq_tokio::crypto::install_default();
    let mut config = connect::Config::default();
    config.version = vec![version.parse().unwrap()];
    client_with(config, "0.0.0.0:0", &[], true).with_publisher(origin).connect(url)
}

/// Dials with one version of MoQ, and returns an origin with the broadcasts of the relay.
pub fn subscribe_with(version: &str, url: url::Url) -> (moq_net::origin::Producer, Connection) {
    let _ = moq_tokio::crypto::install_default();
    let mut config = connect::Config::default();
    config.version = vec![version.parse().unwrap()];
    let origin = moq_tokio::origin::spawn();
    let connection = client_with(config, "0.0.0.0:0", &[], true).with_subscriber(origin.clone()).connect(url);
    (origin, connection)
}

/// Dials, and returns an origin with the broadcasts of the relay.
pub fn subscribe(url: url::Url) -> (moq_net::origin::Producer, Connection) {
    let origin = moq_tokio::origin::spawn();
    let connection = client(&url, &[], true).with_subscriber(origin.clone()).connect(url);
    (origin, connection)
}
