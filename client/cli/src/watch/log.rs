//! A line of JSON about each frame.
use super::Output;
use super::frames::{Event, What, Whose, follow};
use super::wanted::{Change, Wanted};
use moq_net::origin::Consumer;
use serde::Serialize;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// After which whoever waits is told why, and then now and then.
const SILENCE: Duration = Duration::from_secs(1);
const SAID_AGAIN: Duration = Duration::from_secs(60);
/// Frames that wait to be written; more wait with the relay.
const WAITING: usize = 1024;

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

/// Writes until the one broadcast that is watched has ended, or nobody reads.
pub async fn write(
    origin: Consumer,
    wanted: Wanted,
    mut is_up: watch::Receiver<bool>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let (events, mut heard) = mpsc::channel(WAITING);
    let mut announced = origin.announced();
    let mut watched = HashSet::new();
    let mut tasks = JoinSet::new();
    let mut silence = pin!(sleep(SILENCE));
    loop {
        tokio::select! {
            biased;
            Some(event) = heard.recv() => {
                let mut whole = Vec::new();
                append(&mut whole, &event)?;
                while let Ok(more) = heard.try_recv() {
                    append(&mut whole, &more)?;
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
                    let whose = Arc::new(Whose { broadcast: broadcast.clone(), participant });
                    let following = follow(origin.clone(), whose, <[_]>::to_vec, events.clone());
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

/// A line, where it is about a frame.
fn append(out: &mut Vec<u8>, Event { whose, track, what }: &Event) -> anyhow::Result<()> {
    let What::Frame { group, object, timestamp, bytes, at } = *what else { return Ok(()) };
    let arrived = SystemTime::now() - at.elapsed();
    let line = Line {
        time_ms: millis(arrived.duration_since(UNIX_EPOCH).unwrap_or_default()),
        broadcast: &whose.broadcast,
        participant: whose.participant.as_deref(),
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
