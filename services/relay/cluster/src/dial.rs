//! The receiving end of a link: dials a discovered pod, subscribes to the topics with readers behind this pod, and gives the messages to the topic, which
//! delivers them to the readers here and sends them on as far as their hop allows. Rules STR-91 to STR-97 and STR-141.
use super::end::End;
use super::frames::{BATCH_BY_HOP_HEADER, BATCH_HEADER, Decoder, Event, Hello, Passage, Request};
use super::idle_timeout::IdleTimeout;
use super::lease::Lease;
use super::shared::Shared;
use super::stream::{Inbound, TlsOutlet, split};
use parley_net::socket;
use parley_net::ws::Batch;
use parley_streams::interest::{Follower, Lookup};
use parley_streams::{Hop, Stamp, Topic};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_rustls::TlsStream;

/// The size of one read, as for clients.
const READ_SIZE: usize = 256 * 1024;
/// The reads after which the task yields to other sockets.
const READS_PER_TURN: usize = 4;
/// The longest pause before a stable link is dialled again. It doubles after each failure, up to `MAX_REDIAL_DELAY`.
const REDIAL_DELAY: Duration = Duration::from_millis(100);
const MAX_REDIAL_DELAY: Duration = Duration::from_secs(2);
/// The lifetime from which a link counts as stable. A link that ends sooner is a failure, even if it opened.
const STABLE_AFTER: Duration = Duration::from_secs(5);

/// A link that is dialled again whenever it ends. Dropping it ends the link permanently.
pub(crate) struct Dialler {
    task: AbortHandle,
    up: Arc<AtomicBool>,
}

impl Dialler {
    /// Starts to dial.
    pub fn start(lease: Lease, shared: &Arc<Shared>) -> Self {
        let up = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(run(lease, Arc::clone(shared), Arc::clone(&up))).abort_handle();
        Self { task, up }
    }

    /// Whether the link is open.
    pub fn is_up(&self) -> bool {
        self.up.load(Relaxed)
    }
}

impl Drop for Dialler {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(lease: Lease, shared: Arc<Shared>, up: Arc<AtomicBool>) {
    let limits = &shared.limits;
    let open_timeout = Duration::from_millis(limits.link_open_timeout);
    // The greatest number that was sent to this run of the peer. The replay of these subscriptions was received before.
    let mut last_sent = 0;
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let opened = timeout(open_timeout, open(&lease, &shared)).await.unwrap_or(Err(End::Timeout));
        let logged = opened.is_ok() || failures == 0;
        let end = match opened {
            Ok(stream) => {
                let _open = OpenLink::new(&shared, &up);
                tracing::info!(pod = lease.pod, address = %lease.link, epoch = lease.epoch, "link up: receiving");
                exchange(stream, &lease, &shared, &mut last_sent).await
            }
            Err(end) => end,
        };
        shared.counts.end(end);
        if logged {
            tracing::info!(pod = lease.pod, address = %lease.link, code = end.name(), "link down: receiving");
        }
        failures = if began.elapsed() > STABLE_AFTER { 0 } else { failures + 1 };
        sleep((REDIAL_DELAY * (1 << failures.min(10))).min(MAX_REDIAL_DELAY).mul_f64(rand::random())).await;
    }
}

/// Counts the link as open until it is dropped.
struct OpenLink<'a> {
    shared: &'a Shared,
    up: &'a AtomicBool,
}

impl<'a> OpenLink<'a> {
    fn new(shared: &'a Shared, up: &'a AtomicBool) -> Self {
        up.store(true, Relaxed);
        shared.counts.receiving.add(1);
        Self { shared, up }
    }
}

impl Drop for OpenLink<'_> {
    fn drop(&mut self) {
        self.up.store(false, Relaxed);
        self.shared.counts.receiving.sub(1);
    }
}

async fn open(lease: &Lease, shared: &Shared) -> Result<TlsStream<TcpStream>, End> {
    let stream = TcpStream::connect(lease.link).await.map_err(|_| End::Unreachable)?;
    socket::prepare(&stream);
    let mut stream = shared.identity.connect(stream, lease.certificate).await?;
    stream.write_all(&Hello { pod: shared.own.pod.clone() }.bytes()).await.map_err(|_| End::Peer)?;
    stream.flush().await.map_err(|_| End::Peer)?;
    // A lease may contain the certificate and the address of another pod.
    if Hello::receive(&mut stream).await?.pod == lease.pod { Ok(stream) } else { Err(End::Certificate) }
}

async fn exchange(stream: TlsStream<TcpStream>, lease: &Lease, shared: &Shared, last_sent: &mut u64) -> End {
    let (inbound, outbound) = split(stream, READ_SIZE);
    let idle = IdleTimeout::start(&shared.limits);
    let round_trip = RoundTrip { began: Instant::now(), microseconds: AtomicU32::new(0) };
    let follower = shared.streams.interest.follow(shared.peer(lease));
    let by_hop = lease.reach.hops && shared.streams.interest.own().is_port;
    tokio::select! {
        end = receive(inbound, &follower, shared, &idle, &round_trip) => end,
        end = send(outbound, &follower, by_hop, shared, &round_trip, last_sent) => end,
        end = idle.expired() => end,
    }
}

/// Measures the round trip of the link.
struct RoundTrip {
    began: Instant,
    microseconds: AtomicU32,
}

impl RoundTrip {
    fn stamp(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn complete(&self, stamp: u64) {
        let took = u32::try_from(self.stamp().saturating_sub(stamp)).unwrap_or(u32::MAX);
        self.microseconds.store(took, Relaxed);
    }
}

/// Sends subscriptions, unsubscriptions and pings. `by_hop`: messages that are published there have stamps, as they may go on to other regions.
async fn send(
    outbound: TlsOutlet,
    follower: &Follower<Topic>,
    by_hop: bool,
    shared: &Shared,
    round_trip: &RoundTrip,
    last_sent: &mut u64,
) -> End {
    let mut ticks = interval(Duration::from_millis(shared.limits.link_ping_interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut bytes = Vec::new();
    loop {
        let mut newest = *last_sent;
        tokio::select! {
            () = follower.changed() => for (number, topic) in follower.take() {
                match topic {
                    Some((hop, topic)) => Request::Subscribe {
                        number,
                        hop: Some(hop).filter(|hop| by_hop || *hop != Hop::Region),
                        replay: number > *last_sent,
                        topic: topic.to_string(),
                    },
                    None => Request::Unsubscribe { number },
                }
                .write(&mut bytes);
                newest = newest.max(number);
            },
            _ = ticks.tick() => {
                let microseconds = round_trip.microseconds.load(Relaxed);
                Request::Ping { stamp: round_trip.stamp(), round_trip: microseconds }.write(&mut bytes);
            }
        }
        if outbound.write_all(&bytes).await.is_err() {
            return End::Peer;
        }
        bytes = Vec::new();
        *last_sent = newest;
    }
}

/// Receives batches, pongs and acknowledgements.
async fn receive(
    mut inbound: Inbound,
    follower: &Follower<Topic>,
    shared: &Shared,
    idle: &IdleTimeout,
    round_trip: &RoundTrip,
) -> End {
    let mut decoder = Decoder::default();
    let mut input = vec![0; READ_SIZE];
    let mut reads = 0;
    loop {
        let read = match inbound.read(&mut input).await {
            Ok(0) | Err(_) => return End::Peer,
            Ok(read) => read,
        };
        idle.restart();
        let taken = decoder.feed(&input[..read], &mut |event| match event {
            Event::Batch { number, passage, batch } => shared.deliver(follower, number, passage, &batch),
            Event::Pong { stamp } => {
                round_trip.complete(stamp);
                Ok(())
            }
            Event::Acknowledgement { number } if follower.acknowledge(number) => Ok(()),
            Event::Acknowledgement { .. } => Err(End::SubscriptionId),
        });
        if let Err(end) = taken {
            return end;
        }
        reads += 1;
        if reads % READS_PER_TURN == 0 {
            yield_now().await;
        }
    }
}

impl Shared {
    /// Gives a batch to its topic. `follower`: that of the link on which it came.
    fn deliver(
        &self,
        follower: &Follower<Topic>,
        number: u64,
        passage: Option<Passage>,
        batch: &Batch,
    ) -> Result<(), End> {
        let messages = batch.count() as u64;
        let header = if passage.is_some() { BATCH_BY_HOP_HEADER } else { BATCH_HEADER };
        self.counts.received.add(messages);
        self.counts.received_bytes.add((batch.bytes().len() + header) as u64);
        let Passage { hop, stamp } = passage.unwrap_or(Passage { hop: Hop::Region, stamp: Stamp::default() });
        if !self.scope.carries(hop) {
            return Err(End::Hop);
        }
        let (topic, requested) = match follower.find(number) {
            Lookup::Active(topic, hop) => (topic, hop),
            Lookup::Ended => {
                self.counts.late.add(messages);
                return Ok(());
            }
            Lookup::Unknown => return Err(End::SubscriptionId),
        };
        if hop != requested {
            return Err(End::Hop);
        }
        match topic.deliver(number, hop, stamp, batch, self.streams.clock.now()) {
            Some(fanout) => {
                self.counts.duplicates.add(fanout.duplicates);
                self.streams.counters.fanned_out(fanout);
            }
            None => self.counts.late.add(messages),
        }
        Ok(())
    }
}
