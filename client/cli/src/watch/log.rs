//! A line of JSON about each frame.
use super::Output;
use super::wanted::{Change, MOVING, Wanted};
use moq_net::origin::Consumer;
use moq_net::track::Subscription;
use moq_net::{broadcast, group, track};
use parley_containers::tracks::Tracks;
use serde::Serialize;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// How long a group is waited for before it is left out.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at a broadcast that cannot be read.
const AGAIN: Duration = Duration::from_millis(250);
/// After which whoever waits is told why, and then now and then.
const SILENCE: Duration = Duration::from_secs(1);
const SAID_AGAIN: Duration = Duration::from_secs(60);
/// Lines that wait to be written; more frames wait with the relay.
const LINES: usize = 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    /// Milliseconds since 1970 at its arrival.
    time_ms: f64,
    broadcast: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    participant: Option<&'a str>,
    track: &'a str,
    group: u64,
    object: u64,
    /// Milliseconds on the publisher's clock.
    timestamp_ms: f64,
    bytes: usize,
}

/// Whose frame it is.
struct Origin {
    broadcast: String,
    participant: Option<String>,
}

/// Writes until the one broadcast that is watched has ended, or nobody reads.
pub async fn write(
    origin: Consumer,
    wanted: Wanted,
    mut is_up: watch::Receiver<bool>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let (lines, mut written) = mpsc::channel(LINES);
    let mut announced = origin.announced();
    let mut watched = HashSet::new();
    let mut tasks = JoinSet::new();
    let mut silence = pin!(sleep(SILENCE));
    loop {
        tokio::select! {
            biased;
            Some(line) = written.recv() => {
                let mut whole: Vec<u8> = line;
                while let Ok(more) = written.try_recv() {
                    whole.extend_from_slice(&more);
                }
                output.write(&whole).await?;
            }
            Some(ended) = tasks.join_next() => {
                let (broadcast, ended) = ended?;
                watched.remove(&broadcast);
                if ended && matches!(wanted, Wanted::One(_)) && !wanted.returns(&origin, &mut is_up).await {
                    return Ok(());
                }
            }
            change = wanted.next(&mut announced) => {
                let Some(Change { broadcast, participant, there }) = change else { return Ok(()) };
                if there && watched.insert(broadcast.clone()) {
                    let whose = Arc::new(Origin { broadcast: broadcast.clone(), participant });
                    let following = follow(origin.clone(), whose, lines.clone());
                    tasks.spawn(async move { (broadcast, following.await) });
                }
            }
            () = &mut silence, if watched.is_empty() => {
                eprintln!("parley: {}: waiting", wanted.describe());
                silence.as_mut().reset(Instant::now() + SAID_AGAIN);
            }
        }
    }
}

/// All frames of a broadcast; whether it came to its end, and was not only lost.
async fn follow(origin: Consumer, whose: Arc<Origin>, lines: mpsc::Sender<Vec<u8>>) -> bool {
    while let Ok(broadcast) = origin.routed_broadcast(whose.broadcast.as_str()).await {
        if read(&broadcast, &whose, &lines).await.is_ok() {
            let _it_stays_without_media = timeout(MOVING, broadcast.closed()).await;
            return true;
        }
        sleep(AGAIN).await;
    }
    false
}

/// The tracks of its catalog, as they appear.
async fn read(
    broadcast: &broadcast::Consumer,
    whose: &Arc<Origin>,
    lines: &mpsc::Sender<Vec<u8>>,
) -> anyhow::Result<()> {
    let mut listed = Tracks::open(broadcast).await?;
    let mut known = HashSet::new();
    let mut tracks = JoinSet::new();
    while let Some(names) = listed.read().await? {
        for name in names {
            if known.insert(name.clone()) {
                let subscription = Subscription::default().with_max_age(PATIENCE);
                let track = broadcast.track(&name)?.subscribe(subscription).await?;
                tracks.spawn(frames(track, whose.clone(), lines.clone()));
            }
        }
    }
    while tracks.join_next().await.is_some() {}
    Ok(())
}

/// All groups of a track, each as it comes: a late one holds up no other.
async fn frames(mut track: track::Subscriber, whose: Arc<Origin>, lines: mpsc::Sender<Vec<u8>>) {
    let name: Arc<str> = track.name().into();
    let mut groups = JoinSet::new();
    while let Ok(Some(group)) = track.recv_group().await {
        groups.spawn(objects(group, name.clone(), whose.clone(), lines.clone()));
        while groups.try_join_next().is_some() {}
    }
    while groups.join_next().await.is_some() {}
}

async fn objects(mut group: group::Consumer, track: Arc<str>, whose: Arc<Origin>, lines: mpsc::Sender<Vec<u8>>) {
    loop {
        let object = group.index();
        let Ok(Some(frame)) = group.read_frame().await else { return };
        let line = Line {
            time_ms: millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
            broadcast: &whose.broadcast,
            participant: whose.participant.as_deref(),
            track: &track,
            group: group.sequence,
            object,
            timestamp_ms: millis(frame.timestamp.into()),
            bytes: frame.payload.len(),
        };
        let Ok(mut line) = serde_json::to_vec(&line) else { return };
        line.push(b'\n');
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
