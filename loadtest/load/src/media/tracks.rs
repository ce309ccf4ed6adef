//! Publishing and watching, and what all who do so know.
use super::receiver::Book;
use super::source::Source;
use crate::payload::{HEADER, Stamp, seal};
use moq_net::track::{self, Subscription};
use moq_net::{Timestamp, frame, origin};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Frames that are read at once where more than one is there.
const READ: usize = 8;

/// What all of them know.
pub struct Stage {
    /// When the clock of stamps began.
    pub epoch: Instant,
    /// How much older than the newest group one may get.
    pub max_age: Duration,
    /// Frames made so far, by track.
    pub made: Vec<AtomicU64>,
    /// When each track began, in nanoseconds since `epoch`; 0: not yet.
    pub began: Vec<AtomicU64>,
    /// Publishers have ended.
    pub ended: watch::Sender<bool>,
}

/// A track somebody watches.
pub struct Watched {
    /// Its broadcast.
    pub broadcast: String,
    /// Its name there.
    pub name: &'static str,
    /// Its index in the run.
    pub index: usize,
    /// Under congestion the relay keeps what matters most.
    pub priority: u8,
}

impl Stage {
    /// Of so many tracks.
    pub fn new(tracks: usize, max_age: Duration) -> Self {
        let zeros = || std::iter::repeat_with(AtomicU64::default).take(tracks).collect();
        Self { epoch: Instant::now(), max_age, made: zeros(), began: zeros(), ended: watch::Sender::new(false) }
    }

    /// Nanoseconds since `epoch`.
    pub fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Frames of a track made so far.
    pub fn made(&self, track: usize) -> u64 {
        self.made[track].load(Ordering::Relaxed)
    }
}

/// Sends a source again and again, each frame when it is due, until it is told to end.
pub async fn publish(
    stage: &Stage,
    source: &Source,
    index: usize,
    track: &track::Producer,
    begin: Instant,
) -> anyhow::Result<()> {
    let mut ended = stage.ended.subscribe();
    let topic = u32::try_from(index)?;
    let Source { frames, length } = source;
    let mut group = None;
    let mut round = begin;
    'sending: loop {
        for one in frames {
            tokio::select! {
                biased;
                _ = ended.wait_for(|ended| *ended) => break 'sending,
                () = sleep_until(round + one.at) => {}
            }
            if one.key
                && let Some(before) = group.replace(track.append_group()?)
            {
                before.finish()?;
            }
            let Some(group) = &mut group else { continue };
            let time = stage.now();
            let sequence = stage.made[index].fetch_add(1, Ordering::Relaxed);
            if sequence == 0 {
                stage.began[index].store(time, Ordering::Relaxed);
            }
            let mut message = Vec::with_capacity(HEADER + one.body.len());
            seal(&mut message, &Stamp { topic, sequence, time }, &one.body);
            group.write_frame(Timestamp::now(), message)?;
        }
        round += *length;
    }
    if let Some(group) = group {
        group.finish()?;
    }
    track.finish()?;
    // Its watchers ask for it until they have everything.
    std::future::pending().await
}

/// Reads one track to its end.
pub async fn watch(
    stage: &Stage,
    origin: &origin::Consumer,
    watched: &Watched,
    book: &Mutex<Book>,
    page: usize,
) -> Result<(), moq_net::Error> {
    let Watched { broadcast, name, index, priority } = watched;
    let found = origin.routed_broadcast(broadcast.as_str()).await?;
    let wanted = Subscription::default().with_max_age(stage.max_age).with_priority(*priority);
    let mut track = found.track(name)?.subscribe(wanted).await?.ordered();
    let mut frames = frame::Buffer::<READ>::new();
    while let Some(mut group) = track.next_group().await? {
        book.lock().group(page, group.sequence);
        loop {
            match group.read_frames(&mut frames).await {
                Ok([]) => break,
                Ok(frames) => {
                    let (now, made) = (stage.now(), stage.made(*index));
                    let mut book = book.lock();
                    frames.iter().for_each(|frame| book.frame(page, &frame.payload, made, now));
                }
                Err(_) => {
                    book.lock().counts.skipped_groups += 1;
                    break;
                }
            }
        }
    }
    Ok(())
}
