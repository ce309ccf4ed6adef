//! A visitor (PAGE-5 to PAGE-16): pages that are held or fetched, and connections with other visitors about them. It runs in one task;
//! the socket and each connection have tasks of their own, which send events to it.
mod links;

use super::address::Address;
use super::chunk_store::ChunkStore;
use super::link::{COMMANDS, LinkCommand, LinkEvent, Path};
use super::manifest::NewPage;
use super::message::{ClientMessage, PeerMessage, ServerMessage, Signal, frame, visitor};
use super::socket::{self, Outgoing, SocketEvent};
use super::state::Page;
use super::swarm::{Action, DisconnectReason, PeerId};
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use crate::stop::Stop;
use parley_protocol::shared::{LinkId, PipeName, VisitorId};
use parley_protocol::visit::{Error, Undelivered, UndeliveredReason, Welcome};
use parley_protocol::{bounded::OutOfBounds, codes::Code};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use url::Url;

/// The resolution of timeouts.
const TICK: Duration = Duration::from_millis(100);
/// The capacity of the channels of events. When they are full, messages wait in the network.
const CAPACITY: usize = 64;
/// A visitor is contacted again after `BUSY` if it serves its limit of readers, and after `LATER` if it lacks the page, cannot be reached or
/// had nothing new.
const BUSY: Duration = Duration::from_secs(3);
const LATER: Duration = Duration::from_secs(15);
/// How long the last messages may take.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// A visitor of one host.
pub struct Visitor {
    /// The pages that are held and fetched.
    pub pages: BTreeMap<Address, Page>,
    /// The connections that are open or being opened.
    pub links: BTreeMap<PeerId, Link>,
    /// The welcome of the last socket, once there was one.
    pub welcome: Option<Welcome>,
    /// Whether the socket is open.
    pub connected: bool,
    host: Url,
    connect: ConnectOptions,
    memory: Option<u64>,
    outgoing: mpsc::Sender<Outgoing>,
    socket_events: mpsc::Receiver<SocketEvent>,
    link_events: mpsc::Receiver<(PeerId, LinkEvent)>,
    link_sender: mpsc::Sender<(PeerId, LinkEvent)>,
    tasks: JoinSet<()>,
    last_id: PeerId,
    last_message: u64,
}

/// A connection about one page.
pub struct Link {
    /// The page.
    pub page: Address,
    /// The other visitor.
    pub visitor: String,
    /// How its messages travel.
    pub path: Path,
    name: LinkId,
    /// Whether this visitor is the reader, which began the connection.
    outbound: bool,
    /// Whether the holder answered the offer.
    answered: bool,
    commands: mpsc::Sender<LinkCommand>,
    /// The name of the pipe on the stream relay, if the connection uses one.
    pipe: Option<PipeName>,
    /// When opening the connection is given up, and when the handshake is repeated on a pipe.
    deadline: Instant,
    repeat_at: Instant,
}

impl Visitor {
    /// Opens the socket to a host. All pages together have at most `memory` bytes, and no more than the service allows.
    pub fn new(host: &Url, connect: &ConnectOptions, memory: Option<u64>) -> Result<Self, ConnectionEnd> {
        let (outgoing, messages) = mpsc::channel(COMMANDS);
        let (events, socket_events) = mpsc::channel(CAPACITY);
        let (link_sender, link_events) = mpsc::channel(CAPACITY);
        let mut tasks = JoinSet::new();
        tasks.spawn(socket::keep(socket::visitor_url(host)?, connect.clone(), messages, events));
        Ok(Self {
            pages: BTreeMap::new(),
            links: BTreeMap::new(),
            welcome: None,
            connected: false,
            host: host.clone(),
            connect: connect.clone(),
            memory,
            outgoing,
            socket_events,
            link_events,
            link_sender,
            tasks,
            last_id: 0,
            last_message: 0,
        })
    }

    /// Runs until `on_change` returns an exit code, the user stops the command, or the service refuses it. `on_change` is called whenever
    /// something may have changed.
    pub async fn run(
        &mut self,
        stop: &mut Stop,
        mut on_change: impl FnMut(&mut Self) -> anyhow::Result<Option<Exit>>,
    ) -> anyhow::Result<Exit> {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(event) = self.socket_events.recv() => if let Some(exit) = self.on_socket_event(event) { return Ok(exit) },
                Some((id, event)) = self.link_events.recv() => self.on_link_event(id, event),
                _ = tick.tick() => self.tick(),
                () = stop.requested() => return Ok(Exit::Done),
            }
            self.run_actions();
            if let Some(exit) = on_change(self)? {
                return Ok(exit);
            }
        }
    }

    /// Holds a page that was made on this machine.
    pub fn hold(&mut self, made: NewPage) {
        let (page, most) = (made.page, made.manifest.bytes);
        let mut state = Page::new(page, most, Instant::now());
        state.swarm.store = Some(ChunkStore::from_new_page(made));
        self.pages.insert(page, state);
        self.announce(page);
    }

    /// Fetches a page, and holds it from then on.
    pub fn fetch(&mut self, page: Address) {
        let most = self.welcome.as_ref().map_or(u64::MAX, |welcome| welcome.limits.page_bytes.get());
        self.pages.insert(page, Page::new(page, most, Instant::now()));
    }

    /// The most bytes of all pages together.
    pub fn memory(&self) -> u64 {
        let allowed = self.welcome.as_ref().map_or(u64::MAX, |welcome| welcome.limits.memory_bytes.get());
        self.memory.map_or(allowed, |memory| memory.min(allowed))
    }

    /// The open connections about a page.
    pub fn peers(&self, page: Address) -> impl Iterator<Item = (&PeerId, &Link)> {
        self.links.iter().filter(move |(_, link)| link.page == page && link.path != Path::Connecting)
    }

    /// Leaves all peers and closes the socket.
    pub async fn leave(mut self) {
        for link in self.links.values() {
            let bye = serde_json::to_string(&PeerMessage::Bye).map(LinkCommand::Text);
            let _full = bye.map(|bye| link.commands.try_send(bye));
            let _full = link.commands.try_send(LinkCommand::Close);
        }
        self.links.clear();
        drop((self.outgoing, self.socket_events));
        // Events are not read any more: a task that waits to send one would not end.
        self.link_events.close();
        while self.link_events.try_recv().is_ok() {}
        let _late = timeout(LEAVE_TIMEOUT, async { while self.tasks.join_next().await.is_some() {} }).await;
    }

    fn send(&self, message: ClientMessage) {
        // A full channel discards the message: it is sent again on the next socket, or asked for again.
        let _slow = self.outgoing.try_send(Outgoing::ToService(message));
    }

    /// Sends a signal to another visitor. Its id names the connection, if there is one, so that `undelivered` is matched to it.
    fn signal(&mut self, to: &str, id: Option<PeerId>, signal: Signal) {
        // A message's id has at most 24 characters (DIR-3).
        self.last_message = (self.last_message + 1) % 1000;
        let id = match id {
            None => format!("none.{}", self.last_message),
            Some(id) => format!("{id}.{}", self.last_message),
        };
        let _slow = self.outgoing.try_send(Outgoing::ToVisitor(to.to_owned(), id, signal));
    }

    fn on_socket_event(&mut self, event: SocketEvent) -> Option<Exit> {
        let now = Instant::now();
        match event {
            SocketEvent::Connected(welcome) => {
                self.connected = true;
                self.welcome = Some(welcome);
                for page in self.pages.keys().copied().collect::<Vec<_>>() {
                    self.pages.entry(page).and_modify(|state| {
                        state.forget();
                        state.ask_at_once(now);
                    });
                    self.announce(page);
                }
            }
            SocketEvent::Disconnected(why) => {
                self.connected = false;
                self.pages.values_mut().for_each(Page::forget);
                eprintln!("parley: {why}; reconnecting");
            }
            SocketEvent::Failed(end) => return Some(end.report()),
            SocketEvent::Message(message) => self.on_message(message, now),
            SocketEvent::Signal(from, signal) => self.on_signal(&from, signal, now),
        }
        None
    }

    fn on_message(&mut self, message: ServerMessage, now: Instant) {
        match message {
            ServerMessage::Holders(answer) => {
                if let Some(state) = self.pages.get_mut(&Address::from(&answer.page)) {
                    state.add_holders(&answer.holders);
                }
            }
            ServerMessage::Count(count) => {
                if let Some(state) = self.pages.get_mut(&Address::from(&count.page)) {
                    state.count = Some(count);
                }
            }
            ServerMessage::Visitors(count) => {
                if let Some(welcome) = &mut self.welcome {
                    welcome.visitors = count.visitors;
                }
            }
            ServerMessage::Pipe(pipe) => self.open_pipe(pipe.pipe, pipe.token),
            ServerMessage::Undelivered(message) => self.on_undelivered(&message, now),
            ServerMessage::Error(error) => self.on_error(&error, now),
            _ => {}
        }
    }

    fn on_undelivered(&mut self, Undelivered { to, id, reason }: &Undelivered, now: Instant) {
        let Some(id) = id.split('.').next().and_then(|id| id.parse().ok()) else { return };
        let connecting = |link: &&Link| *link.visitor == **to && link.path == Path::Connecting;
        let Some(link) = self.links.get(&id).filter(connecting) else { return };
        if let Some(state) = self.pages.get_mut(&link.page) {
            if *reason == UndeliveredReason::Unknown { state.remove_holder(to) } else { state.back_off(to, now + BUSY) }
        }
        self.close(id);
    }

    fn on_error(&mut self, Error { code, r#ref, .. }: &Error, now: Instant) {
        let page = r#ref.as_ref().and_then(|page| page.parse::<Address>().ok());
        let Some(state) = page.and_then(|page| self.pages.get_mut(&page)) else { return };
        if matches!(Code::named(code), Some(Code::TooManyPageRequests | Code::PodFull)) {
            return state.pause_until(now + LATER);
        }
        state.refused = Some(format!("the service refused: {code}"));
    }

    /// Announces to the service which part of a page is present.
    fn announce(&mut self, page: Address) {
        let Some(state) = self.pages.get_mut(&page).filter(|_| self.connected) else { return };
        let Some(whole) = state.next_announcement(Instant::now()) else { return };
        let bytes = state.swarm.store.as_ref().map_or(0, |store| store.manifest.bytes);
        // A page of which a chunk is present has at least one byte.
        let bytes = NonZeroU64::new(bytes).unwrap_or(NonZeroU64::MIN);
        self.send(ClientMessage::Announce(visitor::Announce { page: page.into(), whole, bytes }));
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.on_tick(now);
        for page in self.pages.keys().copied().collect::<Vec<_>>() {
            if let Some(state) = self.pages.get_mut(&page) {
                state.swarm.tick(now);
            }
            self.find_holders(page, now);
        }
    }

    /// Connects to holders of a page, and asks the service for more of them.
    fn find_holders(&mut self, page: Address, now: Instant) {
        let Some(most) =
            self.welcome.as_ref().filter(|_| self.connected).map(|welcome| welcome.limits.max_holders.get())
        else {
            return;
        };
        let Some(state) = self.pages.get_mut(&page).filter(|state| state.is_wanted()) else { return };
        let with: Vec<String> =
            self.links.values().filter(|link| link.page == page).map(|link| link.visitor.clone()).collect();
        let outbound = self.links.values().filter(|link| link.page == page && link.outbound).count();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut chosen = Vec::new();
        while outbound + chosen.len() < most {
            let busy = |visitor: &str| with.iter().chain(&chosen).any(|other| other == visitor);
            let Some(visitor) = state.choose_holder(now, busy) else { break };
            chosen.push(visitor);
        }
        let too_few = outbound + chosen.len() < most;
        if let Some(exclude) = state.next_subscribe(now, too_few, &with)
            && let Ok(ask) = subscribe(page, &exclude)
        {
            self.send(ask);
        }
        for visitor in chosen {
            self.connect(page, visitor, now);
        }
    }

    /// Carries out the actions of the swarms.
    fn run_actions(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        for page in self.pages.keys().copied().collect::<Vec<_>>() {
            while let Some(deed) = self.pages.get_mut(&page).and_then(|state| state.swarm.next_action()) {
                self.run_action(page, deed);
            }
            self.check_memory(page);
            self.announce(page);
        }
    }

    fn run_action(&mut self, page: Address, deed: Action) {
        match deed {
            Action::SendMessage(id, said) => {
                if let Ok(text) = serde_json::to_string(&said) {
                    self.command(id, LinkCommand::Text(text));
                }
            }
            Action::SendChunk(id, chunk) => {
                let bytes = self.pages.get(&page).and_then(|state| state.swarm.store.as_ref()?.chunk(chunk));
                if let Some(bytes) = bytes.map(|bytes| frame(chunk, bytes)) {
                    self.command(id, LinkCommand::Chunk(bytes));
                }
            }
            Action::Disconnect(id, parting) => {
                let now = Instant::now();
                if let Some(link) = self.links.get(&id)
                    && let Some(state) = self.pages.get_mut(&page)
                {
                    match parting {
                        DisconnectReason::Misbehaved(why) => {
                            eprintln!(
                                "parley: {} violated the protocol and is not contacted again: {why}",
                                link.visitor
                            );
                            state.banned.insert(link.visitor.clone());
                        }
                        DisconnectReason::NoHandshake | DisconnectReason::Stalled => {
                            state.back_off(&link.visitor, now + LATER);
                        }
                        DisconnectReason::Idle | DisconnectReason::NotNeeded => {
                            state.back_off(&link.visitor, now + BUSY);
                        }
                    }
                }
                self.close(id);
            }
        }
    }

    /// Refuses a page that does not fit into memory beside the others.
    fn check_memory(&mut self, page: Address) {
        let bytes = |state: &Page| state.swarm.store.as_ref().map_or(0, |store| store.manifest.bytes);
        let all: u64 = self.pages.values().filter(|state| state.refusal().is_none()).map(bytes).sum();
        let most = self.memory();
        let Some(state) = self.pages.get_mut(&page).filter(|state| all > most && state.is_wanted()) else { return };
        state.refused = Some(format!("all pages together would have {all} bytes, of {most} (PAGES_TOO_LARGE)"));
        self.send(ClientMessage::Leave(visitor::Leave { page: page.into() }));
        for id in self.links.iter().filter(|(_, link)| link.page == page).map(|(id, _)| *id).collect::<Vec<_>>() {
            self.close(id);
        }
    }
}

/// Subscribes to a page, and excludes known visitors from the answer.
fn subscribe(page: Address, exclude: &[String]) -> Result<ClientMessage, OutOfBounds> {
    let exclude = exclude.iter().map(|visitor| visitor.parse()).collect::<Result<Vec<VisitorId>, _>>()?;
    let exclude = if exclude.is_empty() { None } else { Some(exclude.try_into()?) };
    Ok(ClientMessage::Subscribe(visitor::Subscribe { page: page.into(), exclude }))
}
