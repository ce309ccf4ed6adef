//! The hearing end of a link: dials a pod that was found, says which topics are read here, and hands what comes to readers here
//! and to nobody else, so that nothing goes in circles. Rules STR-91 to STR-97.
use super::Shared;
use super::end::End;
use super::frames::{Decoder, Event, Hello, Request};
use super::lease::Lease;
use super::pulse::Pulse;
use super::stream::{Inbound, TlsOutlet, split};
use parley_net::socket;
use parley_streams::Topic;
use parley_streams::interest::{Follower, Lookup};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_rustls::TlsStream;

/// How much one read takes, as from a client.
const READ: usize = 256 * 1024;
/// Reads before other sockets get their turn.
const READS_PER_TURN: usize = 4;
/// Before a link that was steady is dialled again, at most; twice as long after each failure, up to the longest.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A link that ends sooner is a failure, even if it opened.
const STEADY: Duration = Duration::from_secs(5);

/// A link that is dialled again whenever it ends; dropping it ends it for good.
pub struct Dialler {
    task: AbortHandle,
    up: Arc<AtomicBool>,
}

impl Dialler {
    /// Begins to dial.
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
    let patience = Duration::from_millis(limits.link_open_timeout);
    // The greatest number that this run of the peer was told: what it kept for those was sent before.
    let mut told = 0;
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let opened = timeout(patience, open(&lease, &shared)).await.unwrap_or(Err(End::Timeout));
        let logged = opened.is_ok() || failures == 0;
        let end = match opened {
            Ok(stream) => {
                let _up = Up::new(&shared, &up);
                tracing::info!(pod = lease.pod, address = %lease.link, epoch = lease.epoch, "link up: receiving");
                talk(stream, &shared, &mut told).await
            }
            Err(end) => end,
        };
        shared.counts.end(end);
        if logged {
            tracing::info!(pod = lease.pod, address = %lease.link, code = end.name(), "link down: receiving");
        }
        failures = if began.elapsed() > STEADY { 0 } else { failures + 1 };
        sleep((PAUSE * (1 << failures.min(10))).min(LONGEST_PAUSE).mul_f64(rand::random())).await;
    }
}

/// While it lives the link is counted as open.
struct Up<'a> {
    shared: &'a Shared,
    up: &'a AtomicBool,
}

impl<'a> Up<'a> {
    fn new(shared: &'a Shared, up: &'a AtomicBool) -> Self {
        up.store(true, Relaxed);
        shared.counts.hears.add(1);
        Self { shared, up }
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        self.up.store(false, Relaxed);
        self.shared.counts.hears.sub(1);
    }
}

async fn open(lease: &Lease, shared: &Shared) -> Result<TlsStream<TcpStream>, End> {
    let stream = TcpStream::connect(lease.link).await.map_err(|_| End::Unreachable)?;
    socket::prepare(&stream);
    let mut stream = shared.identity.connect(stream, lease.certificate).await?;
    stream.write_all(&Hello { pod: shared.own.pod.clone() }.bytes()).await.map_err(|_| End::Peer)?;
    stream.flush().await.map_err(|_| End::Peer)?;
    // A lease may have the certificate and the address of another pod.
    if Hello::hear(&mut stream).await?.pod == lease.pod { Ok(stream) } else { Err(End::Certificate) }
}

async fn talk(stream: TlsStream<TcpStream>, shared: &Shared, told: &mut u64) -> End {
    let (inbound, outbound) = split(stream, READ);
    let pulse = Pulse::new(&shared.limits);
    let trip = Trip { began: Instant::now(), microseconds: AtomicU32::new(0) };
    let follower = shared.streams.interest.follow();
    tokio::select! {
        end = hear(inbound, &follower, shared, &pulse, &trip) => end,
        end = tell(outbound, &follower, shared, &trip, told) => end,
        end = pulse.stops() => end,
    }
}

/// The round trip of the link.
struct Trip {
    began: Instant,
    microseconds: AtomicU32,
}

impl Trip {
    fn stamp(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn back(&self, stamp: u64) {
        let took = u32::try_from(self.stamp().saturating_sub(stamp)).unwrap_or(u32::MAX);
        self.microseconds.store(took, Relaxed);
    }
}

/// Says what is wanted and what no longer is, and pings.
async fn tell(outbound: TlsOutlet, follower: &Follower<Topic>, shared: &Shared, trip: &Trip, told: &mut u64) -> End {
    let mut ticks = interval(Duration::from_millis(shared.limits.link_ping_interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut bytes = Vec::new();
    loop {
        let mut newest = *told;
        tokio::select! {
            () = follower.changed() => for (number, topic) in follower.take() {
                match topic {
                    Some(topic) => Request::Subscribe { number, replay: number > *told, topic: topic.to_string() },
                    None => Request::Unsubscribe { number },
                }
                .write(&mut bytes);
                newest = newest.max(number);
            },
            _ = ticks.tick() => {
                Request::Ping { stamp: trip.stamp(), round_trip: trip.microseconds.load(Relaxed) }.write(&mut bytes);
            }
        }
        if outbound.write_all(&bytes).await.is_err() {
            return End::Peer;
        }
        bytes = Vec::new();
        *told = newest;
    }
}

async fn hear(mut inbound: Inbound, follower: &Follower<Topic>, shared: &Shared, pulse: &Pulse, trip: &Trip) -> End {
    let mut decoder = Decoder::default();
    let mut input = vec![0; READ];
    let mut reads = 0;
    loop {
        let read = match inbound.read(&mut input).await {
            Ok(0) | Err(_) => return End::Peer,
            Ok(read) => read,
        };
        pulse.beat();
        let taken = decoder.feed(&input[..read], &mut |event| match event {
            Event::Batch { number, batch } => shared.deliver(number, &batch),
            Event::Pong { stamp } => {
                trip.back(stamp);
                Ok(())
            }
            Event::Acknowledgement { number } if follower.acknowledge(number) => Ok(()),
            Event::Acknowledgement { .. } => Err(End::Number),
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
    /// Hands what came to those who read it here.
    fn deliver(&self, number: u64, batch: &parley_net::ws::Batch) -> Result<(), End> {
        let messages = batch.count() as u64;
        self.counts.received.add(messages);
        self.counts.received_bytes.add((batch.bytes().len() + super::frames::BATCH_HEADER) as u64);
        let topic = match self.streams.interest.find(number) {
            Lookup::Active(topic) => topic,
            Lookup::Ended => {
                self.counts.late.add(messages);
                return Ok(());
            }
            Lookup::Unknown => return Err(End::Number),
        };
        match topic.deliver(number, batch, self.streams.clock.now()) {
            Some(fanout) => self.streams.counters.fanned_out(fanout),
            None => self.counts.late.add(messages),
        }
        Ok(())
    }
}
