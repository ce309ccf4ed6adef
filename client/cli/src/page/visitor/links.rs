//! Connections with other visitors: offers, answers and refusals (PAGE-14), and pipes on the stream relay where no path is found (PAGE-15).
use super::{BUSY, LATER, Link, Visitor};
use crate::page::address::Address;
use crate::page::link::direct::Role;
use crate::page::link::{COMMANDS, EventSender, LinkCommand, LinkEvent, Path, direct, pipe};
use crate::page::message::{ClientMessage, RejectReason, Signal, link, link_of, visitor};
use crate::page::state::Page;
use crate::page::swarm::{DisconnectReason, PeerId};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parley_protocol::bounded::OutOfBounds;
use parley_protocol::decode;
use parley_protocol::shared::{LinkId, PipeName};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long a visitor may take to answer an offer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);
/// How long a connection may take after the answer, before a pipe is used. TURN candidates are tried from the beginning, which takes a moment.
const PATH_TIMEOUT: Duration = Duration::from_secs(15);
/// How long the answering side opens for the connection, and for the pipe.
const ANSWERED_TIMEOUT: Duration = Duration::from_secs(35);
/// How long both sides may take to open a pipe.
const PIPE_TIMEOUT: Duration = Duration::from_secs(15);
/// How often the handshake or the bitfield is repeated on a pipe, where messages may be lost.
const REPEAT_INTERVAL: Duration = Duration::from_secs(1);

impl Visitor {
    pub(super) fn on_signal(&mut self, from: &str, signal: Signal, now: Instant) {
        let of = |link: &&Link| link.visitor == from && link.name == *link_of(&signal);
        let known = self.links.iter().find(|(_, link)| of(link)).map(|(id, _)| *id);
        match (signal, known) {
            (Signal::Offer(offer), None) => self.on_offer(from, offer, now),
            // The first offer failed; the second uses TURN.
            (Signal::Offer(offer), Some(id))
                if self.links.get(&id).is_some_and(|link| !link.outbound && link.path == Path::Connecting) =>
            {
                self.close(id);
                self.on_offer(from, offer, now);
            }
            (Signal::Answer(link::Answer { sdp, .. }), Some(id)) => {
                if let Some(link) = self.links.get_mut(&id).filter(|link| link.outbound && !link.answered) {
                    (link.answered, link.deadline) = (true, now + PATH_TIMEOUT);
                    self.command(id, LinkCommand::Answer(sdp.into()));
                }
            }
            (Signal::Candidate(link::Candidate { candidate, .. }), Some(id)) => {
                self.command(id, LinkCommand::Candidate(candidate.into()));
            }
            (Signal::Reject(link::Reject { reason, .. }), Some(id)) => {
                let Some(link) = self.links.get(&id).filter(|link| link.outbound && link.path == Path::Connecting)
                else {
                    return;
                };
                if let Some(state) = self.pages.get_mut(&link.page) {
                    match reason {
                        RejectReason::Busy => state.back_off(from, now + BUSY.mul_f64(1.0 + fastrand::f64())),
                        RejectReason::NotFound => state.back_off(from, now + LATER),
                        RejectReason::Glare => {}
                    }
                }
                self.close(id);
            }
            (Signal::Pipe(pipe), known) => self.on_pipe_request(from, pipe, known, now),
            _ => {}
        }
    }

    /// Handles the offer of a reader.
    fn on_offer(&mut self, from: &str, link::Offer { link: name, page, sdp }: link::Offer, now: Instant) {
        let page = Address::from(&page);
        let existing = self.links.iter().find(|(_, link)| link.page == page && link.visitor == from);
        let existing = existing.map(|(id, link)| (*id, link.outbound && link.path == Path::Connecting));
        let own = self.welcome.as_ref().map(|welcome| &*welcome.visitor);
        let refusal = match existing {
            // Both visitors sent an offer: the offer of the visitor with the lower id is used.
            Some((_, true)) if own.is_some_and(|own| own < from) => Some(RejectReason::Glare),
            _ => self.refusal(page, existing.map(|(id, _)| id), now),
        };
        if let Some(why) = refusal {
            return self.signal(from, None, Signal::Reject(link::Reject { link: name, reason: why }));
        }
        if let Some((id, _)) = existing {
            self.close(id);
        }
        let (id, commands) = self.link(page, from.to_owned(), name, false, now + ANSWERED_TIMEOUT);
        let servers = self.welcome.as_ref().map(|welcome| welcome.ice_servers.clone()).unwrap_or_default();
        self.tasks.spawn(direct::run(Role::Answers(sdp.into()), servers, commands, self.event_sender(id)));
    }

    /// Why a reader is rejected, if it is. `instead` is a connection that the reader replaces. A slow reader may lose its place to a new one.
    fn refusal(&mut self, page: Address, instead: Option<PeerId>, now: Instant) -> Option<RejectReason> {
        let here =
            self.pages.get(&page).and_then(|state| state.swarm.store.as_ref()).is_some_and(|store| store.present() > 0);
        let served = self.links.iter().filter(|(id, link)| !link.outbound && Some(**id) != instead).count();
        let most = self.welcome.as_ref().map_or(0, |welcome| welcome.limits.max_readers.get());
        if !here {
            Some(RejectReason::NotFound)
        } else if served as u64 >= most && !self.make_room(now) {
            Some(RejectReason::Busy)
        } else {
            None
        }
    }

    /// Disconnects the reader that has taken too little for the longest time. Returns whether there is one.
    fn make_room(&mut self, now: Instant) -> bool {
        let slow = |(id, link): (&PeerId, &Link)| {
            let since = self.pages.get(&link.page)?.swarm.slow_since(*id, now).filter(|_| !link.outbound)?;
            Some((since, *id, link.page))
        };
        let Some((_, id, page)) = self.links.iter().filter_map(slow).min_by_key(|(since, ..)| *since) else {
            return false;
        };
        if let Some(state) = self.pages.get_mut(&page) {
            state.swarm.disconnect(id, DisconnectReason::Idle);
        }
        true
    }

    /// Handles the request of a reader that found no direct path.
    fn on_pipe_request(&mut self, from: &str, request: link::Pipe, known: Option<PeerId>, now: Instant) {
        let (name, page, pipe) = (request.link, Address::from(&request.page), request.pipe);
        if let Some(known) = known {
            // Only the reader may ask for a pipe, and only once.
            if self
                .links
                .get(&known)
                .is_none_or(|link| link.outbound || link.path != Path::Connecting || link.page != page)
            {
                return;
            }
            self.close(known);
        }
        if let Some(why) = self.refusal(page, None, now) {
            return self.signal(from, None, Signal::Reject(link::Reject { link: name, reason: why }));
        }
        let (id, _orders) = self.link(page, from.to_owned(), name, false, now + PIPE_TIMEOUT);
        if let Some(link) = self.links.get_mut(&id) {
            link.pipe = Some(pipe.clone());
        }
        self.send(ClientMessage::Pipe(visitor::Pipe { pipe }));
    }

    /// Opens the connection to the stream relay, with the token of the service.
    pub(super) fn open_pipe(&mut self, pipe: PipeName, token: String) {
        let opens = |link: &&mut Link| link.pipe.as_ref() == Some(&pipe) && link.path == Path::Connecting;
        let found = self.links.iter_mut().map(|(id, link)| (*id, link)).find(|(_, link)| opens(link));
        let Some((id, link)) = found else { return };
        let (sender, commands) = mpsc::channel(COMMANDS);
        link.commands = sender;
        let endpoint =
            pipe::Endpoint { host: self.host.clone(), connect: self.connect.clone(), pipe: pipe.into(), token };
        self.tasks.spawn(pipe::run(endpoint, commands, self.event_sender(id)));
    }

    fn link(
        &mut self,
        page: Address,
        visitor: String,
        name: LinkId,
        outbound: bool,
        deadline: Instant,
    ) -> (PeerId, mpsc::Receiver<LinkCommand>) {
        self.last_id += 1;
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let path = Path::Connecting;
        let link = Link {
            page,
            visitor,
            path,
            name,
            outbound,
            answered: false,
            commands,
            pipe: None,
            deadline,
            repeat_at: deadline,
        };
        self.links.insert(self.last_id, link);
        (self.last_id, receiver)
    }

    fn event_sender(&self, id: PeerId) -> EventSender {
        EventSender { id, to: self.link_sender.clone() }
    }

    pub(super) fn command(&mut self, id: PeerId, command: LinkCommand) {
        // A connection whose queue is full is closed.
        if self.links.get(&id).is_some_and(|link| link.commands.try_send(command).is_err()) {
            self.close(id);
        }
    }

    /// Closes a connection.
    pub(super) fn close(&mut self, id: PeerId) {
        if let Some(link) = self.links.remove(&id)
            && let Some(state) = self.pages.get_mut(&link.page)
        {
            let _full = link.commands.try_send(LinkCommand::Close);
            state.swarm.remove_peer(id, Instant::now());
        }
    }

    pub(super) fn on_link_event(&mut self, id: PeerId, event: LinkEvent) {
        let now = Instant::now();
        let Some(link) = self.links.get_mut(&id) else { return };
        let Some(state) = self.pages.get_mut(&link.page) else { return };
        match event {
            LinkEvent::Description(sdp) => {
                let (name, page, to) = (link.name.clone(), link.page, link.visitor.clone());
                let signal = match link.outbound {
                    true => offer(name, page, &sdp),
                    false => answer(name, &sdp),
                };
                self.signal_valid(&to, id, signal, now);
            }
            LinkEvent::Candidate(candidate_line, mid) => {
                let (name, to) = (link.name.clone(), link.visitor.clone());
                self.signal_valid(&to, id, candidate(name, &candidate_line, mid.as_deref()), now);
            }
            LinkEvent::Open(path) => {
                (link.path, link.repeat_at) = (path, now + REPEAT_INTERVAL);
                state.swarm.add_peer(id, now);
            }
            LinkEvent::PathChanged(path) => link.path = path,
            LinkEvent::Text(text) => match decode(text.as_bytes()) {
                Some(message) => state.swarm.on_message(id, message, now),
                None => state.swarm.disconnect(id, DisconnectReason::Misbehaved("it sent an invalid message")),
            },
            LinkEvent::Binary(bytes) => {
                state.note_progress();
                state.swarm.on_chunk(id, &bytes, now);
            }
            LinkEvent::ChunkSent => state.swarm.chunk_sent(id, now),
            LinkEvent::Closed(why) => self.on_closed(id, &why, now),
        }
    }

    /// Sends a signal within the limits of the protocol; a description or candidate beyond them closes the connection.
    fn signal_valid(&mut self, to: &str, id: PeerId, signal: Result<Signal, OutOfBounds>, now: Instant) {
        match signal {
            Ok(signal) => self.signal(to, Some(id), signal),
            Err(why) => self.on_closed(id, &why.to_string(), now),
        }
    }

    /// A connection was closed by its task.
    fn on_closed(&mut self, id: PeerId, why: &str, now: Instant) {
        let Some(link) = self.links.get(&id) else { return };
        if self.pages.get(&link.page).is_some_and(Page::is_wanted) {
            eprintln!("parley: {}: {why}", link.visitor);
        }
        self.give_up(id, now);
    }

    /// Uses a pipe where that may help; otherwise does not contact the visitor for a while.
    fn give_up(&mut self, id: PeerId, now: Instant) {
        let Some(link) = self.links.get(&id) else { return };
        if link.path == Path::Connecting && link.pipe.is_none() && link.outbound && link.answered {
            return self.take_pipe(id, now);
        }
        if let Some(state) = self.pages.get_mut(&link.page) {
            state.back_off(&link.visitor, now + LATER);
        }
        self.close(id);
    }

    /// No path was found: uses a pipe on the stream relay (PAGE-15).
    fn take_pipe(&mut self, id: PeerId, now: Instant) {
        // 16 bytes are a name of 22 characters.
        let Ok(pipe) = PipeName::try_from(BASE64_URL_SAFE_NO_PAD.encode(fastrand::u128(..).to_be_bytes())) else {
            return;
        };
        let Some(link) = self.links.get(&id) else { return };
        let (name, page, to) = (link.name.clone(), link.page, link.visitor.clone());
        self.close(id);
        let (id, _orders) = self.link(page, to.clone(), name.clone(), true, now + PIPE_TIMEOUT);
        if let Some(link) = self.links.get_mut(&id) {
            link.pipe = Some(pipe.clone());
        }
        self.signal(&to, Some(id), Signal::Pipe(link::Pipe { link: name, page: page.into(), pipe: pipe.clone() }));
        self.send(ClientMessage::Pipe(visitor::Pipe { pipe }));
    }

    /// Offers a connection to a holder.
    pub(super) fn connect(&mut self, page: Address, visitor: String, now: Instant) {
        // 8 bytes are a name of 11 characters.
        let Ok(name) = LinkId::try_from(BASE64_URL_SAFE_NO_PAD.encode(fastrand::u64(..).to_be_bytes())) else { return };
        let (id, commands) = self.link(page, visitor, name, true, now + ANSWER_TIMEOUT);
        let servers = self.welcome.as_ref().map(|welcome| welcome.ice_servers.clone()).unwrap_or_default();
        self.tasks.spawn(direct::run(Role::Offers, servers, commands, self.event_sender(id)));
    }

    /// Handles the timeouts of connections that are being opened, and repeats messages on pipes.
    pub(super) fn on_tick(&mut self, now: Instant) {
        for id in self.links.keys().copied().collect::<Vec<_>>() {
            let Some(link) = self.links.get_mut(&id) else { continue };
            if link.path == Path::Connecting {
                if now >= link.deadline {
                    self.give_up(id, now);
                }
            } else if link.path == Path::Relay && now >= link.repeat_at {
                link.repeat_at = now + REPEAT_INTERVAL;
                let Some(state) = self.pages.get_mut(&link.page) else { continue };
                match state.swarm.has_received_handshake(id) {
                    true => state.swarm.refresh_bitfield(id),
                    false => state.swarm.send_handshake(id),
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
