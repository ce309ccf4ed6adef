//! Receives the frames of a broadcast's tracks, and reconnects to a broadcast that is lost.
use super::selection::MOVE_TIMEOUT;
use super::withdrawal::Arrivals;
use crate::room::Mute;
use moq_net::origin::Consumer;
use moq_net::track::Subscription;
use moq_net::{broadcast, group, track};
use parley_containers::tracks::{Track, Tracks};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

/// How long a late group is waited for.
const MAX_GROUP_AGE: Duration = Duration::from_secs(2);
/// The pause before a broadcast or track that cannot be read is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The origin of a frame.
pub struct Publication {
    /// The name of the broadcast.
    pub broadcast: String,
    /// The participant that publishes it, in a room.
    pub participant: Option<String>,
}

/// An event of a track.
pub struct Event {
    /// The broadcast.
    pub publication: Arc<Publication>,
    /// The name of the track.
    pub track: Arc<str>,
    /// EventKind happened.
    pub kind: EventKind,
}

/// EventKind happened on a track.
pub enum EventKind {
    /// The track is subscribed to.
    Begun {
        /// Whether it is a video track.
        video: bool,
    },
    /// A group with this number begins. Its frames follow.
    Group(u64),
    /// A frame arrived.
    Frame {
        /// The number of its group.
        group: u64,
        /// Its number in the group.
        object: u64,
        /// Its time on the publisher's clock.
        timestamp: Duration,
        /// The size of its payload.
        bytes: usize,
        /// When it arrived.
        arrived_at: Instant,
    },
    /// The rest of a group will not arrive.
    Incomplete,
    /// The track ended, or is not selected any more.
    Ended,
}

/// Selects the tracks of a broadcast to receive.
pub type Select = fn(&[Track]) -> Vec<Track>;

/// Where events are sent, and the broadcast that they are about.
#[derive(Clone)]
struct EventSink {
    publication: Arc<Publication>,
    arrivals: Arc<Arrivals>,
    events: mpsc::Sender<Event>,
}

/// Receives a broadcast, without its sounds while its publisher is muted. Returns whether it ended, rather than being lost. May be cancelled.
pub async fn follow(
    origin: Consumer,
    publication: Arc<Publication>,
    mut mute: Mute,
    select: Select,
    events: mpsc::Sender<Event>,
) -> bool {
    let sink = EventSink { publication, arrivals: Arc::default(), events };
    while let Ok(broadcast) = origin.routed_broadcast(sink.publication.broadcast.as_str()).await {
        if receive(&broadcast, &mut mute, select, &sink).await.is_ok() {
            let _still_announced = timeout(MOVE_TIMEOUT, broadcast.closed()).await;
            return true;
        }
        sleep(RETRY_INTERVAL).await;
    }
    false
}

/// Receives the selected tracks of a catalog, which may change. Fails if the broadcast is withdrawn before it ends.
async fn receive(
    broadcast: &broadcast::Consumer,
    mute: &mut Mute,
    select: Select,
    sink: &EventSink,
) -> anyhow::Result<()> {
    let mut withdrawn = pin!(sink.arrivals.withdrawn(broadcast));
    let mut listed = tokio::select! {
        opened = Tracks::open(broadcast) => opened?,
        why = &mut withdrawn => return Err(why),
    };
    let mut running = HashMap::<String, AbortHandle>::new();
    let mut tracks = JoinSet::new();
    let mut listed_now = Vec::new();
    let ended = loop {
        tokio::select! {
            found = listed.read() => match found {
                Ok(Some(found)) => listed_now = found,
                Ok(None) => break Ok(()),
                Err(why) => break Err(why),
            },
            () = mute.changed() => {}
            Some(ended) = tracks.join_next() => {
                if let Ok(name) = ended {
                    running.remove::<String>(&name);
                    sink.send(&name.into(), EventKind::Ended).await;
                }
                continue;
            }
            why = &mut withdrawn => break Err(why),
        }
        let mut selected = select(&listed_now);
        selected.retain(|track| track.pixels.is_some() || !mute.is_muted());
        let gone = |name: &String| !selected.iter().any(|track| track.name == *name);
        for (name, task) in running.extract_if(|name, _| gone(name)) {
            task.abort();
            sink.send(&name.into(), EventKind::Ended).await;
        }
        for Track { name, pixels } in selected {
            if let Entry::Vacant(one) = running.entry(name.clone()) {
                sink.send(&name.as_str().into(), EventKind::Begun { video: pixels.is_some() }).await;
                one.insert(tracks.spawn(frames(broadcast.clone(), name, sink.clone())));
            }
        }
    };
    if ended.is_ok() {
        tokio::select! {
            () = async { while tracks.join_next().await.is_some() {} } => {}
            _ = &mut withdrawn => {}
        }
    }
    for name in running.into_keys() {
        sink.send(&name.into(), EventKind::Ended).await;
    }
    ended
}

/// Receives a track until it or its broadcast ends. Returns its name.
async fn frames(broadcast: broadcast::Consumer, name: String, sink: EventSink) -> String {
    let shared: Arc<str> = name.as_str().into();
    loop {
        let subscription = Subscription::default().with_max_age(MAX_GROUP_AGE);
        let track = async { broadcast.track(&name)?.subscribe(subscription).await };
        if let Ok(track) = track.await
            && groups(track, &shared, &sink).await.is_ok()
        {
            return name;
        }
        // A track that is still listed will be published again, unless the broadcast ends.
        if timeout(RETRY_INTERVAL, broadcast.closed()).await.is_ok() {
            return name;
        }
    }
}

/// Receives the groups of a track concurrently: a late group delays no other.
async fn groups(mut track: track::Subscriber, name: &Arc<str>, sink: &EventSink) -> Result<(), moq_net::Error> {
    let mut groups = JoinSet::new();
    while let Some(group) = track.recv_group().await? {
        sink.send(name, EventKind::Group(group.sequence)).await;
        groups.spawn(objects(group, name.clone(), sink.clone()));
        while groups.try_join_next().is_some() {}
    }
    while groups.join_next().await.is_some() {}
    Ok(())
}

async fn objects(mut group: group::Consumer, track: Arc<str>, sink: EventSink) {
    loop {
        let object = group.index();
        let kind = match group.read_frame().await {
            Ok(Some(frame)) => EventKind::Frame {
                group: group.sequence,
                object,
                timestamp: frame.timestamp.into(),
                bytes: frame.payload.len(),
                arrived_at: Instant::now(),
            },
            Ok(None) => return,
            Err(_) => EventKind::Incomplete,
        };
        let ended = matches!(kind, EventKind::Incomplete);
        sink.arrivals.record();
        sink.send(&track, kind).await;
        if ended {
            return;
        }
    }
}

impl EventSink {
    async fn send(&self, track: &Arc<str>, kind: EventKind) {
        // The channel is closed only when the command ends.
        let _closed =
            self.events.send(Event { publication: self.publication.clone(), track: track.clone(), kind }).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moq_net::Timestamp;
    use moq_net::origin::{Producer, Route};

    const CATALOG: &str = r#"{"audio":{"renditions":{"audio":{"codec":"opus","container":{"kind":"legacy"},"sampleRate":48000,"numberOfChannels":1}}}}"#;

    /// A broadcast with a catalog and one frame of `bytes` bytes, which never ends.
    struct Silent {
        broadcast: broadcast::Producer,
        _tracks: [track::Producer; 2],
    }

    impl Silent {
        fn publish(origin: &Producer, bytes: usize) -> Self {
            let broadcast = origin.publish("room/p1/audio", Route::default()).unwrap();
            let contents = [("catalog.json", CATALOG.as_bytes().to_vec()), ("audio", vec![0; bytes])];
            let _tracks = contents.map(|(name, frame)| {
                let track = broadcast.create_track(name, None).unwrap();
                let mut group = track.append_group().unwrap();
                group.write_frame(Timestamp::ZERO, frame).unwrap();
                group.finish().unwrap();
                track
            });
            Self { broadcast, _tracks }
        }
    }

    #[tokio::test]
    async fn media_23_subscriptions_to_a_withdrawn_broadcast_end_and_it_is_received_again() {
        let origin = moq_tokio::origin::spawn();
        let publication = Arc::new(Publication { broadcast: "room/p1/audio".into(), participant: None });
        let (events, mut received) = mpsc::channel(16);
        let first = Silent::publish(&origin, 11);
        tokio::spawn(follow(origin.consume(), publication, Mute::never(), <[_]>::to_vec, events));
        let mut frame = async || loop {
            if let EventKind::Frame { bytes, .. } = received.recv().await.unwrap().kind {
                return bytes;
            }
        };
        assert_eq!(frame().await, 11);
        // Its tracks stay open.
        first.broadcast.close();
        let _second = Silent::publish(&origin, 22);
        assert_eq!(frame().await, 22);
    }
}
