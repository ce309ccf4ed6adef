//! The fan-out: how the media of a track gets to its watchers (MED-70 to MED-75, ADR 37).
//!
//! MoQ's library serves publishers, links, and all requests but one: the subscriptions of clients to tracks, where a relay spends its time. They are
//! taken out of a session ([`divided`]) and decided on ([`serve`]). One reader for each track ([`track`]) reads a frame from the library once, and writes
//! the same bytes to the streams of all watchers ([`delivery`]). What the fan-out does not serve stays with the library.
use moq_net::{Error, Path, Patterns, broadcast, kio, origin};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::unconstrained;

use crate::server::Admission;
use crate::server::metrics::Meter;

mod delivery;
pub(crate) mod divided;
mod group;
mod pace;
mod ranks;
mod serve;
pub(crate) mod sounds;
mod streams;
mod track;
pub(crate) mod watcher;
mod wire;

pub(crate) use streams::Carrier;

use pace::Pace;
use track::{Command, Reader};
use watcher::{Event, Session, Watcher, together};
use wire::Subscribe;

/// The tracks of a relay that are read for watchers.
pub(crate) struct FanOut {
    origin: origin::Consumer,
    tracks: Mutex<HashMap<Name, Vec<Reading>>>,
    keys: AtomicU64,
    pace: Pace,
    /// Knows who is muted.
    admission: Arc<dyn Admission>,
}

/// The names of a broadcast and of a track.
type Name = (String, String);

/// A track that is read. Two broadcasts may have one name, after one took the place of the other.
struct Reading {
    number: u64,
    broadcast: broadcast::Consumer,
    since: Instant,
    /// How old the oldest group may have been with which it began.
    max_age: Duration,
    commands: UnboundedSender<Command>,
}

/// The entry of a reader in the table.
pub(crate) struct Entry {
    name: Name,
    number: u64,
}

/// What the session of a client may watch.
pub(crate) struct Audience {
    pub fan_out: Arc<FanOut>,
    /// The broadcasts to which it may subscribe.
    pub allowed: Patterns,
    /// Whether these are those of a room.
    pub is_of_room: bool,
    pub meter: Meter,
}

impl Audience {
    /// Reports whether the fan-out serves this subscription. The library has those that the client may not have, as it refuses them; those of what the client
    /// publishes itself, which it does not get back; and those to a part of a track, unless it is a sound: the library would deliver it also from participants
    /// that are muted (MED-76).
    fn serves(&self, request: &Subscribe) -> bool {
        let path = Path::new(&request.broadcast);
        let wish = &request.wish;
        let is_whole = wish.whole_groups && wish.start_group.is_none() && wish.end_group.is_none();
        (is_whole || sounds::speaker(path.as_str(), &request.track).is_some())
            && self.allowed.matches(path.as_str())
            && !self.meter.announces(&path)
    }

    /// Reports whether a track is a sound of another participant.
    fn is_sound(&self, broadcast: &str, track: &str) -> bool {
        let path = Path::new(broadcast);
        sounds::speaker(path.as_str(), track).is_some() && !self.meter.announces(&path)
    }
}

/// A subscription that is being served. It ends when dropped.
struct Joined {
    key: u64,
    commands: UnboundedSender<Command>,
    events: UnboundedReceiver<Event>,
}

impl Joined {
    fn update(&self, wish: wire::Wish) {
        let _ = self.commands.send(Command::Update(self.key, wish));
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Leave(self.key));
    }
}

impl FanOut {
    /// Serves the broadcasts of `origin`, and holds small frames for up to `hold` while the relay is busy.
    pub fn new(origin: origin::Consumer, hold: Duration, admission: Arc<dyn Admission>) -> Arc<Self> {
        let (tracks, keys, pace) = (Mutex::default(), AtomicU64::default(), Pace::new(hold));
        Arc::new(Self { origin, tracks, keys, pace, admission })
    }

    /// Returns the number of tracks that are read.
    pub fn tracks(&self) -> usize {
        self.tracks.lock().values().map(Vec::len).sum()
    }

    /// Resolves a broadcast as the library does for its own subscriptions: at once, or when a publisher on demand has answered.
    fn request(&self, path: &str) -> kio::Pending<origin::Requesting> {
        self.origin.request_broadcast(path)
    }

    /// Subscribes a session to a track, whose reader starts if there is none.
    ///
    /// # Errors
    /// The broadcast has ended.
    fn join(
        self: &Arc<Self>,
        broadcast: broadcast::Consumer,
        session: Arc<Session>,
        request: &Subscribe,
    ) -> Result<Joined, Error> {
        let (sender, events) = mpsc::unbounded_channel();
        let key = self.keys.fetch_add(1, Ordering::Relaxed);
        let watcher = Watcher::new(key, session, request, sender);
        let name = (Path::new(&request.broadcast).as_str().to_owned(), request.track.clone());
        let mut tracks = self.tracks.lock();
        let suits = |reading: &&Reading| reading.broadcast.is_clone(&broadcast) && reading.reaches_back(&watcher);
        let found = tracks.get(&name).and_then(|readings| readings.iter().find(suits));
        let commands = match found {
            Some(reading) => reading.commands.clone(),
            None => {
                let reading = self.read(broadcast, &name, &watcher)?;
                let commands = reading.commands.clone();
                tracks.entry(name).or_default().push(reading);
                commands
            }
        };
        // Sent under the lock, under which a reader without watchers ends.
        let _ = commands.send(Command::Join(Box::new(watcher)));
        Ok(Joined { key, commands, events })
    }

    /// Starts a reader.
    fn read(self: &Arc<Self>, broadcast: broadcast::Consumer, name: &Name, first: &Watcher) -> Result<Reading, Error> {
        let wanted = together(std::iter::once(first));
        let track = broadcast.track(&name.1)?.subscribe(wanted.clone()).into_inner();
        let (commands, received) = mpsc::unbounded_channel();
        let number = self.keys.fetch_add(1, Ordering::Relaxed);
        let entry = Entry { name: name.clone(), number };
        let reader = Reader::new(self.clone(), entry, received, wanted, track);
        // A write to a WebSocket that yields in the middle of a pass would look like one without room.
        tokio::spawn(unconstrained(reader.run()));
        Ok(Reading { number, broadcast, since: Instant::now(), max_age: first.max_age, commands })
    }

    /// Removes a reader from the table if it still `may` go, and reports that.
    fn retire(&self, entry: &Entry, may: impl FnOnce() -> bool) -> bool {
        let mut tracks = self.tracks.lock();
        if !may() {
            return false;
        }
        if let Some(readings) = tracks.get_mut(&entry.name) {
            readings.retain(|reading| reading.number != entry.number);
            if readings.is_empty() {
                tracks.remove(&entry.name);
            }
        }
        true
    }
}

impl Reading {
    /// Reports whether it has all groups with which a subscription begins: it began with as old ones, or has read for as long.
    fn reaches_back(&self, watcher: &Watcher) -> bool {
        !watcher.begins_by_age() || self.max_age >= watcher.max_age || self.since.elapsed() >= watcher.max_age
    }
}
