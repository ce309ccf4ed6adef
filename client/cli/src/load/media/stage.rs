//! Publishing and watching, and what all who do so know.
use super::book::Book;
use super::source::Source;
use crate::load::payload::{HEADER, Stamp, seal};
use moq_net::track::{self, Subscription};
use moq_net::{Timestamp, frame, origin};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The one track of each broadcast.
pub const TRACK: &str = "media";
/// Frames that are read at once where more than one is there.
const READ: usize = 8;

/// What all of them know.
pub struct Stage {
    /// What the names of this run's broadcasts begin with.
    pub run: String,
    /// When the clock of stamps began.
    pub epoch: Instant,
    /// What every publisher sends.
    pub source: Source,
    /// How much older than the newest group one may get.
    pub max_age: Duration,
    /// Frames made so far, by broadcast.
    pub made: Vec<AtomicU64>,
    /// When each broadcast began, in nanoseconds since `epoch`; 0: not yet.
    pub began: Vec<AtomicU64>,
    /// Publishers have ended.
    pub ended: watch::Sender<bool>,
}

impl Stage {
    /// Nanoseconds since `epoch`.
    pub fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Of a broadcast.
    pub fn name(&self, broadcast: usize) -> String {
        format!("{}-{broadcast}", self.run)
    }

    /// Frames of a broadcast made so far.
    pub fn made(&self, broadcast: usize) -> u64 {
        self.made[broadcast].load(Ordering::Relaxed)
    }
}

/// Sends the source again and again, each frame when it is due, until it is told to end.
pub async fn publish(stage: &Stage, broadcast: usize, track: &track::Producer, begin: Instant) -> anyhow::Result<()> {
    let mut ended = stage.ended.subscribe();
    let topic = u32::try_from(broadcast)?;
    let Source { frames, length } = &stage.source;
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
            let sequence = stage.made[broadcast].fetch_add(1, Ordering::Relaxed);
            if sequence == 0 {
                stage.began[broadcast].store(time, Ordering::Relaxed);
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

/// Reads one broadcast to its end.
pub async fn watch(
    stage: &Stage,
    origin: &origin::Consumer,
    broadcast: usize,
    book: &Mutex<Book>,
    page: usize,
) -> Result<(), moq_net::Error> {
    let found = origin.routed_broadcast(stage.name(broadcast).as_str()).await?;
    let wanted = Subscription::default().with_max_age(stage.max_age);
    let mut track = found.track(TRACK)?.subscribe(wanted).await?.ordered();
    let mut frames = frame::Buffer::<READ>::new();
    while let Some(mut group) = track.next_group().await? {
        book.lock().group(page, group.sequence);
        loop {
            match group.read_frames(&mut frames).await {
                Ok([]) => break,
                Ok(frames) => {
                    let (now, made) = (stage.now(), stage.made(broadcast));
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
