//! Connections with other visitors: offers, answers and refusals (PAGE-14), and the stream relay where they come to nothing (PAGE-15).
use super::{BUSY, LATER, Link, Visitor};
use crate::page::address::Address;
use crate::page::link::direct::Role;
use crate::page::link::{News, Order, Teller, WAITING, Way, direct, pipe};
use crate::page::message::{Ask, Refusal, Said, Signal};
use crate::page::state::Page;
use crate::page::swarm::{Id, Parting};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
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
        let of = |link: &&Link| link.visitor == from && link.name == signal.link();
        let known = self.links.iter().find(|(_, link)| of(link)).map(|(id, _)| *id);
        match (signal, known) {
            (Signal::Offer { link, page, sdp }, None) => self.offered(from, link, page, sdp, now),
            // Nothing came of the first: this one goes through TURN.
            (Signal::Offer { link, page, sdp }, Some(id))
                if self.links.get(&id).is_some_and(|link| !link.ours && link.way == Way::Connecting) =>
            {
                self.end(id);
                self.offered(from, link, page, sdp, now);
            }
            (Signal::Answer { sdp, .. }, Some(id)) => {
                if let Some(link) = self.links.get_mut(&id).filter(|link| link.ours && !link.answered) {
                    (link.answered, link.until) = (true, now + DIRECT);
                    self.order(id, Order::Answer(sdp));
                }
            }
            (Signal::Candidate { candidate, .. }, Some(id)) => self.order(id, Order::Candidate(candidate)),
            (Signal::Refuse { why, .. }, Some(id)) => {
                let Some(link) = self.links.get(&id).filter(|link| link.ours && link.way == Way::Connecting) else {
                    return;
                };
                if let Some(state) = self.pages.get_mut(&link.page) {
                    match why {
                        Refusal::Busy => state.rest(from, now + BUSY.mul_f64(1.0 + fastrand::f64())),
                        Refusal::None => state.rest(from, now + LATER),
                        Refusal::Double => {}
                    }
                }
                self.end(id);
            }
            (Signal::Pipe { link, page, pipe }, known) => self.piped(from, link, page, pipe, known, now),
            _ => {}
        }
    }

    /// Somebody wants to read a page from here.
    fn offered(&mut self, from: &str, name: String, page: Address, sdp: String, now: Instant) {
        let met = self.links.iter().find(|(_, link)| link.page == page && link.visitor == from);
        let met = met.map(|(id, link)| (*id, link.ours && link.way == Way::Connecting));
        let own = self.arrived.as_ref().map(|arrived| arrived.visitor.as_str());
        let refusal = match met {
            // Both offered: the one of the lower id stays.
            Some((_, true)) if own.is_some_and(|own| own < from) => Some(Refusal::Double),
            _ => self.refusal(page, met.map(|(id, _)| id), now),
        };
        if let Some(why) = refusal {
            return self.signal(from, Id::MAX, Signal::Refuse { link: name, why });
        }
        if let Some((id, _)) = met {
            self.end(id);
        }
        let (id, orders) = self.link(page, from.to_owned(), name, false, now + ANSWERED);
        let servers = self.arrived.as_ref().map(|arrived| arrived.ice_servers.clone()).unwrap_or_default();
        self.tasks.spawn(direct::run(Role::Answers(sdp), servers, orders, self.teller(id)));
    }

    /// Why nobody else is served now, but for whom is served by `instead`. Whoever takes next to nothing makes room.
    fn refusal(&mut self, page: Address, instead: Option<Id>, now: Instant) -> Option<Refusal> {
        let here =
            self.pages.get(&page).and_then(|state| state.swarm.copy.as_ref()).is_some_and(|copy| copy.here() > 0);
        let served = self.links.iter().filter(|(id, link)| !link.ours && Some(**id) != instead).count();
        let most = self.arrived.as_ref().map_or(0, |arrived| arrived.limits.served);
        if !here {
            Some(Refusal::None)
        } else if served >= most && !self.make_room(now) {
            Some(Refusal::Busy)
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
    fn piped(&mut self, from: &str, name: String, page: Address, pipe: String, known: Option<Id>, now: Instant) {
        if let Some(known) = known {
            // The reader says when, and once.
            if self.links.get(&known).is_none_or(|link| link.ours || link.way != Way::Connecting || link.page != page) {
                return;
            }
            self.end(known);
        }
        if let Some(why) = self.refusal(page, None, now) {
            return self.signal(from, Id::MAX, Signal::Refuse { link: name, why });
        }
        let (id, _orders) = self.link(page, from.to_owned(), name, false, now + PIPE);
        if let Some(link) = self.links.get_mut(&id) {
            link.pipe = Some(pipe.clone());
        }
        self.ask(Ask::Pipe { pipe });
    }

    /// The service let a pipe be opened.
    pub(super) fn open_pipe(&mut self, pipe: String, token: String) {
        let waits = |link: &&mut Link| link.pipe.as_deref() == Some(&pipe) && link.way == Way::Connecting;
        let found = self.links.iter_mut().map(|(id, link)| (*id, link)).find(|(_, link)| waits(link));
        let Some((id, link)) = found else { return };
        let (sender, orders) = mpsc::channel(WAITING);
        link.orders = sender;
        let place = pipe::Place { host: self.host.clone(), reach: self.reach.clone(), pipe, token };
        self.tasks.spawn(pipe::run(place, orders, self.teller(id)));
    }

    fn link(
        &mut self,
        page: Address,
        visitor: String,
        name: String,
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
                    true => Signal::Offer { link: name, page, sdp },
                    false => Signal::Answer { link: name, sdp },
                };
                self.signal(&to, id, signal);
            }
            News::Candidate(candidate, mid) => {
                let (link, to) = (link.name.clone(), link.visitor.clone());
                self.signal(&to, id, Signal::Candidate { link, candidate, mid });
            }
            News::Open(way) => {
                (link.way, link.again) = (way, now + AGAIN);
                state.swarm.join(id, now);
            }
            News::Way(way) => link.way = way,
            News::Text(text) => match Said::read(&text) {
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
        let pipe = BASE64_URL_SAFE_NO_PAD.encode(fastrand::u128(..).to_be_bytes());
        let Some(link) = self.links.get(&id) else { return };
        let (name, page, to) = (link.name.clone(), link.page, link.visitor.clone());
        self.end(id);
        let (id, _orders) = self.link(page, to.clone(), name.clone(), true, now + PIPE);
        if let Some(link) = self.links.get_mut(&id) {
            link.pipe = Some(pipe.clone());
        }
        self.signal(&to, id, Signal::Pipe { link: name, page, pipe: pipe.clone() });
        self.ask(Ask::Pipe { pipe });
    }

    /// Asks somebody for a page.
    pub(super) fn offer(&mut self, page: Address, visitor: String, now: Instant) {
        let name = BASE64_URL_SAFE_NO_PAD.encode(fastrand::u64(..).to_be_bytes());
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
