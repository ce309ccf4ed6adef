//! Visitors of one page, and what each was told.
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use parley_cli::ending::Ending;
use parley_cli::page::address::Address;
use parley_cli::page::socket::address;
use parley_cli::reach::{Reach, Socket};
use parley_protocol::decode;
use parley_protocol::visit::Message as Told;
use parley_protocol::visitor::{self, Message as Ask};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Sub;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval_at, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// A service that does not answer in this time is not there.
const OPENING: Duration = Duration::from_secs(10);
/// Between two pings, as browsers send them.
const PING: Duration = Duration::from_secs(15);
/// Between two looks whether all came.
const LOOK: Duration = Duration::from_millis(10);

/// All of them; they leave when it is dropped.
pub struct Crowd {
    page: Address,
    bytes: NonZeroU64,
    book: Arc<Mutex<Book>>,
    visitors: Mutex<Vec<Visitor>>,
}

struct Visitor {
    holds: bool,
    leaves: watch::Sender<bool>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Book {
    entries: Vec<Entry>,
    errors: BTreeMap<String, u64>,
    closed: u64,
    most: usize,
    last_came: Option<Instant>,
}

/// What one was told.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    state: Stay,
    tally: Tally,
    /// Holders and readers, and since when.
    count: Option<((u64, u64), Instant)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stay {
    #[default]
    Coming,
    Here,
    Gone,
}

/// Messages and their bytes, as both sides wrote them.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "as they say")]
pub struct Tally {
    pub heard: u64,
    pub heard_bytes: u64,
    pub said: u64,
    pub said_bytes: u64,
}

impl Sub for Tally {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            heard: self.heard - before.heard,
            heard_bytes: self.heard_bytes - before.heard_bytes,
            said: self.said - before.said,
            said_bytes: self.said_bytes - before.said_bytes,
        }
    }
}

impl Crowd {
    /// Nobody yet.
    pub fn new(page: Address, bytes: NonZeroU64) -> Self {
        Self { page, bytes, book: Arc::default(), visitors: Mutex::default() }
    }

    /// One more comes, and holds the page or wants it.
    pub fn come(&self, host: &Url, reach: &Reach, holds: bool) {
        let index = {
            let mut book = self.book.lock();
            book.entries.push(Entry::default());
            book.entries.len() - 1
        };
        let (leaves, told) = watch::channel(false);
        let ask = match holds {
            true => Ask::Announce(visitor::Announce { page: self.page.into(), whole: true, bytes: self.bytes }),
            false => Ask::Subscribe(visitor::Subscribe { page: self.page.into(), exclude: None }),
        };
        let guest = Guest { book: self.book.clone(), index, page: self.page };
        let (host, reach) = (host.clone(), reach.clone());
        let task = tokio::spawn(async move { guest.visit(&host, &reach, ask, told).await });
        self.visitors.lock().push(Visitor { holds, leaves, task });
    }

    /// Waits until everybody is here, or will never be.
    pub async fn until_settled(&self) {
        while self.book.lock().entries.iter().any(|entry| entry.state == Stay::Coming) {
            sleep(LOOK).await;
        }
    }

    /// So many holders leave, without a word.
    pub fn depart(&self, some: usize) {
        let mut visitors = self.visitors.lock();
        for visitor in visitors.iter_mut().filter(|visitor| visitor.holds).take(some) {
            visitor.leaves.send_replace(true);
        }
    }

    /// Counts that come from here on are new.
    pub fn begin_anew(&self) {
        self.book.lock().entries.iter_mut().for_each(|entry| entry.count = None);
    }

    /// Everybody who is here was told last that there are so many.
    pub fn all_know(&self, expected: (usize, usize)) -> bool {
        self.knowing(expected).all(|since| since.is_some())
    }

    /// Since when each who is here knows it.
    pub fn knowing(&self, (holders, readers): (usize, usize)) -> impl Iterator<Item = Option<Instant>> {
        let expected = (holders as u64, readers as u64);
        let book = self.book.lock();
        let here: Vec<_> = book.entries.iter().filter(|entry| entry.state == Stay::Here).copied().collect();
        here.into_iter().map(move |entry| entry.count.filter(|(count, _)| *count == expected).map(|(_, since)| since))
    }

    /// Of all together.
    pub fn tally(&self) -> Tally {
        self.book.lock().entries.iter().fold(Tally::default(), |sum, Entry { tally, .. }| Tally {
            heard: sum.heard + tally.heard,
            heard_bytes: sum.heard_bytes + tally.heard_bytes,
            said: sum.said + tally.said,
            said_bytes: sum.said_bytes + tally.said_bytes,
        })
    }

    /// How many are here.
    pub fn here(&self) -> usize {
        self.book.lock().entries.iter().filter(|entry| entry.state == Stay::Here).count()
    }

    /// The most that were here at once.
    pub fn most(&self) -> usize {
        self.book.lock().most
    }

    /// When the last had come and said what for.
    pub fn last_came(&self) -> Instant {
        self.book.lock().last_came.unwrap_or_else(Instant::now)
    }

    /// Why some did not come, or were refused.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.book.lock().errors.clone()
    }

    /// How many the service sent away or lost.
    pub fn closed(&self) -> u64 {
        self.book.lock().closed
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.visitors.lock().iter().for_each(|visitor| visitor.task.abort());
    }
}

/// One of them.
struct Guest {
    book: Arc<Mutex<Book>>,
    index: usize,
    page: Address,
}

impl Guest {
    async fn visit(&self, host: &Url, reach: &Reach, ask: Ask, mut told: watch::Receiver<bool>) {
        let entered = timeout(OPENING, self.enter(host, reach, ask)).await;
        let mut socket = match entered.unwrap_or_else(|_| Err(Ending::lost("the service does not answer"))) {
            Ok(socket) => socket,
            Err(ending) => {
                let mut book = self.book.lock();
                book.entries[self.index].state = Stay::Gone;
                *book.errors.entry(ending.why().to_owned()).or_default() += 1;
                return;
            }
        };
        tokio::select! {
            ending = self.stay(&mut socket) => {
                let mut book = self.book.lock();
                book.entries[self.index].state = Stay::Gone;
                book.closed += 1;
                *book.errors.entry(ending.why().to_owned()).or_default() += 1;
            }
            _ = told.wait_for(|leaves| *leaves) => self.book.lock().entries[self.index].state = Stay::Gone,
        }
    }

    async fn enter(&self, host: &Url, reach: &Reach, ask: Ask) -> Result<Socket, Ending> {
        let mut socket = reach.socket(&address(host)?, None).await?;
        while !matches!(self.hear(&mut socket).await?, Told::Welcome(_)) {}
        self.say(&mut socket, &ask).await?;
        let mut book = self.book.lock();
        book.entries[self.index].state = Stay::Here;
        book.last_came = Some(Instant::now());
        let here = book.entries.iter().filter(|entry| entry.state == Stay::Here).count();
        book.most = book.most.max(here);
        drop(book);
        Ok(socket)
    }

    async fn stay(&self, socket: &mut Socket) -> Ending {
        let mut ping = interval_at(Instant::now() + PING, PING);
        loop {
            let heard = tokio::select! {
                heard = self.hear(socket) => heard,
                _ = ping.tick() => match self.say(socket, &Ask::Ping).await {
                    Ok(()) => continue,
                    Err(ending) => return ending,
                },
            };
            match heard {
                Ok(Told::Count(count)) if Address::from(&count.page) == self.page => {
                    let entry = &mut self.book.lock().entries[self.index];
                    let counted = (count.holders, count.readers);
                    if entry.count.is_none_or(|(before, _)| before != counted) {
                        entry.count = Some((counted, Instant::now()));
                    }
                }
                Ok(Told::Error(error)) => {
                    if error.fatal {
                        return Ending::lost(format!("the service refused: {}", error.code));
                    }
                    *self.book.lock().errors.entry(error.code.into()).or_default() += 1;
                }
                Ok(_) => {}
                Err(ending) => return ending,
            }
        }
    }

    async fn say(&self, socket: &mut Socket, ask: &Ask) -> Result<(), Ending> {
        let text = serde_json::to_string(ask).map_err(|why| Ending::Refused(why.to_string()))?;
        {
            let tally = &mut self.book.lock().entries[self.index].tally;
            (tally.said, tally.said_bytes) = (tally.said + 1, tally.said_bytes + text.len() as u64);
        }
        socket.send(Message::text(text)).await.map_err(Ending::of)
    }

    /// The next message. May be given up halfway.
    async fn hear(&self, socket: &mut Socket) -> Result<Told, Ending> {
        loop {
            let text = match socket.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(frame))) => return Err(Ending::closed(frame.as_ref())),
                Some(Ok(_)) => continue,
                Some(Err(why)) => return Err(Ending::of(why)),
                None => return Err(Ending::lost("the service was lost")),
            };
            let tally = &mut self.book.lock().entries[self.index].tally;
            (tally.heard, tally.heard_bytes) = (tally.heard + 1, tally.heard_bytes + text.len() as u64);
            return decode(text.as_bytes())
                .ok_or_else(|| Ending::Refused("what the service says is not understood".into()));
        }
    }
}
