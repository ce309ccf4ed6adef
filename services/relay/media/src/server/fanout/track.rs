//! The reader of one track: it reads each frame once, and writes it to all watchers of the track in one pass.
//!
//! The reader is one task, which owns the watchers and their streams, so that a frame takes no lock of ours. Watchers come, change and leave by commands.
use moq_net::kio::{self, Waiter};
use moq_net::track::{Subscriber, Subscribing, Subscription};
use moq_net::{Error, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Interval, MissedTickBehavior, Sleep, interval, sleep_until};

use crate::server::fanout::delivery::code;
use crate::server::fanout::group::{Group, TURN};
use crate::server::fanout::watcher::{Event, Watcher, together};
use crate::server::fanout::wire::{self, Wish};
use crate::server::fanout::{Entry, FanOut, sounds};

/// The most groups that are kept for watchers that come late, and for those that have not received them.
const MAX_GROUPS: usize = 256;
/// The interval of attempts to write to a WebSocket that has no room.
const RETRY: Duration = Duration::from_millis(10);

/// What the task of a subscription asks of the reader.
pub(crate) enum Command {
    Join(Box<Watcher>),
    Update(u64, Wish),
    /// The watcher with this key leaves.
    Leave(u64),
}

/// Reads a track until no watcher is left.
pub(crate) struct Reader {
    fan_out: Arc<FanOut>,
    entry: Entry,
    commands: UnboundedReceiver<Command>,
    track: Track,
    watchers: HashMap<u64, Watcher>,
    groups: BTreeMap<u64, Group>,
    /// What was last requested of the track.
    requested: Subscription,
    /// The sequence before which the track ends, if that is known.
    end: Option<u64>,
    /// The latest frame of the newest group by which old groups were last ended.
    edge: Option<Timestamp>,
    /// Whether all groups were read.
    complete: bool,
    retry: Option<Interval>,
    /// The size of the latest frame, in bytes.
    frame_size: usize,
    /// Waits for the instant at which small frames leave.
    held: Option<Pin<Box<Sleep>>>,
    /// The participant of a room whose sound it is.
    speaker: Option<String>,
}

enum Track {
    /// The publisher has not yet described it.
    Requested(Subscribing),
    Open(Box<Subscriber>),
}

impl Reader {
    pub fn new(
        fan_out: Arc<FanOut>,
        entry: Entry,
        commands: UnboundedReceiver<Command>,
        requested: Subscription,
        track: Subscribing,
    ) -> Self {
        let speaker = sounds::speaker(&entry.name.0, &entry.name.1).map(str::to_owned);
        Self {
            fan_out,
            entry,
            commands,
            track: Track::Requested(track),
            watchers: HashMap::new(),
            groups: BTreeMap::new(),
            requested,
            end: None,
            edge: None,
            complete: false,
            retry: None,
            frame_size: usize::MAX,
            held: None,
            speaker,
        }
    }

    pub async fn run(mut self) {
        let result = kio::wait(|waiter| self.poll(waiter)).await;
        if let Err(error) = result {
            self.fan_out.retire(&self.entry, || true);
            self.groups.clear();
            while let Ok(command) = self.commands.try_recv() {
                self.apply(command, &Waiter::noop());
            }
            for watcher in self.watchers.values() {
                watcher.send(Event::Failed(code(&error)));
            }
        }
    }

    /// Ready when no watcher is left, or the track has failed.
    fn poll(&mut self, waiter: &Waiter) -> Poll<Result<(), Error>> {
        let mut context = Context::from_waker(waiter.waker());
        let mut changed = false;
        while let Poll::Ready(Some(command)) = self.commands.poll_recv(&mut context) {
            self.apply(command, waiter);
            changed = true;
        }
        if changed {
            self.request();
            let commands = &self.commands;
            if self.watchers.is_empty() && self.fan_out.retire(&self.entry, || commands.is_empty()) {
                return Poll::Ready(Ok(()));
            }
        }
        ready!(self.poll_open(waiter))?;
        ready!(self.poll_hold(&mut context));
        self.read(waiter)?;
        self.poll_retry(&mut context);
        if self.complete {
            self.finish();
        }
        Poll::Pending
    }

    fn poll_open(&mut self, waiter: &Waiter) -> Poll<Result<(), Error>> {
        if let Track::Requested(track) = &self.track {
            self.track = Track::Open(Box::new(ready!(track.poll_ok(waiter))?));
            self.watchers.values_mut().for_each(Watcher::count);
            let newest = self.newest();
            self.watchers.values_mut().for_each(|watcher| begin(watcher, newest));
        }
        Poll::Ready(Ok(()))
    }

    /// Requests of the track what all watchers want.
    fn request(&mut self) {
        let wanted = together(self.watchers.values());
        if !self.watchers.is_empty() && wanted != self.requested {
            self.requested = wanted.clone();
            // A track that has ended takes no requests.
            let _ = match &mut self.track {
                Track::Requested(track) => track.update(wanted),
                Track::Open(track) => track.update(wanted),
            };
        }
    }

    /// The highest sequence of a group of the track.
    fn newest(&self) -> Option<u64> {
        let cached = match &self.track {
            Track::Requested(_) => None,
            Track::Open(track) => track.latest(),
        };
        cached.max(self.groups.keys().next_back().copied())
    }

    fn apply(&mut self, command: Command, waiter: &Waiter) {
        match command {
            Command::Join(watcher) => self.join(*watcher, waiter),
            Command::Update(key, wish) => self.update(key, &wish, waiter),
            Command::Leave(key) => {
                self.watchers.remove(&key);
                self.groups.values_mut().for_each(|group| group.leave(key));
            }
        }
    }

    fn join(&mut self, mut watcher: Watcher, waiter: &Waiter) {
        if matches!(self.track, Track::Open(_)) {
            watcher.count();
            begin(&mut watcher, self.newest());
        }
        self.offer(&mut watcher, 0, waiter);
        if let Some(end) = self.end {
            watcher.send(Event::End(end));
        }
        self.watchers.insert(watcher.key, watcher);
    }

    fn update(&mut self, key: u64, wish: &Wish, waiter: &Waiter) {
        let newest = self.newest();
        let Some(mut watcher) = self.watchers.remove(&key) else { return };
        let last = watcher.last();
        watcher.update(wish, newest);
        for (sequence, group) in &mut self.groups {
            group.update(&watcher, Some(*sequence) == newest);
        }
        if let Some(last) = last {
            self.offer(&mut watcher, last.saturating_add(1), waiter);
        }
        self.watchers.insert(key, watcher);
    }

    /// Begins to send a watcher the groups that it wants, from this sequence, of those that were read already.
    fn offer(&mut self, watcher: &mut Watcher, from: u64, waiter: &Waiter) {
        let newest = self.groups.keys().next_back().copied();
        let ages = self.ages();
        for (sequence, group) in self.groups.range_mut(from..) {
            let is_old = ages.get(sequence).is_some_and(|age| *age >= watcher.max_age);
            if watcher.wants(*sequence) && !is_old && !group.has_failed() {
                group.deliver(watcher, Some(*sequence) == newest, waiter.waker());
                group.advance();
            }
        }
    }

    /// Returns how old groups are: the time from the begin of the next group to the latest frame of the newest group.
    fn ages(&self) -> HashMap<u64, Duration> {
        let mut ages = HashMap::new();
        let (mut latest, mut next_start): (Option<Timestamp>, Option<Timestamp>) = (None, None);
        for (sequence, group) in self.groups.iter().rev() {
            if let (Some(latest), Some(start)) = (latest, next_start)
                && let Ok(age) = latest.checked_sub(start)
            {
                ages.insert(*sequence, age.into());
            }
            let (start, newest_frame) = group.times();
            latest = latest.or(newest_frame);
            next_start = start;
        }
        ages
    }

    /// Reads all that there is.
    fn read(&mut self, waiter: &Waiter) -> Result<(), Error> {
        let Track::Open(track) = &mut self.track else { return Ok(()) };
        let mut received = Vec::new();
        while !self.complete
            && let Poll::Ready(group) = track.poll_recv_group(waiter)
        {
            match group? {
                Some(group) => received.extend(Group::new(group)),
                None => self.complete = true,
            }
        }
        let mut datagrams = Vec::new();
        while let Poll::Ready(Ok(Some(datagram))) = track.poll_recv_datagram(waiter) {
            datagrams.push(datagram);
        }
        if self.end.is_none()
            && let Poll::Ready(end) = track.poll_finished(waiter)
        {
            let end = *self.end.insert(end?);
            self.watchers.values().for_each(|watcher| watcher.send(Event::End(end)));
        }
        if self.is_withheld() {
            std::mem::take(&mut self.groups).into_values().for_each(Group::withhold);
            received.clear();
            datagrams.clear();
        }
        for group in received {
            self.begin_group(group, waiter);
        }
        datagrams.iter().for_each(|datagram| self.send_datagram(datagram));
        self.drive(waiter);
        Ok(())
    }

    /// Reports whether an owner muted the participant, whose sound this is: what is sent of its sound ends, and what arrives is dropped (MED-76).
    fn is_withheld(&self) -> bool {
        self.speaker.as_deref().is_some_and(|speaker| self.fan_out.admission.is_muted(speaker))
    }

    /// Begins to send a group to all watchers that want it.
    fn begin_group(&mut self, mut group: Group, waiter: &Waiter) {
        let sequence = group.sequence();
        let newest = self.groups.keys().next_back().is_none_or(|newest| sequence > *newest);
        if newest && let Some(previous) = self.groups.values_mut().next_back() {
            let watchers = &self.watchers;
            previous.is_no_longer_newest(|key| watchers.get(&key).map(|watcher| watcher.rank.order(false)));
        }
        for watcher in self.watchers.values_mut().filter(|watcher| watcher.wants(sequence)) {
            group.deliver(watcher, newest, waiter.waker());
        }
        self.groups.insert(sequence, group);
        if newest {
            self.forget();
        }
    }

    /// Removes groups that no watcher can get.
    fn forget(&mut self) {
        let Track::Open(track) = &self.track else { return };
        let kept = track.info().max_age;
        let ages = self.ages();
        let newest = self.groups.keys().next_back().copied();
        self.groups.retain(|sequence, group| {
            let is_old = ages.get(sequence).is_some_and(|age| *age >= kept);
            Some(*sequence) == newest || !is_old || !group.is_ended() || !group.is_idle()
        });
        while self.groups.len() > MAX_GROUPS {
            self.groups.pop_first();
        }
    }

    fn drive(&mut self, waiter: &Waiter) {
        let mut written = 0;
        for group in self.groups.values_mut() {
            let pieces = group.drive(waiter);
            written += pieces * group.watchers();
            if pieces == TURN {
                waiter.waker().wake_by_ref();
            }
            self.frame_size = group.frame_size().unwrap_or(self.frame_size);
        }
        self.fan_out.pace.wrote(written, self.frame_size, Instant::now());
        self.expire();
    }

    /// Ready when what was written to the track may be read.
    fn poll_hold(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.held.is_none() {
            let until = self.fan_out.pace.hold(self.frame_size, Instant::now());
            self.held = until.map(|until| Box::pin(sleep_until(until.into())));
        }
        if let Some(held) = &mut self.held {
            ready!(held.as_mut().poll(context));
            self.held = None;
        }
        Poll::Ready(())
    }

    /// Ends what has become too old, after the newest group has got a frame.
    fn expire(&mut self) {
        let mut from_newest = self.groups.values().rev();
        let edge = from_newest.next().and_then(|newest| newest.times().1);
        if edge == self.edge || from_newest.all(Group::is_idle) {
            return;
        }
        self.edge = edge;
        for (sequence, age) in self.ages() {
            if let Some(group) = self.groups.get_mut(&sequence) {
                group.expire(age);
            }
        }
    }

    fn send_datagram(&self, datagram: &moq_net::Datagram) {
        let (time, payload) = (datagram.timestamp.value(), &datagram.payload);
        for watcher in self.watchers.values() {
            if watcher.session.connection.max_datagram_size() > 0 {
                let body = wire::datagram(watcher.id, datagram.sequence, time, payload);
                watcher.session.connection.send_datagram(body);
                watcher.session.counts.add(1, payload.len());
            }
        }
    }

    /// Tries again to write to WebSockets that had no room.
    fn poll_retry(&mut self, context: &mut Context<'_>) {
        let waiting = self.groups.values().any(Group::has_to_try);
        let retry = waiting.then(|| {
            self.retry.take().unwrap_or_else(|| {
                let mut retry = interval(RETRY);
                retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
                retry.reset();
                retry
            })
        });
        self.retry = retry;
        if let Some(retry) = &mut self.retry {
            while retry.poll_tick(context).is_ready() {
                self.groups.values_mut().for_each(Group::advance);
            }
        }
    }

    /// Ends the subscriptions of watchers that have all groups of a track that has ended.
    fn finish(&mut self) {
        if !self.groups.values().all(Group::is_ended) {
            return;
        }
        for (key, watcher) in self.watchers.iter_mut().filter(|(_, watcher)| !watcher.is_finished()) {
            if !self.groups.values().any(|group| group.owes(*key)) {
                let unreceived = self.groups.values_mut().filter_map(|group| group.take_unreceived(*key));
                watcher.finish(unreceived.collect());
            }
        }
    }
}

/// Determines where a subscription begins if that is not determined by the age of groups: at the newest group.
fn begin(watcher: &mut Watcher, newest: Option<u64>) {
    if !watcher.begins_by_age()
        && let Some(newest) = newest
    {
        watcher.begin_at(newest);
    }
}
