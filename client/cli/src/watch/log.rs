//! Writes a JSON line about each frame.
use super::Output;
use super::frames::{Event, EventKind, Publication, follow};
use super::selection::{Change, Selection};
use moq_net::origin::Consumer;
use serde::Serialize;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// How long after the start, and how often from then on, the command says what it waits for.
const FIRST_NOTICE: Duration = Duration::from_secs(1);
const NOTICE_INTERVAL: Duration = Duration::from_secs(60);
/// The capacity of the channel of frames. When it is full, frames wait at the relay.
const CAPACITY: usize = 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    /// The time of arrival in milliseconds since 1970.
    time_ms: f64,
    broadcast: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    participant: Option<&'a str>,
    track: &'a str,
    group: u64,
    object: u64,
    /// The time on the publisher's clock in milliseconds.
    timestamp_ms: f64,
    bytes: usize,
}

/// Writes until the only selected broadcast ends, or the output is closed.
pub async fn write(
    origin: Consumer,
    selection: Selection,
    mut is_up: watch::Receiver<bool>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let (events, mut received) = mpsc::channel(CAPACITY);
    let mut announced = origin.announced();
    let mut watched = HashSet::new();
    let mut tasks = JoinSet::new();
    let mut notice = pin!(sleep(FIRST_NOTICE));
    loop {
        tokio::select! {
            biased;
            Some(event) = received.recv() => {
                let mut whole = Vec::new();
                append(&mut whole, &event)?;
                while let Ok(more) = received.try_recv() {
                    append(&mut whole, &more)?;
                }
                output.write(&whole).await?;
            }
            Some(ended) = tasks.join_next() => {
                let (broadcast, ended) = ended?;
                watched.remove(&broadcast);
                if ended && matches!(selection, Selection::One(_)) && !selection.returns(&origin, &mut is_up).await {
                    return Ok(());
                }
            }
            change = selection.next(&mut announced) => {
                let Some(Change { broadcast, participant, present }) = change else { return Ok(()) };
                if present && watched.insert(broadcast.clone()) {
                    let mute = selection.mute(&broadcast);
                    let publication = Arc::new(Publication { broadcast: broadcast.clone(), participant });
                    let following = follow(origin.clone(), publication, mute, <[_]>::to_vec, events.clone());
                    tasks.spawn(async move { (broadcast, following.await) });
                }
            }
            () = &mut notice, if watched.is_empty() => {
                eprintln!("parley: {}: waiting", selection.describe());
                notice.as_mut().reset(Instant::now() + NOTICE_INTERVAL);
            }
        }
    }
}

/// Appends a line if the event is a frame.
fn append(out: &mut Vec<u8>, Event { publication, track, kind }: &Event) -> anyhow::Result<()> {
    let EventKind::Frame { group, object, timestamp, bytes, arrived_at } = *kind else { return Ok(()) };
    let arrived = SystemTime::now() - arrived_at.elapsed();
    let line = Line {
        time_ms: millis(arrived.duration_since(UNIX_EPOCH).unwrap_or_default()),
        broadcast: &publication.broadcast,
        participant: publication.participant.as_deref(),
        track,
        group,
        object,
        timestamp_ms: millis(timestamp),
        bytes,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.push(b'\n');
    Ok(())
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
