//! The participants of the room: joined, connected to relays, publishing and watching.
use super::plan::{AUDIO, Plan, Shape};
use crate::media::dial::Dialer;
use crate::media::receiver::{Counts, Receiver};
use crate::media::source::Source;
use crate::media::tracks::{Tracks, WatchedTrack, publish, watch};
use anyhow::Context;
use hdrhistogram::Histogram;
use moq_tokio::Connection;
use parking_lot::Mutex;
use parley_cli::{BoxFuture, ConnectionEnd, JoinMode, RelayAddress, RoomClient};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// The time between two joins: the load measures relaying and not admission.
const JOIN_INTERVAL: Duration = Duration::from_millis(25);
/// The names and priorities of tracks that Parley's browsers use (MEDIA-14).
const CAMERA: &str = "camera/low";
const MICROPHONE: &str = "microphone";
const CAMERA_PRIORITY: u8 = 50;
const MICROPHONE_PRIORITY: u8 = 90;
/// The last part of the name of a participant's broadcast.
const INSTANCE: &str = "load";

/// One participant.
pub struct Participant {
    /// The address of its relay.
    pub relay: String,
    /// Its session with the relay.
    pub connection: Connection,
    /// The video that it received.
    pub video: Arc<Mutex<Receiver>>,
    /// The audio that it received.
    pub audio: Arc<Mutex<Receiver>>,
    client: RoomClient,
}

/// All participants of a run.
pub struct Participants {
    /// In the order in which they joined, which gives each its index.
    pub all: Vec<Participant>,
    /// Sessions and tracks that were lost before publishing ended.
    pub lost: u64,
    shape: Shape,
    tracks: Arc<Tracks>,
    dialers: BTreeMap<String, Dialer>,
    publishing: JoinSet<anyhow::Result<()>>,
    watching: JoinSet<Result<(), moq_net::Error>>,
}

/// What participants publish.
struct Content {
    video: Arc<Source>,
    audio: Arc<Source>,
    /// The name of each participant's broadcast.
    broadcasts: Vec<String>,
}

/// Tracks of one kind that a participant watches.
struct Subscriptions {
    /// Whose.
    participants: Vec<usize>,
    /// The name of the track in a broadcast.
    name: &'static str,
    priority: u8,
    /// The index in the run of a participant's track.
    index: fn(usize) -> usize,
}

impl Participants {
    /// Lets all participants join and begin, one after the other. The inner error: why one of them could not.
    pub fn join(plan: &Plan, video: Source) -> BoxFuture<'_, anyhow::Result<Result<Self, ConnectionEnd>>> {
        Box::pin(async move {
            let clients = match enter(plan).await? {
                Ok(clients) => clients,
                Err(end) => return Ok(Err(end)),
            };
            let name = |one: &RoomClient| format!("rooms/{}/{}/{INSTANCE}", one.room, one.participant);
            let content = Content {
                video: Arc::new(video),
                audio: Arc::new(Source::audio(AUDIO)),
                broadcasts: clients.iter().map(name).collect(),
            };
            let mut participants = Self {
                all: Vec::new(),
                lost: 0,
                shape: plan.shape,
                tracks: Arc::new(Tracks::new(2 * plan.shape.participants, Duration::from_millis(plan.max_age))),
                dialers: BTreeMap::new(),
                publishing: JoinSet::new(),
                watching: JoinSet::new(),
            };
            let mut connecting = Vec::new();
            for (index, client) in clients.into_iter().enumerate() {
                let address = match client.relay_requester().request(None).await {
                    Ok(address) => address,
                    Err(end) => return Ok(Err(end)),
                };
                connecting.push(participants.connect(plan, &content, index, client, address)?);
                sleep(JOIN_INTERVAL).await;
            }
            for participant in connecting {
                participants.all.push(participant.await?);
            }
            Ok(Ok(participants))
        })
    }

    /// Connects a participant with its relay, and starts what it publishes and watches.
    fn connect(
        &mut self,
        plan: &Plan,
        content: &Content,
        own: usize,
        client: RoomClient,
        address: RelayAddress,
    ) -> anyhow::Result<BoxFuture<'static, anyhow::Result<Participant>>> {
        let (publishes, subscribes) = (moq_tokio::origin::spawn(), moq_tokio::origin::spawn());
        self.publish(content, own, &publishes)?;
        let video = Subscriptions {
            participants: self.shape.watched_cameras(own),
            name: CAMERA,
            priority: CAMERA_PRIORITY,
            index: camera,
        };
        let audio = Subscriptions {
            participants: self.shape.watched_microphones(own),
            name: MICROPHONE,
            priority: MICROPHONE_PRIORITY,
            index: microphone,
        };
        let freeze = plan.freeze.saturating_mul(1_000_000);
        let video = self.watch(&video, content, &subscribes, freeze)?;
        let audio = self.watch(&audio, content, &subscribes, freeze)?;
        let url = address.quic.context("the relay has no address for QUIC")?;
        let relay = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
        let dialer = self.dialers.entry(relay.clone());
        let dialer = dialer.or_insert_with(|| Dialer::new(&address.hashes, plan.connect.clone()));
        let opening = tokio::spawn(dialer.dial(url, Some(&publishes), Some(subscribes))?);
        Ok(Box::pin(async move {
            let connection = opening.await.context("a session was not opened")??;
            Ok(Participant { relay, connection, video, audio, client })
        }))
    }

    /// Publishes the video of a participant, and its audio where it is a speaker.
    fn publish(&mut self, content: &Content, own: usize, origin: &moq_net::origin::Producer) -> anyhow::Result<()> {
        let broadcast = origin.create_broadcast(content.broadcasts[own].as_str())?;
        let mut published = vec![(CAMERA, camera(own), content.video.clone())];
        if own < self.shape.speakers {
            published.push((MICROPHONE, microphone(own), content.audio.clone()));
        }
        let mut tracks = Vec::new();
        for (name, index, source) in published {
            tracks.push((broadcast.create_track(name, None)?, index, source));
        }
        broadcast.announce(moq_net::origin::Route::default())?;
        let broadcast = Arc::new((origin.clone(), broadcast));
        let (position, count) = (u32::try_from(own)?, u32::try_from(self.shape.participants)?);
        for (track, index, source) in tracks {
            // No relay in production receives the key frames of all participants at the same moment.
            let begin = Instant::now() + source.group() * position / count;
            let (tracks, alive) = (self.tracks.clone(), broadcast.clone());
            self.publishing.spawn(async move {
                let _alive = alive;
                publish(&tracks, &source, index, &track, begin).await
            });
        }
        Ok(())
    }

    /// Watches tracks of other participants. Returns the receiver of all of them.
    fn watch(
        &mut self,
        subscriptions: &Subscriptions,
        content: &Content,
        origin: &moq_net::origin::Producer,
        freeze: u64,
    ) -> anyhow::Result<Arc<Mutex<Receiver>>> {
        let Subscriptions { participants, name, priority, index } = subscriptions;
        let indexes: Vec<_> = participants.iter().map(|one| index(*one)).collect();
        let receiver = Arc::new(Mutex::new(Receiver::new(&indexes, freeze)?));
        for (position, participant) in participants.iter().enumerate() {
            let broadcast = content.broadcasts[*participant].clone();
            let watched = WatchedTrack { broadcast, name, index: index(*participant), priority: *priority };
            let (tracks, origin, receiver) = (self.tracks.clone(), origin.consume(), receiver.clone());
            let read = async move { watch(&tracks, &origin, &watched, &receiver, position, Duration::ZERO).await };
            self.watching.spawn(read);
        }
        Ok(receiver)
    }

    /// Whether each participant has received a frame of each track that it watches.
    pub fn all_receive(&self) -> bool {
        self.all.iter().all(Participant::receives_all)
    }

    /// Restarts the measurement of loss, delay and freezes.
    pub fn start_measurement(&self) {
        for receiver in self.receivers() {
            receiver.lock().restart(|track| self.tracks.made(track));
        }
    }

    /// What all participants together received.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.receivers().for_each(|receiver| counts += receiver.lock().counts);
        counts
    }

    /// The delay from making to arrival, in nanoseconds.
    pub fn delay(&self) -> anyhow::Result<Histogram<u64>> {
        let mut all = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)?;
        for receiver in self.receivers() {
            all.add(receiver.lock().delays(|_| true)?.histogram())?;
        }
        Ok(all)
    }

    /// How many frames a receiver should have, and how many of them did not arrive.
    pub fn expected(&self, receiver: &Mutex<Receiver>) -> (u64, u64) {
        let receiver = receiver.lock();
        (receiver.expected(|track| self.tracks.made(track)), receiver.missing(|track| self.tracks.made(track)))
    }

    /// Ends publishing, and waits until all participants have received all frames, at most `timeout`.
    pub async fn finish(&mut self, timeout: Duration) {
        self.lost = self.all.iter().filter(|participant| !participant.connection.connected()).count() as u64;
        while self.watching.try_join_next().is_some() || self.publishing.try_join_next().is_some() {
            self.lost += 1;
        }
        let now = self.tracks.now();
        self.receivers().for_each(|receiver| receiver.lock().finish(now));
        self.tracks.end();
        let all = async { while self.watching.join_next().await.is_some() {} };
        let _timed_out = tokio::time::timeout(timeout, all).await;
    }

    /// Lets all participants leave, and closes their sessions.
    pub async fn leave(self) {
        drop((self.publishing, self.watching));
        let mut leaving = JoinSet::new();
        for participant in self.all {
            leaving.spawn(participant.client.leave());
        }
        while leaving.join_next().await.is_some() {}
        for dialer in self.dialers.into_values() {
            dialer.close().await;
        }
    }

    fn receivers(&self) -> impl Iterator<Item = &Arc<Mutex<Receiver>>> {
        self.all.iter().flat_map(|participant| [&participant.video, &participant.audio])
    }
}

impl Participant {
    /// Whether it has received a frame of each track that it watches.
    pub fn receives_all(&self) -> bool {
        [&self.video, &self.audio].iter().all(|receiver| receiver.lock().all_tracks_at().is_some())
    }
}

/// Joins the room with all participants. The inner error: why one of them could not join.
async fn enter(plan: &Plan) -> anyhow::Result<Result<Vec<RoomClient>, ConnectionEnd>> {
    let mut joining = Vec::new();
    for index in 0..plan.shape.participants {
        let (room, connect, name) = (plan.room.clone(), plan.connect.clone(), format!("load {}", index + 1));
        joining.push(tokio::spawn(async move {
            RoomClient::join(&name, &room, true, JoinMode::Participant, &connect).await
        }));
        sleep(JOIN_INTERVAL).await;
    }
    let mut clients = Vec::new();
    for joined in joining {
        match joined.await? {
            Ok(client) => clients.push(client),
            Err(end) => return Ok(Err(end)),
        }
    }
    Ok(Ok(clients))
}

/// The index in the run of a participant's video track.
const fn camera(participant: usize) -> usize {
    2 * participant
}

/// The index in the run of a participant's audio track.
const fn microphone(participant: usize) -> usize {
    2 * participant + 1
}
