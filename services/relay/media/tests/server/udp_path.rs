//! A path between a client and a relay: it drops datagrams by size or at random, and delays them.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

/// The size of a datagram with which path MTU discovery begins; bytes of UDP payload.
pub const SMALL: usize = 1200;

/// What a path does to the datagrams of each direction.
#[derive(Clone, Copy, Default)]
pub struct Quality {
    /// Lost datagrams of a hundred.
    pub lost_percent: u64,
    pub delay: Duration,
}

pub struct UdpPath {
    /// Where the client dials.
    pub address: SocketAddr,
    /// Larger datagrams are dropped, in both directions.
    pub max: Arc<AtomicUsize>,
    /// The number of datagrams of the relay that were larger than `SMALL` and passed.
    pub passed: Arc<AtomicUsize>,
    /// The number of datagrams of the relay that were dropped.
    pub dropped: Arc<AtomicUsize>,
    /// The number of datagrams that came from the relay, and from the client.
    pub came: Arc<[AtomicUsize; 2]>,
    task: AbortHandle,
}

impl UdpPath {
    pub async fn to(relay: SocketAddr, quality: Quality) -> Self {
        let near = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let far = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        far.connect(relay).await.unwrap();
        let address = near.local_addr().unwrap();
        let max = Arc::new(AtomicUsize::new(usize::MAX));
        let (passed, dropped, came) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default(), Arc::default());
        let forward = Forward {
            near,
            far,
            quality,
            max: max.clone(),
            passed: passed.clone(),
            dropped: dropped.clone(),
            came: Arc::clone(&came),
        };
        Self { address, max, passed, dropped, came, task: tokio::spawn(forward.run()).abort_handle() }
    }

    /// The URL of a relay, by way of this path.
    pub fn through(&self, mut url: url::Url) -> url::Url {
        url.set_port(Some(self.address.port())).unwrap();
        url
    }
}

impl Drop for UdpPath {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Forward {
    near: Arc<UdpSocket>,
    far: Arc<UdpSocket>,
    quality: Quality,
    max: Arc<AtomicUsize>,
    passed: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    came: Arc<[AtomicUsize; 2]>,
}

impl Forward {
    async fn run(self) {
        let (up, to_relay) = unbounded_channel();
        let (down, to_client) = unbounded_channel();
        // They end with this task, as it drops the set.
        let mut senders = JoinSet::new();
        senders.spawn(send(self.far.clone(), to_relay));
        senders.spawn(send(self.near.clone(), to_client));
        let (mut upwards, mut downwards) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        let mut client = None;
        let mut dice = Dice(7);
        loop {
            tokio::select! {
                Ok((size, from)) = self.near.recv_from(&mut upwards) => {
                    client = Some(from);
                    self.came[1].fetch_add(1, Ordering::Relaxed);
                    if self.carries(size, &mut dice) {
                        let _ = up.send(self.delayed(&upwards[..size], None));
                    }
                }
                Ok(size) = self.far.recv(&mut downwards) => {
                    self.came[0].fetch_add(1, Ordering::Relaxed);
                    if self.carries(size, &mut dice) {
                        self.passed.fetch_add(usize::from(size > SMALL), Ordering::Relaxed);
                        let _ = down.send(self.delayed(&downwards[..size], client));
                    } else {
                        self.dropped.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    }

    fn carries(&self, size: usize, dice: &mut Dice) -> bool {
        size <= self.max.load(Ordering::Relaxed) && dice.percent() >= self.quality.lost_percent
    }

    fn delayed(&self, bytes: &[u8], to: Option<SocketAddr>) -> Delayed {
        Delayed { due: Instant::now() + self.quality.delay, bytes: bytes.to_vec(), to }
    }
}

struct Delayed {
    due: Instant,
    bytes: Vec<u8>,
    /// `None`: the address to which the socket is connected.
    to: Option<SocketAddr>,
}

async fn send(socket: Arc<UdpSocket>, mut packets: UnboundedReceiver<Delayed>) {
    while let Some(Delayed { due, bytes, to }) = packets.recv().await {
        sleep_until(due).await;
        let _ = match to {
            Some(to) => socket.send_to(&bytes, to).await,
            None => socket.send(&bytes).await,
        };
    }
}

/// The same numbers in each run.
struct Dice(u64);

impl Dice {
    /// 0 to 99.
    fn percent(&mut self) -> u64 {
        // Knuth's constants of a linear congruential generator; its upper bits are the random ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 100
    }
}
