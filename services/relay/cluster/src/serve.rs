//! The sending end of a link: another pod dialled, shows the certificate in its lease, and says which topics it wants. What its
//! clients may hear goes out; nothing a client could hear comes in. Rules STR-91 to STR-95.
use super::Shared;
use super::end::End;
use super::frames::{Hello, Request};
use super::lanes::{Bounds, Lane, Next, Outgoing};
use super::pulse::Pulse;
use super::stream::{Inbound, Stream, split};
use parley_net::size;
use parley_net::socket;
use parley_streams::RemoteSubscriber;
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsStream;

/// How long to wait after a connection could not be accepted.
const BREATH: Duration = Duration::from_millis(50);
/// How much one read takes: more than the longest request.
const READ: usize = 16 * 1024;
/// How long a peer has to take the last bytes of a link that ends.
pub const GOODBYE: Duration = Duration::from_secs(1);

/// Takes links until the task is ended.
pub async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // Strangers hold a place until it is known who they are, so that they are bounded too.
    let places = Arc::new(tokio::sync::Semaphore::new(2 * size(shared.limits.link_peers)));
    loop {
        match listener.accept().await {
            Ok((stream, address)) => match Arc::clone(&places).try_acquire_owned() {
                Ok(place) => {
                    let shared = Arc::clone(&shared);
                    tokio::spawn(async move {
                        serve(stream, address, &shared).await;
                        drop(place);
                    });
                }
                Err(_) => shared.counts.end(End::Full),
            },
            Err(why) => {
                tracing::warn!(%why, "accept failed for a link");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, address: SocketAddr, shared: &Arc<Shared>) {
    let (stream, peer) = match greet(stream, shared).await {
        Ok(greeted) => greeted,
        Err(end) => {
            shared.counts.end(end);
            tracing::warn!(%address, code = end.name(), "link refused");
            return;
        }
    };
    let (inbound, outbound) = split(stream, READ);
    let bounds = Bounds::of(&shared.limits);
    let outgoing = Arc::new(Outgoing::new(Box::new(outbound), bounds, Arc::clone(&shared.counts)));
    let place = match shared.served.enter(&peer.pod, peer.epoch, &outgoing) {
        Ok(place) => place,
        Err(end) => {
            shared.counts.end(end);
            tracing::warn!(%address, pod = peer.pod, code = end.name(), "link refused");
            return;
        }
    };
    shared.counts.sends.add(1);
    tracing::info!(%address, pod = peer.pod, epoch = peer.epoch, "link up: sending");
    let end = match talk(inbound, &outgoing, shared).await {
        End::Peer if shared.is_leaving() => End::Leaving,
        End::Peer if !place.is_held() => End::Replaced,
        end => end,
    };
    outgoing.end();
    shared.counts.sends.sub(1);
    shared.counts.end(end);
    tracing::info!(%address, pod = peer.pod, code = end.name(), "link down: sending");
}

/// Who dialled.
struct Peer {
    pod: String,
    epoch: u64,
}

/// Finds out who dialled, and answers its hello; within `link.openTimeout`. Its lease may come later than the link.
async fn greet(stream: TcpStream, shared: &Shared) -> Result<(TlsStream<TcpStream>, Peer), End> {
    socket::prepare(&stream);
    let until = Instant::now() + Duration::from_millis(shared.limits.link_open_timeout);
    let shown = async {
        let (mut stream, certificate) = shared.identity.accept(stream).await?;
        let Hello { pod } = Hello::hear(&mut stream).await?;
        Ok((stream, certificate, pod))
    };
    let (mut stream, certificate, pod) = timeout_at(until, shown).await.map_err(|_| End::Timeout)??;
    let epoch = timeout_at(until, shared.holder(&pod, certificate)).await.map_err(|_| End::Certificate)?;
    let answer = async {
        stream.write_all(&Hello { pod: shared.own.pod.clone() }.bytes()).await?;
        stream.flush().await
    };
    timeout_at(until, answer).await.map_err(|_| End::Timeout)?.map_err(|_| End::Peer)?;
    Ok((stream, Peer { pod, epoch }))
}

async fn talk(inbound: Inbound, outgoing: &Arc<Outgoing>, shared: &Arc<Shared>) -> End {
    let pulse = Pulse::new(&shared.limits);
    let (shared, outgoing) = (Arc::clone(shared), Arc::clone(outgoing));
    let wants =
        Wants { shared, outgoing: Arc::clone(&outgoing), here: HashMap::new(), topics: HashSet::new(), last: 0 };
    let stream = inbound.stream();
    let hearing = hear(inbound, wants, &pulse);
    tokio::pin!(hearing);
    tokio::select! {
        end = &mut hearing => return end,
        end = pulse.stops() => return end,
        () = send(&stream, &outgoing) => {}
    }
    // Ending with unread bytes would reset the connection, and take the last messages with it.
    timeout(GOODBYE, hearing).await.unwrap_or(End::Peer)
}

/// Sends what waits until the link ended.
async fn send(stream: &Stream, outgoing: &Outgoing) {
    while poll_fn(|cx| outgoing.flush(cx)).await == Next::Blocked {
        if stream.writable().await.is_err() {
            outgoing.end();
        }
    }
}

async fn hear(mut inbound: Inbound, mut wants: Wants, pulse: &Pulse) -> End {
    let (mut input, mut filled) = (vec![0; READ], 0);
    loop {
        match inbound.read(&mut input[filled..]).await {
            Ok(0) | Err(_) => return End::Peer,
            Ok(read) => filled += read,
        }
        pulse.beat();
        let mut taken = 0;
        loop {
            match Request::read(&input[taken..filled]) {
                Ok(Some((request, size))) => {
                    taken += size;
                    if let Err(end) = wants.take(request) {
                        return end;
                    }
                }
                Ok(None) => break,
                Err(end) => return end,
            }
        }
        input.copy_within(taken..filled, 0);
        filled -= taken;
        // A peer that never stops asking must not keep the thread from others.
        tokio::task::yield_now().await;
    }
}

/// What the peer wants; dropping it ends all of it.
struct Wants {
    shared: Arc<Shared>,
    outgoing: Arc<Outgoing>,
    here: HashMap<u64, (Arc<str>, Arc<dyn RemoteSubscriber>)>,
    topics: HashSet<Arc<str>>,
    /// The greatest number so far.
    last: u64,
}

impl Wants {
    fn take(&mut self, request: Request) -> Result<(), End> {
        match request {
            // A pod wants a topic once; each further want would be one more copy to be sent.
            Request::Subscribe { number, replay, topic } if number > self.last && !self.topics.contains(&*topic) => {
                self.last = number;
                self.want(number, &topic.into(), replay);
                // One that was refused too: there is nothing to wait for.
                self.outgoing.acknowledge(number);
            }
            Request::Unsubscribe { number } if number <= self.last => self.unwant(number),
            Request::Subscribe { .. } | Request::Unsubscribe { .. } => return Err(End::Number),
            Request::Ping { stamp, round_trip } => {
                self.outgoing.pong(stamp, Duration::from_micros(round_trip.into()));
            }
        }
        Ok(())
    }

    fn want(&mut self, number: u64, topic: &Arc<str>, replay: bool) {
        if self.here.len() >= size(self.shared.limits.link_subscriptions) {
            self.shared.counts.refused.add(1);
            return;
        }
        self.outgoing.open(number);
        let lane: Arc<dyn RemoteSubscriber> = Arc::new(Lane::new(&self.outgoing, number));
        self.shared.streams.topics.subscribe(topic, &lane, replay);
        self.topics.insert(Arc::clone(topic));
        self.here.insert(number, (Arc::clone(topic), lane));
        self.shared.counts.asked.add(1);
    }

    fn unwant(&mut self, number: u64) {
        let Some((topic, lane)) = self.here.remove(&number) else { return };
        self.topics.remove(&topic);
        self.shared.streams.topics.unsubscribe(&topic, &lane);
        self.outgoing.shut(number);
        self.shared.counts.asked.sub(1);
    }
}

impl Drop for Wants {
    fn drop(&mut self) {
        let numbers: Vec<u64> = self.here.keys().copied().collect();
        for number in numbers {
            self.unwant(number);
        }
    }
}
