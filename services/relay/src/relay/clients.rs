//! The clients of a pod, with the counts and rates of what they sent and received.
use parking_lot::Mutex;
use parley_access::Grant;
use parley_streams::reader::Counts;
use parley_streams::{Reader, Route};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// One socket on a topic.
pub struct Client {
    /// Its topic and role.
    pub route: Route,
    /// Its address, behind trusted proxies.
    pub address: IpAddr,
    /// Its user agent.
    pub user_agent: Box<str>,
    /// When it connected.
    pub connected: SystemTime,
    /// The grant of its token; `None` if the relay requires none.
    pub grant: Option<Grant>,
    /// Its outgoing side.
    pub reader: Arc<Reader>,
    /// When its last bytes arrived, in milliseconds of the pod's clock, as all times here.
    pub received: AtomicU64,
    /// When it was last pinged.
    pub pinged: AtomicU64,
    /// When its incomplete message began; 0: there is none.
    pub reassembling: AtomicU64,
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    rates: Mutex<Rates>,
}

/// The rates in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    /// From the client.
    pub sent: Rate,
    /// To the client.
    pub received: Rate,
}

/// Messages per second and their size, averaged over a few seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// Messages per second.
    pub fps: f64,
    /// Mean bytes of payload.
    pub size: f64,
    /// When the count last grew; 0: never.
    pub last: u64,
    messages: u64,
    bytes: u64,
}

impl Rate {
    /// Updates the rate from new counts. The average follows a change within a few seconds without jumps.
    #[allow(clippy::cast_precision_loss, reason = "shown with a few digits")]
    fn update(&mut self, messages: u64, bytes: u64, seconds: f64, now: u64) {
        let (more, more_bytes) = (messages - self.messages, bytes.saturating_sub(self.bytes));
        let fps = more as f64 / seconds;
        self.fps = if self.messages == 0 { fps } else { self.fps + (fps - self.fps) * 0.4 };
        if self.fps < 0.01 {
            self.fps = 0.0;
        }
        if more > 0 {
            self.size = more_bytes as f64 / more as f64;
            self.last = now;
        }
        (self.messages, self.bytes) = (messages, bytes);
    }
}

impl Client {
    /// A client that connects now.
    pub fn new(
        route: Route,
        grant: Option<Grant>,
        address: IpAddr,
        user_agent: &str,
        reader: Arc<Reader>,
        now: u64,
    ) -> Self {
        Self {
            route,
            grant,
            address,
            user_agent: user_agent.into(),
            connected: SystemTime::now(),
            reader,
            received: AtomicU64::new(now),
            pinged: AtomicU64::new(0),
            reassembling: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            rates: Mutex::new(Rates::default()),
        }
    }

    /// Counts messages that it sent.
    pub(crate) fn count_sent(&self, messages: usize, bytes: usize) {
        self.sent.fetch_add(messages as u64, Ordering::Relaxed);
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The messages that it sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Updates the rates, `seconds` after the last update.
    pub fn measure(&self, seconds: f64, now: u64) {
        let Counts { delivered, .. } = self.reader.counts();
        let mut rates = self.rates.lock();
        rates.sent.update(self.sent(), self.sent_bytes.load(Ordering::Relaxed), seconds, now);
        rates.received.update(delivered.messages, delivered.bytes, seconds, now);
    }

    /// The current rates.
    pub(crate) fn rates(&self) -> Rates {
        *self.rates.lock()
    }
}

/// All clients of a pod.
#[derive(Default)]
pub struct Clients {
    connected: Mutex<HashMap<u64, Arc<Client>>>,
}

/// The entry of a client in the list. Dropping it removes the client.
pub(crate) struct Listed {
    clients: Arc<Clients>,
    /// The client.
    pub client: Arc<Client>,
}

impl Clients {
    /// Adds a client.
    pub(crate) fn add(self: &Arc<Self>, client: Client) -> Listed {
        let client = Arc::new(client);
        self.connected.lock().insert(client.reader.id, Arc::clone(&client));
        Listed { clients: Arc::clone(self), client }
    }

    /// The connected clients, in no particular order.
    pub fn all(&self) -> Vec<Arc<Client>> {
        self.connected.lock().values().cloned().collect()
    }

    /// The number of connected clients.
    pub fn count(&self) -> usize {
        self.connected.lock().len()
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut connected = self.clients.connected.lock();
        connected.remove(&self.client.reader.id);
        if connected.is_empty() {
            connected.shrink_to_fit();
        }
    }
}
