//! The frames of a broadcast's tracks as they come, also after it was lost and is back.
use super::wanted::MOVING;
use moq_net::origin::Consumer;
use moq_net::track::Subscription;
use moq_net::{broadcast, group, track};
use parley_containers::tracks::{Track, Tracks};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

/// How long a group is waited for before it is left out.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at what cannot be read.
const AGAIN: Duration = Duration::from_millis(250);

/// Whose frame it is.
pub struct Whose {
    /// The broadcast's name.
    pub broadcast: String,
    /// In a room, of whom.
    pub participant: Option<String>,
}

/// Something came of a track.
pub struct Event {
    /// Of whom.
    pub whose: Arc<Whose>,
    /// The track's name.
    pub track: Arc<str>,
    /// What it was.
    pub what: What,
}

/// What came of a track.
pub enum What {
    /// It is subscribed to.
    Begun {
        /// And not a sound.
        picture: bool,
    },
    /// A group by its number. Its frames come with it.
    Group(u64),
    /// A frame.
    Frame {
        /// Its group.
        group: u64,
        /// Its place there.
        object: u64,
        /// On the publisher's clock.
        timestamp: Duration,
        /// Of its payload.
        bytes: usize,
        /// When it came.
        at: Instant,
    },
    /// The rest of a group will not come.
    Cut,
    /// Nothing more comes, or it is not wanted any more.
    Ended,
}

/// Which tracks of a broadcast are wanted.
pub type Choose = fn(&[Track]) -> Vec<Track>;

/// Where they come from and go to.
#[derive(Clone)]
struct Way {
    whose: Arc<Whose>,
    events: mpsc::Sender<Event>,
}

/// Everything that comes of a broadcast; whether it came to its end, and was not only lost. May be given up.
pub async fn follow(origin: Consumer, whose: Arc<Whose>, choose: Choose, events: mpsc::Sender<Event>) -> bool {
    let way = Way { whose, events };
    while let Ok(broadcast) = origin.routed_broadcast(way.whose.broadcast.as_str()).await {
        if read(&broadcast, choose, &way).await.is_ok() {
            let _it_stays_without_media = timeout(MOVING, broadcast.closed()).await;
            return true;
        }
        sleep(AGAIN).await;
    }
    false
}

/// The tracks of its catalog, as they appear and go.
async fn read(broadcast: &broadcast::Consumer, choose: Choose, way: &Way) -> anyhow::Result<()> {
    let mut listed = Tracks::open(broadcast).await?;
    let mut running = HashMap::<String, AbortHandle>::new();
    let mut tracks = JoinSet::new();
    let ended = loop {
        let listed_now = tokio::select! {
            found = listed.read() => match found {
                Ok(Some(found)) => found,
                Ok(None) => break Ok(()),
                Err(why) => break Err(why),
            },
            Some(ended) = tracks.join_next() => {
                if let Ok(name) = ended {
                    running.remove::<String>(&name);
                    way.tell(&name.into(), What::Ended).await;
                }
                continue;
            }
        };
        let wanted = choose(&listed_now);
        let gone = |name: &String| !wanted.iter().any(|track| track.name == *name);
        for (name, task) in running.extract_if(|name, _| gone(name)) {
            task.abort();
            way.tell(&name.into(), What::Ended).await;
        }
        for Track { name, pixels } in wanted {
            if let Entry::Vacant(one) = running.entry(name.clone()) {
                way.tell(&name.as_str().into(), What::Begun { picture: pixels.is_some() }).await;
                one.insert(tracks.spawn(frames(broadcast.clone(), name, way.clone())));
            }
        }
    };
    if ended.is_ok() {
        while tracks.join_next().await.is_some() {}
    }
    for name in running.into_keys() {
        way.tell(&name.into(), What::Ended).await;
    }
    ended
}

/// A track to its end, or its broadcast's; its name then.
async fn frames(broadcast: broadcast::Consumer, name: String, way: Way) -> String {
    let shared: Arc<str> = name.as_str().into();
    loop {
        let subscription = Subscription::default().with_max_age(PATIENCE);
        let track = async { broadcast.track(&name)?.subscribe(subscription).await };
        if let Ok(track) = track.await
            && groups(track, &shared, &way).await.is_ok()
        {
            return name;
        }
        // It is listed: somebody publishes it again, or the broadcast ends, and this with it.
        if timeout(AGAIN, broadcast.closed()).await.is_ok() {
            return name;
        }
    }
}

/// All groups of a track, each as it comes: a late one holds up no other.
async fn groups(mut track: track::Subscriber, name: &Arc<str>, way: &Way) -> Result<(), moq_net::Error> {
    let mut groups = JoinSet::new();
    while let Some(group) = track.recv_group().await? {
        way.tell(name, What::Group(group.sequence)).await;
        groups.spawn(objects(group, name.clone(), way.clone()));
        while groups.try_join_next().is_some() {}
    }
    while groups.join_next().await.is_some() {}
    Ok(())
}

async fn objects(mut group: group::Consumer, track: Arc<str>, way: Way) {
    loop {
        let object = group.index();
        let what = match group.read_frame().await {
            Ok(Some(frame)) => What::Frame {
                group: group.sequence,
                object,
                timestamp: frame.timestamp.into(),
                bytes: frame.payload.len(),
                at: Instant::now(),
            },
            Ok(None) => return,
            Err(_) => What::Cut,
        };
        let over = matches!(what, What::Cut);
        way.tell(&track, what).await;
        if over {
            return;
        }
    }
}

impl Way {
    async fn tell(&self, track: &Arc<str>, what: What) {
        // Nobody listens any more only where the command ends.
        let _ends = self.events.send(Event { whose: self.whose.clone(), track: track.clone(), what }).await;
    }
}
