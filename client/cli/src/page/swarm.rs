//! One page among those who are connected about it: who is asked for which chunk, who is served, and who is left (PAGE-16, PAGE-17). No
//! sockets and no clock: messages and times come in, what is to be done is taken out.
use super::address::Address;
use super::bits::Bits;
use super::copy::Copy;
use super::manifest::{Manifest, Unfit};
use super::message::{Said, bitfield, handshake, have, number, reject, request};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Bytes;

/// A connection.
pub type Id = u64;

/// At most so many chunks are asked of one holder at once.
const ASKED_MAX: usize = 8;
/// With so many it begins: how fast it is has yet to be seen.
const ASKED_FIRST: usize = 2;
/// What comes within this lets one more be asked.
const PROMPT: Duration = Duration::from_secs(1);
/// What does not come within this is asked elsewhere.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many in a row that do not come, and it is left.
const STRIKES: u8 = 3;
/// The last chunks are asked of so many at once, where the first lets it lie for so long.
const AT_ONCE: usize = 2;
const SECOND: Duration = Duration::from_millis(500);
/// Chunks that are on their way out to one reader, in memory.
const IN_HAND: usize = 4;
/// Nobody is told all again sooner.
const GREETED: Duration = Duration::from_millis(400);
/// A reader asks for eight at once; with those it gave up, not for so many.
const WANTED_MAX: usize = 64;
/// While the manifest is not known: as many as pages of any size have.
const CHUNKS_MAX: u32 = 4096;
/// Somebody of whom nothing was asked for so long is left.
const IDLE: Duration = Duration::from_secs(15);
/// Whoever took less than so many bytes for so long makes room for somebody who waits.
const PLACE_BYTES: u64 = 131_072;
const PLACE: Duration = Duration::from_secs(20);

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Say this.
    Say(Id, Said),
    /// Send this chunk, and tell by [`Swarm::sent`] when it is gone.
    Send(Id, u32),
    /// End a connection.
    Leave(Id, Parting),
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// Neither needs the other any more.
    Done,
    /// It has nothing that is missing here.
    Idle,
    /// It said nothing at all.
    Silent,
    /// It lets requests lie: it may only be slow.
    Stalled,
    /// What it did is of no honest holder: it is not asked again.
    Dropped(&'static str),
}

/// Why a page cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Over `page.bytes`.
    TooLarge(u64),
    /// Whoever made it made no page.
    Malformed(&'static str),
}

/// One page.
pub struct Swarm {
    page: Address,
    most: u64,
    /// What is here of it, once the manifest is known.
    pub copy: Option<Copy>,
    /// It cannot be had.
    pub refused: Option<Refused>,
    /// Bytes of chunks that came.
    pub received: u64,
    /// Bytes of chunks that went.
    pub sent: u64,
    peers: BTreeMap<Id, Peer>,
    deeds: VecDeque<Deed>,
    chance: fastrand::Rng,
}

/// Somebody who is connected.
#[derive(Debug)]
pub struct Peer {
    since: Instant,
    opened: bool,
    /// When it was last told all, as it said that it may have lost it.
    greeted: Instant,
    /// What it has, once it said so.
    has: Option<Bits>,
    /// How many chunks were here when it was told which.
    told: u32,
    asked: BTreeMap<u32, Instant>,
    /// How often each was asked and not answered: what was given up may still come.
    owed: BTreeMap<u32, u8>,
    /// When each was given up.
    late: BTreeMap<u32, Instant>,
    window: usize,
    strikes: u8,
    /// When something was last asked of it or by it.
    busy: Instant,
    wants: VecDeque<u32>,
    in_hand: VecDeque<u32>,
    /// When it last had taken as much as a place is given for, and how much it had then.
    served: (Instant, u64),
    /// Bytes of chunks that came from it.
    pub received: u64,
    /// Bytes of chunks that went to it.
    pub sent: u64,
}

impl Swarm {
    /// Of a page of which nothing is here.
    pub fn new(page: Address, most: u64, seed: u64) -> Self {
        Self {
            page,
            most,
            copy: None,
            refused: None,
            received: 0,
            sent: 0,
            peers: BTreeMap::new(),
            deeds: VecDeque::new(),
            chance: fastrand::Rng::with_seed(seed),
        }
    }

    /// What is to be done next.
    pub fn next(&mut self) -> Option<Deed> {
        self.deeds.pop_front()
    }

    /// Who is connected.
    pub fn peer(&self, id: Id) -> Option<&Peer> {
        self.peers.get(&id)
    }

    /// All of it is here.
    pub fn is_whole(&self) -> bool {
        self.copy.as_ref().is_some_and(Copy::is_whole)
    }

    /// Whether somebody is connected who has everything.
    pub fn has_whole(&self, id: Id) -> bool {
        let has = self.peers.get(&id).and_then(|peer| peer.has.as_ref());
        self.copy.as_ref().zip(has).is_some_and(|(copy, has)| has.is_all(copy.count()))
    }

    /// Somebody is connected.
    pub fn join(&mut self, id: Id, now: Instant) {
        let peer = Peer {
            since: now,
            opened: false,
            greeted: now,
            has: None,
            told: 0,
            asked: BTreeMap::new(),
            owed: BTreeMap::new(),
            late: BTreeMap::new(),
            window: ASKED_FIRST,
            strikes: 0,
            busy: now,
            wants: VecDeque::new(),
            in_hand: VecDeque::new(),
            served: (now, 0),
            received: 0,
            sent: 0,
        };
        self.peers.insert(id, peer);
        self.greet(id);
    }

    /// Says what comes first; again where the other may not have been there yet.
    pub fn greet(&mut self, id: Id) {
        let manifest = self.copy.as_ref().map(|copy| copy.text.as_str());
        // A manifest of the most chunks is far below the bound of a message.
        self.deeds.extend(handshake(self.page, manifest).map(|said| Deed::Say(id, said)));
        self.say_have(id);
    }

    /// Whether it is known to have heard us: where nothing is kept for who comes later, all is said again until then.
    pub fn is_heard(&self, id: Id) -> bool {
        self.peers.get(&id).is_none_or(|peer| peer.opened && (peer.has.is_some() || self.copy.is_none()))
    }

    /// Says what is here, where something of it may have been lost on the way.
    pub fn refresh(&mut self, id: Id) {
        let here = self.copy.as_ref().map_or(0, Copy::here);
        if self.peers.get(&id).is_some_and(|peer| peer.told != here) {
            self.say_have(id);
        }
    }

    fn say_have(&mut self, id: Id) {
        if let (Some(copy), Some(peer)) = (&self.copy, self.peers.get_mut(&id)) {
            let chunks = Bits::of(copy.count(), |chunk| copy.has(chunk)).text();
            peer.told = copy.here();
            self.deeds.extend(bitfield(&chunks).map(|said| Deed::Say(id, said)));
        }
    }

    /// A connection is gone.
    pub fn part(&mut self, id: Id, now: Instant) {
        if self.peers.remove(&id).is_some() {
            self.ask(now);
        }
    }

    /// Somebody said something.
    pub fn hear(&mut self, id: Id, said: Said, now: Instant) {
        if !self.peers.contains_key(&id) {
            return;
        }
        match said {
            Said::Handshake(said) => self.opened(id, Address::from(&said.page), said.manifest.map(String::from), now),
            Said::Bitfield(said) => match Bits::read(&said.chunks) {
                Some(bits) if self.copy.as_ref().is_none_or(|copy| bits.fits(copy.count())) => self.has(id, bits),
                _ => self.leave(id, Parting::Dropped("it has what is not of the page")),
            },
            Said::Have(said) => self.got(id, number(said.chunk)),
            Said::Request(said) => self.wanted(id, number(said.chunk), now),
            Said::Reject(said) => self.denied(id, number(said.chunk)),
            Said::Bye => self.leave(id, Parting::Done),
        }
        self.ask(now);
    }

    fn opened(&mut self, id: Id, page: Address, manifest: Option<String>, now: Instant) {
        if page != self.page {
            return self.leave(id, Parting::Dropped("it is here for another page"));
        }
        let Some(peer) = self.peers.get_mut(&id) else { return };
        // It says it again: what was said to it may be lost.
        if std::mem::replace(&mut peer.opened, true)
            && now.saturating_duration_since(std::mem::replace(&mut peer.greeted, now)) >= GREETED
        {
            match peer.has {
                None if self.copy.is_some() => self.greet(id),
                _ => self.say_have(id),
            }
        }
        let Some(text) = manifest.filter(|_| self.copy.is_none() && self.refused.is_none()) else { return };
        match Manifest::read(&text, page, self.most) {
            Ok(manifest) => {
                self.copy = Some(Copy::new(manifest, text));
                for id in self.peers.keys().copied().collect::<Vec<_>>() {
                    self.say_have(id);
                }
                self.judge();
            }
            Err(Unfit::Another) => self.leave(id, Parting::Dropped("what it says is the manifest is not")),
            Err(Unfit::TooLarge(bytes)) => self.refuse(Refused::TooLarge(bytes)),
            Err(Unfit::Malformed(why)) => self.refuse(Refused::Malformed(why)),
        }
    }

    /// What was claimed before the manifest was known.
    fn judge(&mut self) {
        let Some(count) = self.copy.as_ref().map(Copy::count) else { return };
        let unfit = |peer: &Peer| peer.has.as_ref().is_some_and(|has| !has.fits(count));
        let liars: Vec<Id> = self.peers.iter().filter(|(_, peer)| unfit(peer)).map(|(id, _)| *id).collect();
        for id in liars {
            self.leave(id, Parting::Dropped("it has what is not of the page"));
        }
    }

    fn refuse(&mut self, why: Refused) {
        self.refused = Some(why);
        for id in self.peers.keys().copied().collect::<Vec<_>>() {
            self.leave(id, Parting::Done);
        }
    }

    fn has(&mut self, id: Id, bits: Bits) {
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.has = Some(bits);
        }
        self.part_if_done(id);
    }

    /// One more that it has. Through a pipe what it had before may be lost, and through any connection it may know the manifest before we do.
    fn got(&mut self, id: Id, chunk: u32) {
        let count = self.copy.as_ref().map_or(CHUNKS_MAX, Copy::count);
        if chunk >= count {
            return self.leave(id, Parting::Dropped("it got what is not of the page"));
        }
        let Some(peer) = self.peers.get_mut(&id) else { return };
        match &mut peer.has {
            Some(has) => has.set(chunk, true),
            None if self.copy.is_some() => peer.has = Some(Bits::of(count, |has| has == chunk)),
            // Said again with `bitfield`.
            None => (),
        }
        self.part_if_done(id);
    }

    /// Two who have all of it have nothing more to say.
    fn part_if_done(&mut self, id: Id) {
        if self.is_whole() && self.has_whole(id) {
            self.leave(id, Parting::Done);
        }
    }

    fn wanted(&mut self, id: Id, chunk: u32, now: Instant) {
        let here = self.copy.as_ref().is_some_and(|copy| copy.has(chunk));
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if !here {
            return self.deeds.push_back(Deed::Say(id, reject(chunk)));
        }
        peer.busy = now;
        if !peer.wants.contains(&chunk) {
            peer.wants.push_back(chunk);
        }
        if peer.wants.len() > WANTED_MAX {
            return self.leave(id, Parting::Dropped("it asks for more than it can take"));
        }
        self.serve(id);
    }

    fn serve(&mut self, id: Id) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        while peer.in_hand.len() < IN_HAND
            && let Some(chunk) = peer.wants.pop_front()
        {
            peer.in_hand.push_back(chunk);
            self.deeds.push_back(Deed::Send(id, chunk));
        }
    }

    /// The oldest chunk in hand is on its way to somebody.
    pub fn sent(&mut self, id: Id, now: Instant) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let size = peer.in_hand.pop_front().and_then(|chunk| Some(self.copy.as_ref()?.chunk(chunk)?.len()));
        let size = size.unwrap_or(0) as u64;
        (peer.sent, self.sent) = (peer.sent + size, self.sent + size);
        if peer.sent - peer.served.1 >= PLACE_BYTES {
            peer.served = (now, peer.sent);
        }
        self.serve(id);
    }

    /// Since when somebody takes next to nothing, where that is long enough to make room for another.
    pub fn idles(&self, id: Id, now: Instant) -> Option<Instant> {
        let since = self.peers.get(&id)?.served.0;
        (now.saturating_duration_since(since) >= PLACE).then_some(since)
    }

    fn denied(&mut self, id: Id, chunk: u32) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if !peer.answered(chunk) || peer.asked.remove(&chunk).is_none() {
            return;
        }
        if let Some(has) = &mut peer.has {
            has.set(chunk, false);
        }
        self.strike(id);
    }

    fn strike(&mut self, id: Id) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        peer.strikes = peer.strikes.saturating_add(1);
        if peer.strikes >= STRIKES {
            self.leave(id, Parting::Stalled);
        }
    }

    /// A chunk came.
    pub fn receive(&mut self, id: Id, message: &Bytes, now: Instant) {
        let (Some(peer), Some(copy)) = (self.peers.get_mut(&id), self.copy.as_mut()) else { return };
        let number = message.first_chunk().map(|number| u32::from_be_bytes(*number));
        let Some(chunk) = number.filter(|number| peer.answered(*number)) else {
            return self.leave(id, Parting::Dropped("it sends what was not asked for"));
        };
        let asked = peer.asked.remove(&chunk);
        peer.late.remove(&chunk);
        let bytes = message.slice(4..);
        let size = bytes.len() as u64;
        let Some(new) = copy.take(chunk, bytes) else {
            return self.leave(id, Parting::Dropped("it sends what is not of the page"));
        };
        (peer.received, self.received) = (peer.received + size, self.received + size);
        peer.strikes = 0;
        if asked.is_some_and(|asked| now.saturating_duration_since(asked) < PROMPT) {
            peer.window = (peer.window + 1).min(ASKED_MAX);
        }
        if new {
            self.tell(id, chunk);
        }
        self.ask(now);
    }

    /// Others hear of one more chunk here.
    fn tell(&mut self, from: Id, chunk: u32) {
        let whole = self.is_whole();
        if whole && self.copy.as_ref().is_some_and(|copy| copy.whole().is_none()) {
            return self.refuse(Refused::Malformed("its chunks are together not what it says"));
        }
        for id in self.peers.keys().copied().collect::<Vec<_>>() {
            let has_all = self.has_whole(id);
            let opened = self.peers.get(&id).is_some_and(|peer| peer.opened);
            if id != from && !has_all && opened {
                self.deeds.push_back(Deed::Say(id, have(chunk)));
            }
            self.part_if_done(id);
        }
    }

    /// Ends a connection from here.
    pub fn leave(&mut self, id: Id, parting: Parting) {
        if self.peers.remove(&id).is_some() {
            if !matches!(parting, Parting::Dropped(_)) {
                self.deeds.push_back(Deed::Say(id, Said::Bye));
            }
            self.deeds.push_back(Deed::Leave(id, parting));
        }
    }

    /// Time went by.
    pub fn tick(&mut self, now: Instant) {
        let since = |then: Instant| now.saturating_duration_since(then);
        for id in self.peers.keys().copied().collect::<Vec<_>>() {
            let Some(peer) = self.peers.get_mut(&id) else { continue };
            if !peer.opened && since(peer.since) >= PATIENCE {
                self.leave(id, Parting::Silent);
                continue;
            }
            let overdue = |(_, asked): &(&u32, &Instant)| since(**asked) >= PATIENCE;
            let overdue: Vec<u32> = peer.asked.iter().filter(overdue).map(|(chunk, _)| *chunk).collect();
            if overdue.is_empty() {
                if !peer.asked.is_empty() || !peer.wants.is_empty() || !peer.in_hand.is_empty() {
                    peer.busy = now;
                } else if since(peer.busy) >= IDLE {
                    self.leave(id, Parting::Idle);
                }
                continue;
            }
            for chunk in &overdue {
                peer.asked.remove(chunk);
                peer.late.insert(*chunk, now);
            }
            peer.window = (peer.window / 2).max(1);
            // What was asked for together lies together.
            self.strike(id);
        }
        self.ask(now);
    }

    /// Asks for what is missing: what the fewest have first, by chance among equals.
    fn ask(&mut self, now: Instant) {
        let free = self.peers.values().any(|peer| peer.asked.len() < peer.window);
        let wanted = |copy: &&Copy| free && !copy.is_whole() && self.refused.is_none();
        let Some(copy) = self.copy.as_ref().filter(wanted) else { return };
        let mut missing: Vec<Missing> = Vec::new();
        for chunk in (0..copy.count()).filter(|chunk| !copy.has(*chunk)) {
            let have = self.peers.values().filter(|peer| peer.gives(chunk)).count();
            let asked: Vec<Instant> = self.peers.values().filter_map(|peer| peer.asked.get(&chunk).copied()).collect();
            let slow = asked.iter().all(|asked| now.saturating_duration_since(*asked) >= SECOND);
            missing.push(Missing { asked: asked.len(), have, chance: self.chance.u32(..), chunk, slow });
        }
        let most = if missing.iter().all(|one| one.asked > 0) { AT_ONCE } else { 1 };
        missing.sort_unstable();
        // Whoever has only some is asked before whoever has all: the first holder gives each chunk about once.
        let mut order: Vec<Id> = self.peers.keys().copied().collect();
        order.sort_by_key(|id| self.has_whole(*id));
        let mut asking = true;
        while std::mem::take(&mut asking) {
            for id in &order {
                let Some(peer) = self.peers.get_mut(id).filter(|peer| peer.asked.len() < peer.window) else { continue };
                let fit = |one: &&mut Missing| one.asked < most && one.slow && peer.may_be_asked(one.chunk, now);
                let Some(one) = missing.iter_mut().find(fit) else { continue };
                (one.asked, one.slow) = (one.asked + 1, false);
                peer.ask(one.chunk, now);
                self.deeds.push_back(Deed::Say(*id, request(one.chunk)));
                asking = true;
            }
        }
    }
}

/// What comes first is asked first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    asked: usize,
    have: usize,
    chance: u32,
    chunk: u32,
    /// Nobody who was asked is about to give it.
    slow: bool,
}

impl Peer {
    fn gives(&self, chunk: u32) -> bool {
        self.opened && self.has.as_ref().is_some_and(|has| has.has(chunk))
    }

    /// What it let lie is left to others for a while.
    fn may_be_asked(&self, chunk: u32, now: Instant) -> bool {
        let gave_up = |late: &Instant| now.saturating_duration_since(*late) < PATIENCE;
        self.gives(chunk) && !self.asked.contains_key(&chunk) && !self.late.get(&chunk).is_some_and(gave_up)
    }

    fn ask(&mut self, chunk: u32, now: Instant) {
        self.asked.insert(chunk, now);
        *self.owed.entry(chunk).or_default() += 1;
        self.busy = now;
    }

    /// Whether an answer about this chunk was due.
    fn answered(&mut self, chunk: u32) -> bool {
        let Some(owed) = self.owed.get_mut(&chunk) else { return false };
        *owed -= 1;
        if *owed == 0 {
            self.owed.remove(&chunk);
        }
        true
    }
}

#[cfg(test)]
mod tests;
