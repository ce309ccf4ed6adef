//! One subscription of a watcher, as the reader of its track sees it.
use moq_net::track::{Position, Subscription};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

use crate::server::fanout::ranks::{Rank, Ranks};
use crate::server::fanout::streams::{Connection, Unfinished};
use crate::server::fanout::wire::{Subscribe, Version, Wish};

/// What the fan-out sends to one session, counted as MoQ's library counts what it sends.
#[derive(Default)]
pub(crate) struct Counts {
    /// Subscriptions now.
    pub subscriptions: AtomicU64,
    /// Payload of media.
    pub bytes: AtomicU64,
    pub groups: AtomicU64,
}

impl Counts {
    /// Adds groups that were sent or begun, and bytes of media.
    pub fn add(&self, groups: u64, bytes: usize) {
        if groups > 0 {
            self.groups.fetch_add(groups, Ordering::Relaxed);
        }
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// What happens to a subscription, for the task of its stream.
pub(crate) enum Event {
    /// The sequence of its first group is known.
    Start(u64),
    /// The track ends before the group of this sequence.
    End(u64),
    /// All groups were written. The streams that the watcher may not have received yet.
    Finished(Vec<Unfinished>),
    /// The track ended with the code of an error.
    Failed(u32),
}

/// A session that watches.
pub(crate) struct Session {
    pub connection: Arc<Connection>,
    pub version: Version,
    pub counts: Arc<Counts>,
    pub ranks: Ranks,
}

/// A subscription.
pub(crate) struct Watcher {
    /// Unique in the relay.
    pub key: u64,
    pub session: Arc<Session>,
    /// The name of the subscription in the headers of groups.
    pub id: u64,
    pub rank: Arc<Rank>,
    pub max_age: Duration,
    priority: u8,
    /// The lowest and the highest sequence that it wants. `None`: not determined, and no bound.
    floor: Option<u64>,
    last: Option<u64>,
    /// Whether the watcher itself set the floor.
    floor_was_named: bool,
    started: bool,
    /// Whether the track is open, so that the subscription counts.
    counted: bool,
    /// Whether its track is over and it has all groups.
    finished: bool,
    events: UnboundedSender<Event>,
}

impl Watcher {
    /// A subscription whose events go to `events`.
    pub fn new(key: u64, session: Arc<Session>, request: &Subscribe, events: UnboundedSender<Event>) -> Self {
        let Wish { priority, max_age, .. } = request.wish;
        let rank = session.ranks.enter(request.id, priority);
        let mut watcher = Self {
            key,
            session,
            id: request.id,
            rank,
            max_age,
            priority,
            floor: None,
            last: None,
            floor_was_named: false,
            started: false,
            counted: false,
            finished: false,
            events,
        };
        watcher.update(&request.wish, None);
        watcher
    }

    pub fn begins_by_age(&self) -> bool {
        self.session.version.begins_by_age()
    }

    /// Applies a SUBSCRIBE_UPDATE. `newest` is the newest group of the track. Bounds at a frame within a group count as those of the whole group.
    pub fn update(&mut self, wish: &Wish, newest: Option<u64>) {
        (self.priority, self.max_age) = (wish.priority, wish.max_age);
        self.session.ranks.change(&self.rank, wish.priority);
        self.floor = match wish.start_group {
            Some(group) => Some(group),
            None if self.floor_was_named => newest.filter(|_| !self.begins_by_age()),
            None => self.floor,
        };
        self.floor_was_named = wish.start_group.is_some();
        self.last = wish.end_group;
    }

    /// Returns the last group that it wants, if there is a bound.
    pub fn last(&self) -> Option<u64> {
        self.last
    }

    /// Begins at this group, unless the watcher determined where.
    pub fn begin_at(&mut self, group: u64) {
        self.floor.get_or_insert(group);
    }

    /// Reports whether it wants a group, regardless of its age.
    pub fn wants(&self, group: u64) -> bool {
        !self.finished && self.floor.is_none_or(|floor| group >= floor) && self.last.is_none_or(|last| group <= last)
    }

    /// Notes that the relay sends it this group.
    pub fn receives(&mut self, group: u64) {
        self.session.counts.add(1, 0);
        if !self.started {
            self.started = true;
            if !self.begins_by_age() && self.floor.is_none() {
                self.floor = Some(group);
            }
            self.send(Event::Start(group));
        }
    }

    /// Counts the subscription from now on.
    pub fn count(&mut self) {
        if !self.counted {
            self.counted = true;
            self.session.counts.subscriptions.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends an event to the task of the subscription. It may have ended.
    pub fn send(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Ends the subscription after its last group, once.
    pub fn finish(&mut self, unreceived: Vec<Unfinished>) {
        self.finished = true;
        self.send(Event::Finished(unreceived));
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.session.ranks.leave(&self.rank);
        if self.counted {
            self.session.counts.subscriptions.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Returns what all watchers of a track together want: the highest priority, the greatest age, and an end only if all have one.
pub(crate) fn together<'a>(watchers: impl Iterator<Item = &'a Watcher> + Clone) -> Subscription {
    let priority = watchers.clone().map(|watcher| watcher.priority).max().unwrap_or_default();
    let max_age = watchers.clone().map(|watcher| watcher.max_age).max().unwrap_or_default();
    let last: Option<Vec<_>> = watchers.map(|watcher| watcher.last).collect();
    let end = last.and_then(|last| last.into_iter().max()).and_then(Position::after_group);
    Subscription::default().with_priority(priority).with_max_age(max_age).with_end(end)
}
