//! The clients of a load: sessions that publish, watch, or both.
use super::dial::Dialer;
use super::path::Paths;
use super::plan::{Plan, Role, place_of, without_token};
use super::receiver::{Counts, Receiver};
use super::source::Source;
use super::tracks::{Tracks, WatchedTrack, publish, watch};
use anyhow::Context;
use hdrhistogram::Histogram;
use moq_tokio::Connection;
use parking_lot::Mutex;
use parley_cli::{BoxFuture, ConnectOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The one track of each broadcast.
const TRACK: &str = "media";
/// The time between the opening of two sessions: the load measures relaying and not handshakes.
const JOIN_INTERVAL: Duration = Duration::from_millis(10);

/// The pause of a slow watcher after each frame.
const SLOW_PAUSE: Duration = Duration::from_millis(100);

/// One client.
pub struct Client {
    /// What it publishes and watches, at which relay.
    pub role: Role,
    /// Its session.
    pub connection: Connection,
    /// What it received.
    pub receiver: Arc<Mutex<Receiver>>,
    /// When it was dialed, in nanoseconds of the run.
    dialed_at: u64,
}

/// All clients of a run.
pub struct Clients {
    /// In the order of `Plan::roles`.
    all: Vec<Client>,
    /// The beginning of the names of this run's broadcasts.
    run: String,
    tracks: Arc<Tracks>,
    /// What every publisher sends.
    source: Arc<Source>,
    dialer: Dialer,
    publishing: JoinSet<anyhow::Result<()>>,
    watching: JoinSet<Result<(), moq_net::Error>>,
    /// The slow watchers, which nothing waits for.
    lagging: JoinSet<Result<(), moq_net::Error>>,
    /// Ends, for each watcher, and sessions that were lost before publishing ended.
    pub lost: u64,
}

impl Clients {
    /// Opens all sessions. Publishers begin at once.
    pub async fn connect(plan: &Plan, source: Source) -> anyhow::Result<Self> {
        let broadcasts = plan.shape.broadcasts();
        let mut clients = Self {
            all: Vec::new(),
            run: format!("{}/{:x}", plan.endpoints.name, fastrand::u64(..)),
            tracks: Arc::new(Tracks::new(broadcasts, Duration::from_millis(plan.content.max_age))),
            source: Arc::new(source),
            dialer: Dialer::new(&plan.endpoints.hashes, ConnectOptions::default()),
            publishing: JoinSet::new(),
            watching: JoinSet::new(),
            lagging: JoinSet::new(),
            lost: 0,
        };
        let mut dialing = Vec::new();
        for role in plan.roles() {
            dialing.push(clients.dial(role, plan)?);
            tokio::time::sleep(JOIN_INTERVAL).await;
        }
        for client in dialing {
            clients.all.push(client.await?);
        }
        Ok(clients)
    }

    /// Dials for one client, and starts what it publishes and watches. The returned future ends once its session is open.
    fn dial(&mut self, role: Role, plan: &Plan) -> anyhow::Result<BoxFuture<'static, anyhow::Result<Client>>> {
        let (tracks, source, run) = (&self.tracks, &self.source, &self.run);
        let name = |broadcast| format!("{run}-{broadcast}");
        let dialed_at = tracks.now();
        let receiver = Receiver::new(&role.watches, plan.content.freeze.saturating_mul(1_000_000))?;
        let receiver = Arc::new(Mutex::new(receiver));
        let (mut publishes, mut subscribes) = (None, None);
        if let Some(broadcast) = role.publishes {
            let origin = publishes.insert(moq_tokio::origin::spawn());
            let producer = origin.create_broadcast(name(broadcast).as_str())?;
            let track = producer.create_track(TRACK, None)?;
            producer.announce(Default::default())?;
            // No relay in production receives the key frames of all publishers at the same moment.
            let broadcasts = u32::try_from(plan.shape.broadcasts())?;
            let begin = Instant::now() + source.group() * u32::try_from(broadcast)? / broadcasts;
            let (tracks, source, origin) = (tracks.clone(), source.clone(), origin.clone());
            self.publishing.spawn(async move {
                let _alive = (origin, producer);
                publish(&tracks, &source, broadcast, &track, begin).await
            });
        }
        if !role.watches.is_empty() {
            let origin = subscribes.insert(moq_tokio::origin::spawn()).consume();
            for (position, broadcast) in role.watches.iter().enumerate() {
                let (tracks, origin, receiver) = (tracks.clone(), origin.clone(), receiver.clone());
                let watched = WatchedTrack { broadcast: name(*broadcast), name: TRACK, index: *broadcast, priority: 0 };
                let (all, pause) = match role.slow {
                    true => (&mut self.lagging, SLOW_PAUSE),
                    false => (&mut self.watching, Duration::ZERO),
                };
                all.spawn(async move { watch(&tracks, &origin, &watched, &receiver, position, pause).await });
            }
        }
        let opening = tokio::spawn(self.dialer.dial(role.relay.clone(), publishes.as_ref(), subscribes)?);
        Ok(Box::pin(async move {
            let connection = opening.await.context("a session was not opened")??;
            Ok(Client { role, connection, receiver, dialed_at })
        }))
    }

    /// Fails where a session ended: a relay checks a token after the handshake (MED-13).
    pub async fn check_connected(&self) -> anyhow::Result<()> {
        for Client { connection, role, .. } in self.all.iter().filter(|client| !client.connection.connected()) {
            let relay = without_token(&role.relay);
            connection.closed().await.with_context(|| format!("{relay} ended a session"))?;
        }
        Ok(())
    }

    /// Whether every watcher has received a frame of each broadcast that it watches.
    pub fn all_receive(&self) -> bool {
        self.watchers().all(|client| client.receiver.lock().first_frame_at().is_some())
    }

    /// The sessions, in the order of `Plan::roles`.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.all.iter().map(|client| &client.connection)
    }

    /// The clients that watch.
    pub fn watchers(&self) -> impl Iterator<Item = &Client> {
        self.all.iter().filter(|client| !client.role.watches.is_empty())
    }

    /// The time from dialing, or from the begin of the first of its broadcasts where that is later, to the first frame, in nanoseconds.
    pub fn first_frame(&self, client: &Client) -> Option<u64> {
        let published = client.role.watches.iter().map(|track| self.tracks.began(*track)).min()?;
        Some(client.receiver.lock().first_frame_at()?.saturating_sub(published.max(client.dialed_at)))
    }

    /// How many frames were made.
    pub fn sent(&self) -> u64 {
        self.tracks.total_made()
    }

    /// What all watchers together received.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.watchers().for_each(|client| counts += client.receiver.lock().counts);
        counts
    }

    /// How many frames a client should have received, and how many of them did not arrive.
    pub fn expected(&self, client: &Client) -> (u64, u64) {
        let receiver = client.receiver.lock();
        (receiver.expected(|track| self.tracks.made(track)), receiver.missing(|track| self.tracks.made(track)))
    }

    /// Restarts the measurement of latency.
    pub fn start_measurement(&self) {
        self.watchers().for_each(|client| client.receiver.lock().restart_delays());
    }

    /// The watchers that are not slow.
    fn prompt(&self) -> impl Iterator<Item = &Client> {
        self.watchers().filter(|client| !client.role.slow)
    }

    /// The latency of all watchers that are not slow since `start_measurement`, in nanoseconds.
    pub fn latency(&self) -> anyhow::Result<Histogram<u64>> {
        let mut all = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
        for client in self.prompt() {
            all.add(client.receiver.lock().delays(|_| true)?.histogram())?;
        }
        Ok(all)
    }

    /// The same by the places of publishers and watchers.
    pub fn paths(&self) -> anyhow::Result<Paths<'_>> {
        let mut publishers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for role in self.all.iter().map(|client| &client.role) {
            publishers.entry(place_of(&role.relay)).or_default().extend(role.publishes);
        }
        let mut paths = Paths::default();
        for client in self.prompt() {
            let receiver = client.receiver.lock();
            for (from, broadcasts) in &publishers {
                let delays = receiver.delays(|broadcast| broadcasts.contains(&broadcast))?;
                paths.add(from, place_of(&client.role.relay), &delays)?;
            }
        }
        Ok(paths)
    }

    /// Ends publishing, and waits until the watchers have received all frames, at most `timeout`.
    pub async fn finish(&mut self, timeout: Duration) {
        self.lost = self.ended_early();
        let now = self.tracks.now();
        self.watchers().for_each(|client| client.receiver.lock().finish(now));
        self.tracks.end();
        let all = async { while self.watching.join_next().await.is_some() {} };
        let _timed_out = tokio::time::timeout(timeout, all).await;
    }

    /// How many broadcasts and sessions ended before publishing did.
    fn ended_early(&mut self) -> u64 {
        let mut lost = self.all.iter().filter(|client| !client.connection.connected()).count() as u64;
        while self.watching.try_join_next().is_some() || self.publishing.try_join_next().is_some() {
            lost += 1;
        }
        lost
    }

    /// Closes all sessions.
    pub async fn close(self) {
        drop((self.publishing, self.watching, self.lagging));
        drop(self.all);
        self.dialer.close().await;
    }
}
