//! Publishing and watching the tracks of a run, and the state that publishers and watchers share.
use super::receiver::Receiver;
use super::source::Source;
use crate::payload::{HEADER_BYTES, Stamp, encode};
use moq_net::track::{self, Subscription};
use moq_net::{Timestamp, frame, origin};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// How many available frames one read returns at most.
const FRAMES_PER_READ: usize = 8;

/// The state of all tracks of a run.
pub struct Tracks {
    /// The beginning of the clock of stamps.
    epoch: Instant,
    /// How much older than the newest group a group may become before its rest is skipped.
    max_age: Duration,
    /// How many frames of each track were made.
    made: Vec<AtomicU64>,
    /// When each track began, in nanoseconds since `epoch`. 0: it has not begun.
    began: Vec<AtomicU64>,
    /// Whether publishers have to end.
    ended: watch::Sender<bool>,
}

/// A track that a client watches.
pub struct WatchedTrack {
    /// The name of its broadcast.
    pub broadcast: String,
    /// Its name in the broadcast.
    pub name: &'static str,
    /// Its index in the run.
    pub index: usize,
    /// Its priority: under congestion the relay prefers tracks of higher priority.
    pub priority: u8,
}

impl Tracks {
    /// For so many tracks.
    pub fn new(count: usize, max_age: Duration) -> Self {
        let zeros = || std::iter::repeat_with(AtomicU64::default).take(count).collect();
        Self { epoch: Instant::now(), max_age, made: zeros(), began: zeros(), ended: watch::Sender::new(false) }
    }

    /// Nanoseconds since the beginning of the run.
    pub fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// How many frames of a track were made.
    pub fn made(&self, track: usize) -> u64 {
        self.made[track].load(Ordering::Relaxed)
    }

    /// How many frames of all tracks were made.
    pub fn total_made(&self) -> u64 {
        (0..self.made.len()).map(|track| self.made(track)).sum()
    }

    /// When a track began, in nanoseconds since the beginning of the run. 0: it has not begun.
    pub fn began(&self, track: usize) -> u64 {
        self.began[track].load(Ordering::Relaxed)
    }

    /// Ends publishing.
    pub fn end(&self) {
        self.ended.send_replace(true);
    }
}

/// Publishes a source to a track repeatedly, each frame when it is due, until publishing ends.
pub async fn publish(
    tracks: &Tracks,
    source: &Source,
    index: usize,
    track: &track::Producer,
    begin: Instant,
) -> anyhow::Result<()> {
    let mut ended = tracks.ended.subscribe();
    let topic = u32::try_from(index)?;
    let Source { frames, length } = source;
    let mut group = None;
    let mut round = begin;
    'publishing: loop {
        for frame in frames {
            tokio::select! {
                biased;
                _ = ended.wait_for(|ended| *ended) => break 'publishing,
                () = sleep_until(round + frame.at) => {}
            }
            if frame.key
                && let Some(previous) = group.replace(track.append_group()?)
            {
                previous.finish()?;
            }
            let Some(group) = &mut group else { continue };
            let time = tracks.now();
            let sequence = tracks.made[index].fetch_add(1, Ordering::Relaxed);
            if sequence == 0 {
                tracks.began[index].store(time, Ordering::Relaxed);
            }
            let mut message = Vec::with_capacity(HEADER_BYTES + frame.body.len());
            encode(&mut message, &Stamp { topic, sequence, time }, &frame.body);
            group.write_frame(Timestamp::now(), message)?;
        }
        round += *length;
    }
    if let Some(group) = group {
        group.finish()?;
    }
    track.finish()?;
    // The track must exist until all of its watchers have received all frames.
    std::future::pending().await
}

/// Reads one track to its end, with a `pause` after each frame. `position`: the index of the track in the receiver.
pub async fn watch(
    tracks: &Tracks,
    origin: &origin::Consumer,
    watched: &WatchedTrack,
    receiver: &Mutex<Receiver>,
    position: usize,
    pause: Duration,
) -> Result<(), moq_net::Error> {
    let WatchedTrack { broadcast, name, index, priority } = watched;
    let broadcast = origin.routed_broadcast(broadcast.as_str()).await?;
    let subscription = Subscription::default().with_max_age(tracks.max_age).with_priority(*priority);
    let mut track = broadcast.track(name)?.subscribe(subscription).await?.ordered();
    let mut frames = frame::Buffer::<FRAMES_PER_READ>::new();
    while let Some(mut group) = track.next_group().await? {
        receiver.lock().record_group(position, group.sequence);
        loop {
            match group.read_frames(&mut frames).await {
                Ok([]) => break,
                Ok(frames) => {
                    record(tracks, receiver, frames, (position, *index));
                    if !pause.is_zero() {
                        sleep(pause * u32::try_from(frames.len()).unwrap_or(1)).await;
                    }
                }
                Err(_) => {
                    receiver.lock().record_skipped_group();
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Records frames of a track, which are there now. `at`: its index in the receiver, and in the run.
fn record(tracks: &Tracks, receiver: &Mutex<Receiver>, frames: &[frame::Frame], at: (usize, usize)) {
    let (now, made) = (tracks.now(), tracks.made(at.1));
    let mut receiver = receiver.lock();
    frames.iter().for_each(|frame| receiver.record_frame(at.0, &frame.payload, made, now));
}
