//! The clients of a pod, each with what it sent and received.
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
    /// What it says it is.
    pub user_agent: Box<str>,
    /// When it came.
    pub connected: SystemTime,
    /// What it was let in with; `None` where no token is asked for.
    pub grant: Option<Grant>,
    /// Its outgoing side.
    pub reader: Arc<Reader>,
    /// When its last bytes came; milliseconds of the pod's clock, as all times here.
    pub heard: AtomicU64,
    /// When it was last pinged.
    pub pinged: AtomicU64,
    /// When the message that is coming in began; 0: none.
    pub assembling: AtomicU64,
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    rates: Mutex<Rates>,
}

/// How much flows each way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    /// From the client.
    pub sent: Rate,
    /// To the client.
    pub received: Rate,
}

/// Messages a second and their size, over the last seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// Messages a second.
    pub fps: f64,
    /// Mean bytes of payload.
    pub size: f64,
    /// When the count last grew; 0: never.
    pub last: u64,
    messages: u64,
    bytes: u64,
}

impl Rate {
    /// A new reading of the counts. A rate follows within a few seconds and does not jump at each.
    #[allow(clippy::cast_precision_loss, reason = "shown with a few digits")]
    fn read(&mut self, messages: u64, bytes: u64, seconds: f64, now: u64) {
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
    /// A client that has just come.
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
            heard: AtomicU64::new(now),
            pinged: AtomicU64::new(0),
            assembling: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            rates: Mutex::new(Rates::default()),
        }
    }

    /// Counts messages it sent.
    pub fn count_sent(&self, messages: usize, bytes: usize) {
        self.sent.fetch_add(messages as u64, Ordering::Relaxed);
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Messages it sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Takes a reading, `seconds` after the last.
    pub fn measure(&self, seconds: f64, now: u64) {
        let Counts { delivered, .. } = self.reader.counts();
        let mut rates = self.rates.lock();
        rates.sent.read(self.sent(), self.sent_bytes.load(Ordering::Relaxed), seconds, now);
        rates.received.read(delivered.messages, delivered.bytes, seconds, now);
    }

    /// The last reading.
    pub fn rates(&self) -> Rates {
        *self.rates.lock()
    }
}

/// All clients of a pod.
#[derive(Default)]
pub struct Clients {
    here: Mutex<HashMap<u64, Arc<Client>>>,
}

/// A client's place in the list; dropping it takes it out.
pub struct Listed {
    clients: Arc<Clients>,
    /// The client.
    pub client: Arc<Client>,
}

impl Clients {
    /// Adds a client.
    pub fn add(self: &Arc<Self>, client: Client) -> Listed {
        let client = Arc::new(client);
        self.here.lock().insert(client.reader.id, Arc::clone(&client));
        Listed { clients: Arc::clone(self), client }
    }

    /// Those here now, in no order.
    pub fn all(&self) -> Vec<Arc<Client>> {
        self.here.lock().values().cloned().collect()
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.here.lock().len()
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut here = self.clients.here.lock();
        here.remove(&self.client.reader.id);
        if here.is_empty() {
            here.shrink_to_fit();
        }
    }
}
