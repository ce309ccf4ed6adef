//! The visitors of one page, and what the service sent to each.
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use parley_cli::{ConnectOptions, ConnectionEnd, PageAddress, WebSocket, visitor_url};
use parley_protocol::decode;
use parley_protocol::visit::Message as ServerMessage;
use parley_protocol::visitor::{self, Message as ClientMessage};
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

/// The longest wait for a socket and its welcome.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two pings of a visitor, as in browsers.
const PING_INTERVAL: Duration = Duration::from_secs(15);
/// The time between two checks whether all visitors are connected.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// All visitors. They leave when it is dropped.
pub struct Visitors {
    page: PageAddress,
    bytes: NonZeroU64,
    states: Arc<Mutex<States>>,
    tasks: Mutex<Vec<Task>>,
}

/// The task of a visitor.
struct Task {
    holds: bool,
    leave: watch::Sender<bool>,
    handle: JoinHandle<()>,
}

/// The states of all visitors.
#[derive(Default)]
struct States {
    each: Vec<State>,
    errors: BTreeMap<String, u64>,
    closed: u64,
    most_at_once: usize,
    last_arrival: Option<Instant>,
}

/// The state of one visitor.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    phase: Phase,
    traffic: Traffic,
    /// The last count of holders and readers that it received, and when that count first arrived.
    count: Option<((u64, u64), Instant)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Connecting,
    Present,
    Left,
}

/// Messages and the bytes of their text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Messages from the service.
    pub received: u64,
    /// Bytes of the messages from the service.
    pub received_bytes: u64,
    /// Messages to the service.
    pub sent: u64,
    /// Bytes of the messages to the service.
    pub sent_bytes: u64,
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            received: self.received - before.received,
            received_bytes: self.received_bytes - before.received_bytes,
            sent: self.sent - before.sent,
            sent_bytes: self.sent_bytes - before.sent_bytes,
        }
    }
}

impl Visitors {
    /// Without visitors. `bytes`: the size of the page that holders announce.
    pub fn new(page: PageAddress, bytes: NonZeroU64) -> Self {
        Self { page, bytes, states: Arc::default(), tasks: Mutex::default() }
    }

    /// Adds a visitor, who holds the page or subscribes to it.
    pub fn add(&self, host: &Url, connect: &ConnectOptions, holds: bool) {
        let index = {
            let mut states = self.states.lock();
            states.each.push(State::default());
            states.each.len() - 1
        };
        let (leave, left) = watch::channel(false);
        let request = match holds {
            true => {
                ClientMessage::Announce(visitor::Announce { page: self.page.into(), whole: true, bytes: self.bytes })
            }
            false => ClientMessage::Subscribe(visitor::Subscribe { page: self.page.into(), exclude: None }),
        };
        let visitor = Visitor { states: self.states.clone(), index, page: self.page };
        let (host, connect) = (host.clone(), connect.clone());
        let handle = tokio::spawn(async move { visitor.visit(&host, &connect, request, left).await });
        self.tasks.lock().push(Task { holds, leave, handle });
    }

    /// Waits until each visitor is connected, or failed to connect.
    pub async fn until_connected(&self) {
        while self.states.lock().each.iter().any(|state| state.phase == Phase::Connecting) {
            sleep(CHECK_INTERVAL).await;
        }
    }

    /// Lets so many holders leave, without a message.
    pub fn remove_holders(&self, count: usize) {
        for task in self.tasks.lock().iter().filter(|task| task.holds).take(count) {
            task.leave.send_replace(true);
        }
    }

    /// Forgets the counts that visitors received.
    pub fn reset_counts(&self) {
        self.states.lock().each.iter_mut().for_each(|state| state.count = None);
    }

    /// Whether the last count that each visitor received is this one.
    pub fn all_have(&self, expected: (usize, usize)) -> bool {
        self.having(expected).all(|since| since.is_some())
    }

    /// For each visitor present: when this count of holders and readers arrived. `None`: its last count is another.
    pub fn having(&self, (holders, readers): (usize, usize)) -> impl Iterator<Item = Option<Instant>> {
        let expected = (holders as u64, readers as u64);
        let states = self.states.lock();
        let present: Vec<_> = states.each.iter().filter(|state| state.phase == Phase::Present).copied().collect();
        present
            .into_iter()
            .map(move |state| state.count.filter(|(count, _)| *count == expected).map(|(_, since)| since))
    }

    /// The traffic of all visitors together.
    pub fn traffic(&self) -> Traffic {
        self.states.lock().each.iter().fold(Traffic::default(), |sum, State { traffic, .. }| Traffic {
            received: sum.received + traffic.received,
            received_bytes: sum.received_bytes + traffic.received_bytes,
            sent: sum.sent + traffic.sent,
            sent_bytes: sum.sent_bytes + traffic.sent_bytes,
        })
    }

    /// How many visitors are present.
    pub fn present(&self) -> usize {
        self.states.lock().each.iter().filter(|state| state.phase == Phase::Present).count()
    }

    /// The highest number of visitors present at once.
    pub fn most_at_once(&self) -> usize {
        self.states.lock().most_at_once
    }

    /// When the last visitor announced or subscribed.
    pub fn last_arrival(&self) -> Instant {
        self.states.lock().last_arrival.unwrap_or_else(Instant::now)
    }

    /// Errors of visitors that failed to connect or were refused, and how often each occurred.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.states.lock().errors.clone()
    }

    /// How many sockets the service closed or lost.
    pub fn closed(&self) -> u64 {
        self.states.lock().closed
    }
}

impl Drop for Visitors {
    fn drop(&mut self) {
        self.tasks.lock().iter().for_each(|task| task.handle.abort());
    }
}

/// One visitor.
struct Visitor {
    states: Arc<Mutex<States>>,
    index: usize,
    page: PageAddress,
}

impl Visitor {
    async fn visit(
        &self,
        host: &Url,
        connect: &ConnectOptions,
        request: ClientMessage,
        mut leave: watch::Receiver<bool>,
    ) {
        let connected = timeout(CONNECT_TIMEOUT, self.connect(host, connect, request)).await;
        let mut socket = match connected.unwrap_or_else(|_| Err(ConnectionEnd::lost("the service does not answer"))) {
            Ok(socket) => socket,
            Err(end) => return self.fail(&end, 0),
        };
        tokio::select! {
            end = self.stay(&mut socket) => self.fail(&end, 1),
            _ = leave.wait_for(|leave| *leave) => self.states.lock().each[self.index].phase = Phase::Left,
        }
    }

    /// `closed`: how many sockets the service closed by it.
    fn fail(&self, end: &ConnectionEnd, closed: u64) {
        let mut states = self.states.lock();
        states.each[self.index].phase = Phase::Left;
        states.closed += closed;
        *states.errors.entry(end.reason().to_owned()).or_default() += 1;
    }

    async fn connect(
        &self,
        host: &Url,
        connect: &ConnectOptions,
        request: ClientMessage,
    ) -> Result<WebSocket, ConnectionEnd> {
        let mut socket = connect.socket(&visitor_url(host)?, None).await?;
        while !matches!(self.receive(&mut socket).await?, ServerMessage::Welcome(_)) {}
        self.send(&mut socket, &request).await?;
        let mut states = self.states.lock();
        states.each[self.index].phase = Phase::Present;
        states.last_arrival = Some(Instant::now());
        let present = states.each.iter().filter(|state| state.phase == Phase::Present).count();
        states.most_at_once = states.most_at_once.max(present);
        drop(states);
        Ok(socket)
    }

    async fn stay(&self, socket: &mut WebSocket) -> ConnectionEnd {
        let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        loop {
            let received = tokio::select! {
                received = self.receive(socket) => received,
                _ = ping.tick() => match self.send(socket, &ClientMessage::Ping).await {
                    Ok(()) => continue,
                    Err(end) => return end,
                },
            };
            match received {
                Ok(ServerMessage::Count(count)) if PageAddress::from(&count.page) == self.page => {
                    let state = &mut self.states.lock().each[self.index];
                    let count = (count.holders, count.readers);
                    if state.count.is_none_or(|(before, _)| before != count) {
                        state.count = Some((count, Instant::now()));
                    }
                }
                Ok(ServerMessage::Error(error)) => {
                    if error.fatal {
                        return ConnectionEnd::lost(format!("the service refused: {}", error.code));
                    }
                    *self.states.lock().errors.entry(error.code.into()).or_default() += 1;
                }
                Ok(_) => {}
                Err(end) => return end,
            }
        }
    }

    async fn send(&self, socket: &mut WebSocket, message: &ClientMessage) -> Result<(), ConnectionEnd> {
        let text = serde_json::to_string(message).map_err(|error| ConnectionEnd::Refused(error.to_string()))?;
        {
            let traffic = &mut self.states.lock().each[self.index].traffic;
            (traffic.sent, traffic.sent_bytes) = (traffic.sent + 1, traffic.sent_bytes + text.len() as u64);
        }
        socket.send(Message::text(text)).await.map_err(ConnectionEnd::from_error)
    }

    /// The next message. Cancel safe.
    async fn receive(&self, socket: &mut WebSocket) -> Result<ServerMessage, ConnectionEnd> {
        loop {
            let text = match socket.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(frame))) => return Err(ConnectionEnd::from_close(frame.as_ref())),
                Some(Ok(_)) => continue,
                Some(Err(error)) => return Err(ConnectionEnd::from_error(error)),
                None => return Err(ConnectionEnd::lost("the service closed the connection")),
            };
            let traffic = &mut self.states.lock().each[self.index].traffic;
            let bytes = traffic.received_bytes + text.len() as u64;
            (traffic.received, traffic.received_bytes) = (traffic.received + 1, bytes);
            return decode(text.as_bytes())
                .ok_or_else(|| ConnectionEnd::Refused("the service sent a message that does not decode".into()));
        }
    }
}
