//! Receives everybody else of a room, and says who is there and what comes of them.
use super::choice::choose;
use super::say;
use super::tally::Tally;
use crate::room::{Roster, Seen};
use crate::watch::Output;
use crate::watch::frames::{Event, What, Whose, follow};
use crate::watch::wanted::{Change, Wanted};
use moq_net::origin::Consumer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, interval_at};

/// Frames that wait to be counted; more wait with the relay.
const WAITING: usize = 1024;
/// Between two lines of JSON about a track, and between two lines for people.
const LOGGED: Duration = Duration::from_secs(1);
const SAID: Duration = Duration::from_secs(5);

/// Who is there, and what comes of them.
struct Listener {
    /// Lines of JSON instead of lines for people.
    log: bool,
    roster: Roster,
    publishers: BTreeMap<String, Publisher>,
    /// By participant and track.
    tracks: BTreeMap<(String, Arc<str>), Received>,
    said: Instant,
}

/// Somebody who publishes.
#[derive(Default)]
struct Publisher {
    /// Their broadcasts. Pages follow each other, and the greatest counts (MEDIA-14).
    broadcasts: BTreeSet<String>,
    /// The one that is received.
    followed: Option<(String, AbortHandle)>,
}

/// A track that is subscribed to.
struct Received {
    broadcast: String,
    tally: Tally,
    /// Frames come.
    comes: bool,
}

/// Until nobody reads the output, or the relay is gone for good. May be given up.
pub async fn listen(origin: Consumer, seen: Seen, log: bool, output: &mut Output) -> anyhow::Result<()> {
    let mut roster = seen.roster.clone();
    let wanted = Wanted::Room(seen, None);
    let (events, mut heard) = mpsc::channel(WAITING);
    let mut announced = origin.announced();
    let mut tasks = JoinSet::new();
    let every = if log { LOGGED } else { SAID };
    let mut looks = interval_at(Instant::now() + every, every);
    let mut stops = interval_at(Instant::now() + LOGGED, LOGGED);
    let mut listener = Listener::new(log);
    let first = listener.meet(&roster.borrow_and_update());
    output.write(first.as_bytes()).await?;
    loop {
        let lines = tokio::select! {
            Some(event) = heard.recv() => listener.hear(&event),
            Some(_) = tasks.join_next() => String::new(),
            change = wanted.next(&mut announced) => {
                let Some(change) = change else { return Ok(()) };
                let start = |whose| tasks.spawn(follow(origin.clone(), Arc::new(whose), choose, events.clone()));
                listener.announced(change, start)
            }
            Ok(()) = roster.changed() => listener.meet(&roster.borrow_and_update()),
            now = stops.tick() => listener.stopped(now),
            now = looks.tick() => listener.look(now)?,
        };
        if !lines.is_empty() {
            output.write(lines.as_bytes()).await?;
        }
    }
}

impl Listener {
    fn new(log: bool) -> Self {
        let (publishers, tracks) = (BTreeMap::new(), BTreeMap::new());
        Self { log, roster: Roster::default(), publishers, tracks, said: Instant::now() }
    }

    /// What somebody is called.
    fn name(&self, participant: &str) -> String {
        say::plain(self.roster.0.get(participant).map_or(participant, |member| &member.name))
    }

    /// A line for people; none where there are lines of JSON.
    fn people(&self, line: String) -> String {
        if self.log { String::new() } else { line + "\n" }
    }

    /// Who came, went, was lost or is back.
    fn meet(&mut self, roster: &Roster) -> String {
        let mut lines = String::new();
        let gone: Vec<_> = self.roster.0.iter().filter(|(who, _)| !roster.0.contains_key(*who)).collect();
        for (_, member) in gone {
            lines += &self.people(format!("{} went", say::plain(&member.name)));
        }
        for (participant, member) in &roster.0 {
            let before = self.roster.0.get(participant);
            let what = match before.map(|before| (before.away, member.away)) {
                None => "is here",
                Some((false, true)) => "is away",
                Some((true, false)) => "is back",
                Some(_) => continue,
            };
            lines += &self.people(format!("{} {what}", say::plain(&member.name)));
        }
        self.roster = roster.clone();
        lines
    }

    /// A broadcast came or went: the greatest of each participant is followed.
    fn announced(&mut self, change: Change, start: impl FnOnce(Whose) -> AbortHandle) -> String {
        let Change { broadcast, participant: Some(participant), there } = change else { return String::new() };
        let publisher = self.publishers.entry(participant.clone()).or_default();
        if there {
            publisher.broadcasts.insert(broadcast);
        } else {
            publisher.broadcasts.remove(&broadcast);
        }
        let counts = publisher.broadcasts.last();
        if publisher.followed.as_ref().map(|(followed, _)| followed) == counts {
            return String::new();
        }
        let before = publisher.followed.take();
        publisher.followed = counts.map(|broadcast| {
            let whose = Whose { broadcast: broadcast.clone(), participant: Some(participant.clone()) };
            (broadcast.clone(), start(whose))
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

    /// Counts what came.
    fn hear(&mut self, Event { whose, track, what }: &Event) -> String {
        let Some(participant) = whose.participant.clone() else { return String::new() };
        let followed = self.publishers.get(&participant).and_then(|publisher| publisher.followed.as_ref());
        if followed.is_none_or(|(broadcast, _)| *broadcast != whose.broadcast) {
            return String::new();
        }
        let key = (participant, track.clone());
        if let What::Ended = what {
            return self.end(&key);
        }
        let received = self.tracks.entry(key.clone()).or_insert_with(|| Received {
            broadcast: whose.broadcast.clone(),
            tally: Tally::default(),
            comes: false,
        });
        match what {
            What::Begun { picture } => received.tally = Tally::new(!picture),
            What::Group(number) => received.tally.group(*number),
            What::Cut => received.tally.cut(),
            What::Frame { at, bytes, .. } => {
                received.tally.frame(*at, *bytes);
                // The room's word about them may come a moment later.
                let known = self.roster.0.contains_key(&key.0);
                if known && !std::mem::replace(&mut received.comes, true) {
                    return self.people(format!("{}: {track} comes", self.name(&key.0)));
                }
            }
            What::Ended => {}
        }
        String::new()
    }

    /// Pictures that do not come any more.
    fn stopped(&mut self, now: Instant) -> String {
        let mut stopped = Vec::new();
        for (key, received) in &mut self.tracks {
            if received.comes && received.tally.has_stopped(now) {
                received.comes = false;
                stopped.push(key.clone());
            }
        }
        stopped.into_iter().map(|(who, track)| self.people(format!("{}: {track} stopped", self.name(&who)))).collect()
    }

    /// A track that is over.
    fn end(&mut self, key: &(String, Arc<str>)) -> String {
        let came = self.tracks.remove(key).is_some_and(|received| received.comes);
        if came { self.people(format!("{}: {} stopped", self.name(&key.0), key.1)) } else { String::new() }
    }

    /// What came of each track since the last look.
    fn look(&mut self, now: Instant) -> anyhow::Result<String> {
        let over = now - std::mem::replace(&mut self.said, now);
        let mut lines = String::new();
        let parts: Vec<_> = self.tracks.iter_mut().map(|(key, one)| (key.clone(), one.tally.look(now))).collect();
        for ((participant, track), part) in parts {
            let name = self.name(&participant);
            lines += &match self.log {
                true => say::json(&participant, &name, &track, &part)?,
                false => say::line(&name, &track, &part, over),
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
    fn names_of_people_are_said_without_what_a_terminal_obeys() {
        let name = "Bo\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}2J";
        let there = Roster(BTreeMap::from([("p2".to_owned(), Member { name: name.to_owned(), away: false })]));
        let mut listener = Listener::new(false);
        assert_eq!(listener.meet(&there), "Bo]52;c;ZXZpbA==2J is here\n");
        assert_eq!(listener.name("p2"), "Bo]52;c;ZXZpbA==2J");
        assert_eq!(listener.name("p\u{1b}3"), "p3");
        assert_eq!(listener.meet(&Roster::default()), "Bo]52;c;ZXZpbA==2J went\n");
    }
}
