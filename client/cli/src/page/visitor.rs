//! A visitor (PAGE-5 to PAGE-16): pages that are held or fetched, and connections with others about them. One task; sockets and connections
//! have tasks of their own, which tell it what happens.
mod meeting;

use super::address::Address;
use super::copy::Copy;
use super::link::{News, Order, WAITING, Way};
use super::manifest::Made;
use super::message::{Ask, Said, Signal, Told, frame, visitor};
use super::socket::{self, Heard, Say};
use super::state::Page;
use super::swarm::{Deed, Id, Parting};
use crate::ending::Ending;
use crate::exit::Exit;
use crate::reach::Reach;
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

/// How exactly time is kept.
const TICK: Duration = Duration::from_millis(100);
/// Messages of all connections that wait to be heard: over it they wait in the network.
const HEARD: usize = 64;
/// Whoever serves as many as it may is asked again after this, whoever did not have it, could not be reached, or had nothing new, later.
const BUSY: Duration = Duration::from_secs(3);
const LATER: Duration = Duration::from_secs(15);
/// What is said last is gone by then.
const LEAVING: Duration = Duration::from_secs(2);

/// A visitor of one host.
pub struct Visitor {
    /// What is held and fetched.
    pub pages: BTreeMap<Address, Page>,
    /// Who is connected, or about to be.
    pub links: BTreeMap<Id, Link>,
    /// What the service said first, as long as it was there once.
    pub arrived: Option<Welcome>,
    /// The service is there.
    pub is_up: bool,
    host: Url,
    reach: Reach,
    memory: Option<u64>,
    says: mpsc::Sender<Say>,
    heard: mpsc::Receiver<Heard>,
    news: mpsc::Receiver<(Id, News)>,
    tells: mpsc::Sender<(Id, News)>,
    tasks: JoinSet<()>,
    made: Id,
    said: u64,
}

/// A connection about one page.
pub struct Link {
    /// About which.
    pub page: Address,
    /// With whom.
    pub visitor: String,
    /// How messages go.
    pub way: Way,
    name: LinkId,
    /// We are the reader who began it.
    ours: bool,
    /// There is an answer to our offer.
    answered: bool,
    orders: mpsc::Sender<Order>,
    /// On the stream relay, or about to be: its name.
    pipe: Option<PipeName>,
    /// Of the connection, or of saying again what comes first.
    until: Instant,
    again: Instant,
}

impl Visitor {
    /// Comes to a host; holds at most so many bytes, and what the service allows.
    pub fn new(host: &Url, reach: &Reach, memory: Option<u64>) -> Result<Self, Ending> {
        let (says, said) = mpsc::channel(WAITING);
        let (tell, heard) = mpsc::channel(HEARD);
        let (tells, news) = mpsc::channel(HEARD);
        let mut tasks = JoinSet::new();
        tasks.spawn(socket::keep(socket::address(host)?, reach.clone(), said, tell));
        Ok(Self {
            pages: BTreeMap::new(),
            links: BTreeMap::new(),
            arrived: None,
            is_up: false,
            host: host.clone(),
            reach: reach.clone(),
            memory,
            says,
            heard,
            news,
            tells,
            tasks,
            made: 0,
            said: 0,
        })
    }

    /// Goes on until `seen`, which is called whenever something may have changed, or the user ends it, or the service refuses.
    pub async fn run(
        &mut self,
        stop: &mut Stop,
        mut seen: impl FnMut(&mut Self) -> anyhow::Result<Option<Exit>>,
    ) -> anyhow::Result<Exit> {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(heard) = self.heard.recv() => if let Some(exit) = self.hear(heard) { return Ok(exit) },
                Some((id, news)) = self.news.recv() => self.learn(id, news),
                _ = tick.tick() => self.tick(),
                () = stop.told() => return Ok(Exit::Done),
            }
            self.act();
            if let Some(exit) = seen(self)? {
                return Ok(exit);
            }
        }
    }

    /// Holds a page that was made here.
    pub fn hold(&mut self, made: Made) {
        let (page, most) = (made.page, made.manifest.bytes);
        let mut state = Page::new(page, most, Instant::now());
        state.swarm.copy = Some(Copy::made(made));
        self.pages.insert(page, state);
        self.tell_page(page);
    }

    /// Fetches a page, and holds it from then on.
    pub fn read(&mut self, page: Address) {
        let most = self.arrived.as_ref().map_or(u64::MAX, |arrived| arrived.limits.page_bytes.get());
        self.pages.insert(page, Page::new(page, most, Instant::now()));
    }

    /// How many bytes all pages together may have.
    pub fn memory(&self) -> u64 {
        let allowed = self.arrived.as_ref().map_or(u64::MAX, |arrived| arrived.limits.memory_bytes.get());
        self.memory.map_or(allowed, |memory| memory.min(allowed))
    }

    /// Who is connected about a page.
    pub fn peers(&self, page: Address) -> impl Iterator<Item = (&Id, &Link)> {
        self.links.iter().filter(move |(_, link)| link.page == page && link.way != Way::Connecting)
    }

    /// Says goodbye to everybody.
    pub async fn leave(mut self) {
        for link in self.links.values() {
            let bye = serde_json::to_string(&Said::Bye).map(Order::Text);
            let _full = bye.map(|bye| link.orders.try_send(bye));
            let _full = link.orders.try_send(Order::End);
        }
        self.links.clear();
        drop((self.says, self.heard));
        // What is told meanwhile is not heard any more.
        self.news.close();
        while self.news.try_recv().is_ok() {}
        let _late = timeout(LEAVING, async { while self.tasks.join_next().await.is_some() {} }).await;
    }

    fn ask(&self, ask: Ask) {
        // Said again with the next socket, or asked for again.
        let _slow = self.says.try_send(Say::Ask(ask));
    }

    fn signal(&mut self, to: &str, id: Id, signal: Signal) {
        // A message's id has at most 24 characters (DIR-3).
        self.said = (self.said + 1) % 1000;
        let id = match id {
            Id::MAX => format!("none.{}", self.said),
            id => format!("{id}.{}", self.said),
        };
        let _slow = self.says.try_send(Say::To(to.to_owned(), id, signal));
    }

    fn hear(&mut self, heard: Heard) -> Option<Exit> {
        let now = Instant::now();
        match heard {
            Heard::Up(arrived) => {
                self.is_up = true;
                self.arrived = Some(arrived);
                for page in self.pages.keys().copied().collect::<Vec<_>>() {
                    self.pages.entry(page).and_modify(|state| {
                        state.forget();
                        state.hurry(now);
                    });
                    self.tell_page(page);
                }
            }
            Heard::Down(why) => {
                self.is_up = false;
                self.pages.values_mut().for_each(Page::forget);
                eprintln!("parley: {why}; trying again");
            }
            Heard::Over(ending) => return Some(ending.say()),
            Heard::Told(told) => self.told(told, now),
            Heard::From(from, signal) => self.signalled(&from, signal, now),
        }
        None
    }

    fn told(&mut self, told: Told, now: Instant) {
        match told {
            Told::Holders(told) => {
                if let Some(state) = self.pages.get_mut(&Address::from(&told.page)) {
                    state.meet(&told.holders);
                }
            }
            Told::Count(count) => {
                if let Some(state) = self.pages.get_mut(&Address::from(&count.page)) {
                    state.count = Some(count);
                }
            }
            Told::Visitors(told) => {
                if let Some(arrived) = &mut self.arrived {
                    arrived.visitors = told.visitors;
                }
            }
            Told::Pipe(told) => self.open_pipe(told.pipe, told.token),
            Told::Undelivered(told) => self.undelivered(&told, now),
            Told::Error(error) => self.refused(&error, now),
            _ => {}
        }
    }

    fn undelivered(&mut self, Undelivered { to, id, reason }: &Undelivered, now: Instant) {
        let id = id.split('.').next().and_then(|id| id.parse().ok()).unwrap_or(Id::MAX);
        let connecting = |link: &&Link| *link.visitor == **to && link.way == Way::Connecting;
        let Some(link) = self.links.get(&id).filter(connecting) else { return };
        if let Some(state) = self.pages.get_mut(&link.page) {
            if *reason == UndeliveredReason::Unknown { state.lose(to) } else { state.rest(to, now + BUSY) }
        }
        self.end(id);
    }

    fn refused(&mut self, Error { code, r#ref, .. }: &Error, now: Instant) {
        let page = r#ref.as_ref().and_then(|page| page.parse::<Address>().ok());
        let Some(state) = page.and_then(|page| self.pages.get_mut(&page)) else { return };
        if matches!(Code::named(code), Some(Code::TooManyPageRequests | Code::PodFull)) {
            return state.wait(now + LATER);
        }
        state.refused = Some(format!("the service refused: {code}"));
    }

    /// Tells the service what is here of a page.
    fn tell_page(&mut self, page: Address) {
        let Some(state) = self.pages.get_mut(&page).filter(|_| self.is_up) else { return };
        let Some(whole) = state.tells(Instant::now()) else { return };
        let bytes = state.swarm.copy.as_ref().map_or(0, |copy| copy.manifest.bytes);
        // What is here has at least one chunk.
        let bytes = NonZeroU64::new(bytes).unwrap_or(NonZeroU64::MIN);
        self.ask(Ask::Announce(visitor::Announce { page: page.into(), whole, bytes }));
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.remind(now);
        for page in self.pages.keys().copied().collect::<Vec<_>>() {
            if let Some(state) = self.pages.get_mut(&page) {
                state.swarm.tick(now);
            }
            self.seek(page, now);
        }
    }

    /// Connects with others who may give a page, and asks for more of them.
    fn seek(&mut self, page: Address, now: Instant) {
        let Some(most) = self.arrived.as_ref().filter(|_| self.is_up).map(|arrived| arrived.limits.max_holders.get())
        else {
            return;
        };
        let Some(state) = self.pages.get_mut(&page).filter(|state| state.is_wanted()) else { return };
        let with: Vec<String> =
            self.links.values().filter(|link| link.page == page).map(|link| link.visitor.clone()).collect();
        let ours = self.links.values().filter(|link| link.page == page && link.ours).count();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut chosen = Vec::new();
        while ours + chosen.len() < most {
            let busy = |visitor: &str| with.iter().chain(&chosen).any(|other| other == visitor);
            let Some(visitor) = state.choose(now, busy) else { break };
            chosen.push(visitor);
        }
        let alone = ours + chosen.len() < most;
        if let Some(exclude) = state.wants(now, alone, &with)
            && let Ok(ask) = subscribe(page, &exclude)
        {
            self.ask(ask);
        }
        for visitor in chosen {
            self.offer(page, visitor, now);
        }
    }

    /// Does what the swarms say.
    fn act(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        for page in self.pages.keys().copied().collect::<Vec<_>>() {
            while let Some(deed) = self.pages.get_mut(&page).and_then(|state| state.swarm.next()) {
                self.carry_out(page, deed);
            }
            self.check_memory(page);
            self.tell_page(page);
        }
    }

    fn carry_out(&mut self, page: Address, deed: Deed) {
        match deed {
            Deed::Say(id, said) => {
                if let Ok(text) = serde_json::to_string(&said) {
                    self.order(id, Order::Text(text));
                }
            }
            Deed::Send(id, chunk) => {
                let bytes = self.pages.get(&page).and_then(|state| state.swarm.copy.as_ref()?.chunk(chunk));
                if let Some(bytes) = bytes.map(|bytes| frame(chunk, bytes)) {
                    self.order(id, Order::Chunk(bytes));
                }
            }
            Deed::Leave(id, parting) => {
                let now = Instant::now();
                if let Some(link) = self.links.get(&id)
                    && let Some(state) = self.pages.get_mut(&page)
                {
                    match parting {
                        Parting::Dropped(why) => {
                            eprintln!("parley: {} is not asked any more: {why}", link.visitor);
                            state.dropped.insert(link.visitor.clone());
                        }
                        Parting::Silent | Parting::Stalled => state.rest(&link.visitor, now + LATER),
                        Parting::Idle | Parting::Done => state.rest(&link.visitor, now + BUSY),
                    }
                }
                self.end(id);
            }
        }
    }

    /// A page that does not fit beside the others is not fetched.
    fn check_memory(&mut self, page: Address) {
        let bytes = |state: &Page| state.swarm.copy.as_ref().map_or(0, |copy| copy.manifest.bytes);
        let all: u64 = self.pages.values().filter(|state| state.why().is_none()).map(bytes).sum();
        let most = self.memory();
        let Some(state) = self.pages.get_mut(&page).filter(|state| all > most && state.is_wanted()) else { return };
        state.refused = Some(format!("all pages together would have {all} bytes, of {most} (PAGES_TOO_LARGE)"));
        self.ask(Ask::Leave(visitor::Leave { page: page.into() }));
        for id in self.links.iter().filter(|(_, link)| link.page == page).map(|(id, _)| *id).collect::<Vec<_>>() {
            self.end(id);
        }
    }
}

/// Asks for a page, of others than these.
fn subscribe(page: Address, exclude: &[String]) -> Result<Ask, OutOfBounds> {
    let exclude = exclude.iter().map(|visitor| visitor.parse()).collect::<Result<Vec<VisitorId>, _>>()?;
    let exclude = if exclude.is_empty() { None } else { Some(exclude.try_into()?) };
    Ok(Ask::Subscribe(visitor::Subscribe { page: page.into(), exclude }))
}
