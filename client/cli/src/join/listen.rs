//! Receives the other participants of a room, and reports who is in the room and what arrives.
use super::output;
use super::tally::Tally;
use super::track_selection::select;
use crate::room::{RoomView, Roster};
use crate::watch::Output;
use crate::watch::frames::{Event, EventKind, Publication, follow};
use crate::watch::selection::{Change, Selection};
use moq_net::origin::Consumer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, interval_at};

/// The capacity of the channel of frames. When it is full, frames wait at the relay.
const CAPACITY: usize = 1024;
/// The intervals of JSON lines and of lines of text about a track.
const JSON_INTERVAL: Duration = Duration::from_secs(1);
const TEXT_INTERVAL: Duration = Duration::from_secs(5);

/// The participants, and the tracks that are received from them.
struct Listener {
    /// JSON lines instead of text.
    log: bool,
    roster: Roster,
    publishers: BTreeMap<String, Publisher>,
    /// Received tracks by participant and name.
    tracks: BTreeMap<(String, Arc<str>), Received>,
    reported_at: Instant,
}

/// A participant that publishes.
#[derive(Default)]
struct Publisher {
    /// Its broadcasts. A page that is reloaded publishes a new one, and the one with the greatest name newest (MEDIA-14).
    broadcasts: BTreeSet<String>,
    /// The broadcast that is received.
    followed: Option<(String, AbortHandle)>,
}

/// A subscribed track.
struct Received {
    broadcast: String,
    tally: Tally,
    /// Whether frames arrive.
    arriving: bool,
}

/// Runs until the output is closed or the session with the relay ended for good. May be cancelled.
pub async fn listen(origin: Consumer, view: RoomView, log: bool, output: &mut Output) -> anyhow::Result<()> {
    let mut roster = view.roster.clone();
    let selection = Selection::Room(view, None);
    let (events, mut received_events) = mpsc::channel(CAPACITY);
    let mut announced = origin.announced();
    let mut tasks = JoinSet::new();
    let every = if log { JSON_INTERVAL } else { TEXT_INTERVAL };
    let mut reports = interval_at(Instant::now() + every, every);
    let mut stop_checks = interval_at(Instant::now() + JSON_INTERVAL, JSON_INTERVAL);
    let mut listener = Listener::new(log);
    let first = listener.update_roster(&roster.borrow_and_update());
    output.write(first.as_bytes()).await?;
    loop {
        let lines = tokio::select! {
            Some(event) = received_events.recv() => listener.on_event(&event),
            Some(_) = tasks.join_next() => String::new(),
            change = selection.next(&mut announced) => {
                let Some(change) = change else { return Ok(()) };
                let start = |publication: Publication| {
                    let mute = selection.mute(&publication.broadcast);
                    tasks.spawn(follow(origin.clone(), Arc::new(publication), mute, select, events.clone()))
                };
                listener.on_change(change, start)
            }
            Ok(()) = roster.changed() => listener.update_roster(&roster.borrow_and_update()),
            now = stop_checks.tick() => listener.report_stopped(now),
            now = reports.tick() => listener.report(now)?,
        };
        if !lines.is_empty() {
            output.write(lines.as_bytes()).await?;
        }
    }
}

impl Listener {
    fn new(log: bool) -> Self {
        let (publishers, tracks) = (BTreeMap::new(), BTreeMap::new());
        Self { log, roster: Roster::default(), publishers, tracks, reported_at: Instant::now() }
    }

    /// The display name of a participant, safe for a terminal.
    fn name(&self, participant: &str) -> String {
        output::printable(self.roster.others.get(participant).map_or(participant, |member| &member.name))
    }

    /// A line of text; empty if the output is JSON.
    fn text(&self, line: String) -> String {
        if self.log { String::new() } else { line + "\n" }
    }

    /// Reports which participants joined, left, lost their socket, resumed, were muted or may be heard again.
    fn update_roster(&mut self, roster: &Roster) -> String {
        let mut lines = String::new();
        let gone: Vec<_> = self.roster.others.iter().filter(|(who, _)| !roster.others.contains_key(*who)).collect();
        for (_, member) in gone {
            lines += &self.text(format!("{} left", output::printable(&member.name)));
        }
        for (participant, member) in &roster.others {
            let before = self.roster.others.get(participant);
            let presence = match before.map(|before| (before.away, member.away)) {
                None => Some("joined"),
                Some((false, true)) => Some("is away"),
                Some((true, false)) => Some("is back"),
                Some(_) => None,
            };
            let mute = match (before.is_some_and(|before| before.muted), member.muted) {
                (false, true) => Some("is muted by an owner"),
                (true, false) => Some("is not muted any more"),
                _ => None,
            };
            for change in [presence, mute].into_iter().flatten() {
                lines += &self.text(format!("{} {change}", output::printable(&member.name)));
            }
        }
        self.roster = roster.clone();
        lines
    }

    /// A broadcast began or ended: the one with the greatest name of each participant is received.
    fn on_change(&mut self, change: Change, start: impl FnOnce(Publication) -> AbortHandle) -> String {
        let Change { broadcast, participant: Some(participant), present } = change else { return String::new() };
        let publisher = self.publishers.entry(participant.clone()).or_default();
        if present {
            publisher.broadcasts.insert(broadcast);
        } else {
            publisher.broadcasts.remove(&broadcast);
        }
        let newest = publisher.broadcasts.last();
        if publisher.followed.as_ref().map(|(followed, _)| followed) == newest {
            return String::new();
        }
        let before = publisher.followed.take();
        publisher.followed = newest.map(|broadcast| {
            let publication = Publication { broadcast: broadcast.clone(), participant: Some(participant.clone()) };
            (broadcast.clone(), start(publication))
        });
        if publisher.broadcasts.is_empty() {
            self.publishers.remove(&participant);
        }
        let Some((before, task)) = before else { return String::new() };
        task.abort();
        let over = |(_, received): &(&(String, Arc<str>), &mut Received)| received.broadcast == before;
        let over: Vec<_> = self.tracks.iter_mut().filter(over).map(|(key, _)| key.clone()).collect();
        over.into_iter().map(|key| self.end(&key)).collect()
    }

    /// Counts a frame.
    fn on_event(&mut self, Event { publication, track, kind }: &Event) -> String {
        let Some(participant) = publication.participant.clone() else { return String::new() };
        let followed = self.publishers.get(&participant).and_then(|publisher| publisher.followed.as_ref());
        if followed.is_none_or(|(broadcast, _)| *broadcast != publication.broadcast) {
            return String::new();
        }
        let key = (participant, track.clone());
        if let EventKind::Ended = kind {
            return self.end(&key);
        }
        let received = self.tracks.entry(key.clone()).or_insert_with(|| Received {
            broadcast: publication.broadcast.clone(),
            tally: Tally::default(),
            arriving: false,
        });
        match kind {
            EventKind::Begun { video } => received.tally = Tally::new(!video),
            EventKind::Group(number) => received.tally.group(*number),
            EventKind::Incomplete => received.tally.incomplete_group(),
            EventKind::Frame { arrived_at: at, bytes, .. } => {
                received.tally.frame(*at, *bytes);
                // The message of the room may arrive after the first frames.
                let known = self.roster.others.contains_key(&key.0);
                if known && !std::mem::replace(&mut received.arriving, true) {
                    return self.text(format!("{}: receiving {track}", self.name(&key.0)));
                }
            }
            EventKind::Ended => {}
        }
        String::new()
    }

    /// Reports video tracks that stopped.
    fn report_stopped(&mut self, now: Instant) -> String {
        let mut stopped = Vec::new();
        for (key, received) in &mut self.tracks {
            if received.arriving && received.tally.has_stopped(now) {
                received.arriving = false;
                stopped.push(key.clone());
            }
        }
        stopped.into_iter().map(|(who, track)| self.text(format!("{}: {track} stopped", self.name(&who)))).collect()
    }

    /// Removes a track that ended.
    fn end(&mut self, key: &(String, Arc<str>)) -> String {
        let was_arriving = self.tracks.remove(key).is_some_and(|received| received.arriving);
        if was_arriving { self.text(format!("{}: {} stopped", self.name(&key.0), key.1)) } else { String::new() }
    }

    /// Reports the statistics of each track since the last report.
    fn report(&mut self, now: Instant) -> anyhow::Result<String> {
        let over = now - std::mem::replace(&mut self.reported_at, now);
        let mut lines = String::new();
        let parts: Vec<_> = self.tracks.iter_mut().map(|(key, one)| (key.clone(), one.tally.report(now))).collect();
        for ((participant, track), part) in parts {
            let name = self.name(&participant);
            lines += &match self.log {
                true => output::json(&participant, &name, &track, &part)?,
                false => output::line(&name, &track, &part, over),
            };
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Member;

    #[test]
    fn names_are_written_without_control_characters() {
        let name = "Bo\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}2J";
        let member = Member { name: name.to_owned(), ..Member::default() };
        let mut present = Roster::default();
        present.others.insert("p2".to_owned(), member);
        let mut listener = Listener::new(false);
        assert_eq!(listener.update_roster(&present), "Bo]52;c;ZXZpbA==2J joined\n");
        assert_eq!(listener.name("p2"), "Bo]52;c;ZXZpbA==2J");
        assert_eq!(listener.name("p\u{1b}3"), "p3");
        assert_eq!(listener.update_roster(&Roster::default()), "Bo]52;c;ZXZpbA==2J left\n");
    }
}
