//! Connections with other visitors: offers, answers and refusals (PAGE-14), and the stream relay where they come to nothing (PAGE-15).
use super::{BUSY, LATER, Link, Visitor};
use crate::page::address::Address;
use crate::page::link::direct::Role;
use crate::page::link::{News, Order, Teller, WAITING, Way, direct, pipe};
use crate::page::message::{Ask, RejectReason, Signal, link, link_of, visitor};
use crate::page::state::Page;
use crate::page::swarm::{Id, Parting};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parley_protocol::bounded::OutOfBounds;
use parley_protocol::decode;
use parley_protocol::shared::{LinkId, PipeName};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Whoever does not answer an offer by then is not there.
const ANSWER: Duration = Duration::from_secs(8);
/// Whoever was answered and is not connected by then takes the stream relay. TURN is tried from the beginning here, which takes a moment.
const DIRECT: Duration = Duration::from_secs(15);
/// Whoever answers waits for that long, and for the pipe.
const ANSWERED: Duration = Duration::from_secs(35);
/// Both are on the stream relay by then, or never.
const PIPE: Duration = Duration::from_secs(15);
/// What was said on a pipe is said again, until the other is there, and where something may have been lost.
const AGAIN: Duration = Duration::from_secs(1);

impl Visitor {
    pub(super) fn signalled(&mut self, from: &str, signal: Signal, now: Instant) {
        let of = |link: &&Link| link.visitor == from && link.name == *link_of(&signal);
        let known = self.links.iter().find(|(_, link)| of(link)).map(|(id, _)| *id);
        match (signal, known) {
            (Signal::Offer(offer), None) => self.offered(from, offer, now),
            // Nothing came of the first: this one goes through TURN.
            (Signal::Offer(offer), Some(id))
                if self.links.get(&id).is_some_and(|link| !link.ours && link.way == Way::Connecting) =>
            {
                self.end(id);
                self.offered(from, offer, now);
            }
            (Signal::Answer(link::Answer { sdp, .. }), Some(id)) => {
                if let Some(link) = self.links.get_mut(&id).filter(|link| link.ours && !link.answered) {
                    (link.answered, link.until) = (true, now + DIRECT);
                    self.order(id, Order::Answer(sdp.into()));
                }
            }
            (Signal::Candidate(link::Candidate { candidate, .. }), Some(id)) => {
                self.order(id, Order::Candidate(candidate.into()));
            }
            (Signal::Reject(link::Reject { reason, .. }), Some(id)) => {
                let Some(link) = self.links.get(&id).filter(|link| link.ours && link.way == Way::Connecting) else {
                    return;
                };
                if let Some(state) = self.pages.get_mut(&link.page) {
                    match reason {
                        RejectReason::Busy => state.rest(from, now + BUSY.mul_f64(1.0 + fastrand::f64())),
                        RejectReason::NotFound => state.rest(from, now + LATER),
                        RejectReason::Glare => {}
                    }
                }
                self.end(id);
            }
            (Signal::Pipe(pipe), known) => self.piped(from, pipe, known, now),
            _ => {}
        }
    }

    /// Somebody wants to read a page from here.
    fn offered(&mut self, from: &str, link::Offer { link: name, page, sdp }: link::Offer, now: Instant) {
        let page = Address::from(&page);
        let met = self.links.iter().find(|(_, link)| link.page == page && link.visitor == from);
        let met = met.map(|(id, link)| (*id, link.ours && link.way == Way::Connecting));
        let own = self.arrived.as_ref().map(|arrived| &*arrived.visitor);
        let refusal = match met {
            // Both offered: the one of the lower id stays.
            Some((_, true)) if own.is_some_and(|own| own < from) => Some(RejectReason::Glare),
            _ => self.refusal(page, met.map(|(id, _)| id), now),
        };
        if let Some(why) = refusal {
            return self.signal(from, Id::MAX, Signal::Reject(link::Reject { link: name, reason: why }));
        }
        if let Some((id, _)) = met {
            self.end(id);
        }
        let (id, orders) = self.link(page, from.to_owned(), name, false, now + ANSWERED);
        let servers = self.arrived.as_ref().map(|arrived| arrived.ice_servers.clone()).unwrap_or_default();
        self.tasks.spawn(direct::run(Role::Answers(sdp.into()), servers, orders, self.teller(id)));
    }

    /// Why nobody else is served now, but for whom is served by `instead`. Whoever takes next to nothing makes room.
    fn refusal(&mut self, page: Address, instead: Option<Id>, now: Instant) -> Option<RejectReason> {
        let here =
            self.pages.get(&page).and_then(|state| state.swarm.copy.as_ref()).is_some_and(|copy| copy.here() > 0);
        let served = self.links.iter().filter(|(id, link)| !link.ours && Some(**id) != instead).count();
        let most = self.arrived.as_ref().map_or(0, |arrived| arrived.limits.max_readers.get());
        if !here {
            Some(RejectReason::NotFound)
        } else if served as u64 >= most && !self.make_room(now) {
            Some(RejectReason::Busy)
        } else {
            None
        }
    }

    /// Ends the connection of whoever has taken next to nothing for the longest time.
    fn make_room(&mut self, now: Instant) -> bool {
        let idles = |(id, link): (&Id, &Link)| {
            let since = self.pages.get(&link.page)?.swarm.idles(*id, now).filter(|_| !link.ours)?;
            Some((since, *id, link.page))
        };
        let Some((_, id, page)) = self.links.iter().filter_map(idles).min_by_key(|(since, ..)| *since) else {
            return false;
        };
        if let Some(state) = self.pages.get_mut(&page) {
            state.swarm.leave(id, Parting::Idle);
        }
        true
    }

    /// Somebody found no direct way.
    fn piped(&mut self, from: &str, told: link::Pipe, known: Option<Id>, now: Instant) {
        let (name, page, pipe) = (told.link, Address::from(&told.page), told.pipe);
        if let Some(known) = known {
            // The reader says when, and once.
            if self.links.get(&known).is_none_or(|link| link.ours || link.way != Way::Connecting || link.page != page) {
                return;
            }
            self.end(known);
        }
        if let Some(why) = self.refusal(page, None, now) {
            return self.signal(from, Id::MAX, Signal::Reject(link::Reject { link: name, reason: why }));
        }
        let (id, _orders) = self.link(page, from.to_owned(), name, false, now + PIPE);
        if let Some(link) = self.links.get_mut(&id) {
            link.pipe = Some(pipe.clone());
        }
        self.ask(Ask::Pipe(visitor::Pipe { pipe }));
    }

    /// The service let a pipe be opened.
    pub(super) fn open_pipe(&mut self, pipe: PipeName, token: String) {
        let waits = |link: &&mut Link| link.pipe.as_ref() == Some(&pipe) && link.way == Way::Connecting;
        let found = self.links.iter_mut().map(|(id, link)| (*id, link)).find(|(_, link)| waits(link));
        let Some((id, link)) = found else { return };
        let (sender, orders) = mpsc::channel(WAITING);
        link.orders = sender;
        let place = pipe::Place { host: self.host.clone(), reach: self.reach.clone(), pipe: pipe.into(), token };
        self.tasks.spawn(pipe::run(place, orders, self.teller(id)));
    }

    fn link(
        &mut self,
        page: Address,
        visitor: String,
        name: LinkId,
        ours: bool,
        until: Instant,
    ) -> (Id, mpsc::Receiver<Order>) {
        self.made += 1;
        let (orders, ordered) = mpsc::channel(WAITING);
        let way = Way::Connecting;
        let link = Link { page, visitor, way, name, ours, answered: false, orders, pipe: None, until, again: until };
        self.links.insert(self.made, link);
        (self.made, ordered)
    }

    fn teller(&self, id: Id) -> Teller {
        Teller { id, to: self.tells.clone() }
    }

    pub(super) fn order(&mut self, id: Id, order: Order) {
        // Whoever takes nothing is left.
        if self.links.get(&id).is_some_and(|link| link.orders.try_send(order).is_err()) {
            self.end(id);
        }
    }

    /// A connection is over.
    pub(super) fn end(&mut self, id: Id) {
        if let Some(link) = self.links.remove(&id)
            && let Some(state) = self.pages.get_mut(&link.page)
        {
            let _full = link.orders.try_send(Order::End);
            state.swarm.part(id, Instant::now());
        }
    }

    pub(super) fn learn(&mut self, id: Id, news: News) {
        let now = Instant::now();
        let Some(link) = self.links.get_mut(&id) else { return };
        let Some(state) = self.pages.get_mut(&link.page) else { return };
        match news {
            News::Description(sdp) => {
                let (name, page, to) = (link.name.clone(), link.page, link.visitor.clone());
                let signal = match link.ours {
                    true => offer(name, page, &sdp),
                    false => answer(name, &sdp),
                };
                self.signal_if(&to, id, signal, now);
            }
            News::Candidate(told, mid) => {
                let (name, to) = (link.name.clone(), link.visitor.clone());
                self.signal_if(&to, id, candidate(name, &told, mid.as_deref()), now);
            }
            News::Open(way) => {
                (link.way, link.again) = (way, now + AGAIN);
                state.swarm.join(id, now);
            }
            News::Way(way) => link.way = way,
            News::Text(text) => match decode(text.as_bytes()) {
                Some(said) => state.swarm.hear(id, said, now),
                None => state.swarm.leave(id, Parting::Dropped("what it says is of no page")),
            },
            News::Binary(bytes) => {
                state.goes_on();
                state.swarm.receive(id, &bytes, now);
            }
            News::Sent => state.swarm.sent(id, now),
            News::Ended(why) => self.ended(id, &why, now),
        }
    }

    /// Sends what is within the bounds of the protocol; a description or a candidate that is not ends the connection.
    fn signal_if(&mut self, to: &str, id: Id, signal: Result<Signal, OutOfBounds>, now: Instant) {
        match signal {
            Ok(signal) => self.signal(to, id, signal),
            Err(why) => self.ended(id, &why.to_string(), now),
        }
    }

    /// A connection ended by itself.
    fn ended(&mut self, id: Id, why: &str, now: Instant) {
        let Some(link) = self.links.get(&id) else { return };
        if self.pages.get(&link.page).is_some_and(Page::is_wanted) {
            eprintln!("parley: {}: {why}", link.visitor);
        }
        self.give_up(id, now);
    }

    /// There is another way, or the other is left alone for a while.
    fn give_up(&mut self, id: Id, now: Instant) {
        let Some(link) = self.links.get(&id) else { return };
        if link.way == Way::Connecting && link.pipe.is_none() && link.ours && link.answered {
            return self.take_pipe(id, now);
        }
        if let Some(state) = self.pages.get_mut(&link.page) {
            state.rest(&link.visitor, now + LATER);
        }
        self.end(id);
    }

    /// No direct way was found: the stream relay carries it (PAGE-15).
    fn take_pipe(&mut self, id: Id, now: Instant) {
        // 16 bytes are a name of 22 characters.
        let Ok(pipe) = PipeName::try_from(BASE64_URL_SAFE_NO_PAD.encode(fastrand::u128(..).to_be_bytes())) else {
            return;
        };
        let Some(link) = self.links.get(&id) else { return };
        let (name, page, to) = (link.name.clone(), link.page, link.visitor.clone());
        self.end(id);
        let (id, _orders) = self.link(page, to.clone(), name.clone(), true, now + PIPE);
        if let Some(link) = self.links.get_mut(&id) {
            link.pipe = Some(pipe.clone());
        }
        self.signal(&to, id, Signal::Pipe(link::Pipe { link: name, page: page.into(), pipe: pipe.clone() }));
        self.ask(Ask::Pipe(visitor::Pipe { pipe }));
    }

    /// Asks somebody for a page.
    pub(super) fn offer(&mut self, page: Address, visitor: String, now: Instant) {
        // 8 bytes are a name of 11 characters.
        let Ok(name) = LinkId::try_from(BASE64_URL_SAFE_NO_PAD.encode(fastrand::u64(..).to_be_bytes())) else { return };
        let (id, orders) = self.link(page, visitor, name, true, now + ANSWER);
        let servers = self.arrived.as_ref().map(|arrived| arrived.ice_servers.clone()).unwrap_or_default();
        self.tasks.spawn(direct::run(Role::Offers, servers, orders, self.teller(id)));
    }

    /// Time went by for those who are not connected yet, or not heard.
    pub(super) fn remind(&mut self, now: Instant) {
        for id in self.links.keys().copied().collect::<Vec<_>>() {
            let Some(link) = self.links.get_mut(&id) else { continue };
            if link.way == Way::Connecting {
                if now >= link.until {
                    self.give_up(id, now);
                }
            } else if link.way == Way::Relay && now >= link.again {
                link.again = now + AGAIN;
                let Some(state) = self.pages.get_mut(&link.page) else { continue };
                match state.swarm.is_heard(id) {
                    true => state.swarm.refresh(id),
                    false => state.swarm.greet(id),
                }
            }
        }
    }
}

fn offer(link: LinkId, page: Address, sdp: &str) -> Result<Signal, OutOfBounds> {
    Ok(Signal::Offer(link::Offer { link, page: page.into(), sdp: sdp.parse()? }))
}

fn answer(link: LinkId, sdp: &str) -> Result<Signal, OutOfBounds> {
    Ok(Signal::Answer(link::Answer { link, sdp: sdp.parse()? }))
}

fn candidate(link: LinkId, candidate: &str, mid: Option<&str>) -> Result<Signal, OutOfBounds> {
    let mid = mid.map(str::parse).transpose()?;
    Ok(Signal::Candidate(link::Candidate { link, candidate: candidate.parse()?, mid }))
}
