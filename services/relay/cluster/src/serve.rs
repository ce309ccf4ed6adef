//! The sending end of a link: another pod dials, presents the certificate of its lease, and subscribes to topics. Messages for its
//! clients leave on this link; no messages for clients arrive on it. Rules STR-91 to STR-95, STR-139 and STR-141.
use super::end::End;
use super::frames::{Hello, Request};
use super::idle_timeout::IdleTimeout;
use super::outgoing::{Next, Outgoing, Subscription};
use super::shared::Shared;
use super::stream::{Inbound, Stream, split};
use parley_net::network::{self, Shares};
use parley_net::size;
use parley_net::socket;
use parley_streams::{Hop, RemoteSubscriber};
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsStream;

/// The pause after a connection could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// The size of one read: more than the longest request.
const READ_SIZE: usize = 16 * 1024;
/// How long a peer may take to read the last bytes of a link that ends.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Accepts links until the task is aborted.
pub async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // A connection holds a permit before its peer is identified, so that unknown peers are bounded too. The port for other regions is open to
    // networks beyond this one; no network takes the places of all regions.
    let max = shared.scope.max(&shared.limits);
    let permits = Arc::new(tokio::sync::Semaphore::new(2 * max.pods * max.regions));
    let shares = Arc::new(Shares::new(2 * max.pods as u64));
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let network = network::of(address.ip());
                match Arc::clone(&permits).try_acquire_owned() {
                    Ok(permit) if shares.take(network) => {
                        let (shared, shares) = (Arc::clone(&shared), Arc::clone(&shares));
                        tokio::spawn(async move {
                            serve(stream, address, &shared).await;
                            shares.give(network);
                            drop(permit);
                        });
                    }
                    _ => shared.counts.end(End::Full),
                }
            }
            Err(error) => {
                tracing::warn!(why = %error, "accept failed for a link");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, address: SocketAddr, shared: &Arc<Shared>) {
    let (stream, peer) = match handshake(stream, shared).await {
        Ok(opened) => opened,
        Err(end) => {
            shared.counts.end(end);
            tracing::warn!(%address, code = end.name(), "link refused");
            return;
        }
    };
    let (inbound, outbound) = split(stream, READ_SIZE);
    let bounds = shared.scope.bounds(&shared.limits);
    let outgoing = Arc::new(Outgoing::new(Box::new(outbound), bounds, Arc::clone(&shared.counts)));
    let registration = match shared.accepted.register(&peer.pod, peer.epoch, &outgoing) {
        Ok(registration) => registration,
        Err(end) => {
            shared.counts.end(end);
            tracing::warn!(%address, pod = peer.pod, code = end.name(), "link refused");
            return;
        }
    };
    shared.counts.sending.add(1);
    tracing::info!(%address, pod = peer.pod, epoch = peer.epoch, "link up: sending");
    let end = match exchange(inbound, &outgoing, shared).await {
        End::Peer if shared.is_draining() => End::Draining,
        End::Peer if !registration.is_current() => End::Replaced,
        end => end,
    };
    outgoing.end();
    shared.counts.sending.sub(1);
    shared.counts.end(end);
    tracing::info!(%address, pod = peer.pod, code = end.name(), "link down: sending");
}

/// The pod that dialled.
struct Peer {
    pod: String,
    epoch: u64,
}

/// Identifies the pod that dialled, and answers its hello, within `link.openTimeout`. Its lease may arrive after it dialled.
async fn handshake(stream: TcpStream, shared: &Shared) -> Result<(TlsStream<TcpStream>, Peer), End> {
    socket::prepare(&stream);
    let deadline = Instant::now() + Duration::from_millis(shared.limits.link_open_timeout);
    let received = async {
        let (mut stream, certificate) = shared.identity.accept(stream).await?;
        let Hello { pod } = Hello::receive(&mut stream).await?;
        Ok((stream, certificate, pod))
    };
    let (mut stream, certificate, pod) = timeout_at(deadline, received).await.map_err(|_| End::Timeout)??;
    let epoch = timeout_at(deadline, shared.epoch_of(&pod, certificate)).await.map_err(|_| End::Certificate)?;
    let answer = async {
        stream.write_all(&Hello { pod: shared.own.pod.clone() }.bytes()).await?;
        stream.flush().await
    };
    timeout_at(deadline, answer).await.map_err(|_| End::Timeout)?.map_err(|_| End::Peer)?;
    Ok((stream, Peer { pod, epoch }))
}

async fn exchange(inbound: Inbound, outgoing: &Arc<Outgoing>, shared: &Arc<Shared>) -> End {
    let idle = IdleTimeout::start(&shared.limits);
    let (shared, outgoing) = (Arc::clone(shared), Arc::clone(outgoing));
    let subscriptions = PeerSubscriptions {
        shared,
        outgoing: Arc::clone(&outgoing),
        active: HashMap::new(),
        topics: HashSet::new(),
        last: 0,
    };
    let stream = inbound.stream();
    let receiving = receive(inbound, subscriptions, &idle);
    tokio::pin!(receiving);
    tokio::select! {
        end = &mut receiving => return end,
        end = idle.expired() => return end,
        () = send(&stream, &outgoing) => {}
    }
    // Closing a socket with unread bytes would reset the connection and discard the last messages.
    timeout(CLOSE_TIMEOUT, receiving).await.unwrap_or(End::Peer)
}

/// Sends what waits until the link ends.
async fn send(stream: &Stream, outgoing: &Outgoing) {
    while poll_fn(|cx| outgoing.flush(cx)).await == Next::Blocked {
        if stream.writable().await.is_err() {
            outgoing.end();
        }
    }
}

/// Receives the requests of the peer.
async fn receive(mut inbound: Inbound, mut subscriptions: PeerSubscriptions, idle: &IdleTimeout) -> End {
    let (mut input, mut filled) = (vec![0; READ_SIZE], 0);
    loop {
        match inbound.read(&mut input[filled..]).await {
            Ok(0) | Err(_) => return End::Peer,
            Ok(read) => filled += read,
        }
        idle.restart();
        let mut taken = 0;
        loop {
            match Request::read(&input[taken..filled]) {
                Ok(Some((request, size))) => {
                    taken += size;
                    if let Err(end) = subscriptions.process(request) {
                        return end;
                    }
                }
                Ok(None) => break,
                Err(end) => return end,
            }
        }
        input.copy_within(taken..filled, 0);
        filled -= taken;
        // A peer that sends requests without pause must not occupy the thread.
        tokio::task::yield_now().await;
    }
}

/// The subscriptions of the peer. Dropping it ends all of them.
struct PeerSubscriptions {
    shared: Arc<Shared>,
    outgoing: Arc<Outgoing>,
    active: HashMap<u64, (Arc<str>, Arc<dyn RemoteSubscriber>)>,
    topics: HashSet<(Hop, Arc<str>)>,
    /// The greatest number received.
    last: u64,
}

impl PeerSubscriptions {
    fn process(&mut self, request: Request) -> Result<(), End> {
        match request {
            Request::Subscribe { hop, .. } if !self.carries(hop) => return Err(End::Hop),
            Request::Subscribe { number, hop, replay, topic } if number > self.last => {
                self.last = number;
                let topic: Arc<str> = topic.into();
                // A pod subscribes to a topic once; each further subscription would cost one more copy.
                if self.topics.contains(&(hop.unwrap_or(Hop::Region), Arc::clone(&topic))) {
                    return Err(End::SubscriptionId);
                }
                self.subscribe(number, hop, &topic, replay);
                // A refused subscription is acknowledged too: the peer has nothing to wait for.
                self.outgoing.acknowledge(number);
            }
            Request::Unsubscribe { number } if number <= self.last => self.unsubscribe(number),
            Request::Subscribe { .. } | Request::Unsubscribe { .. } => return Err(End::SubscriptionId),
            Request::Ping { stamp, round_trip } => {
                self.outgoing.pong(stamp, Duration::from_micros(round_trip.into()));
            }
        }
        Ok(())
    }

    /// Whether a pod of this scope may subscribe in this way: the port of another region to what crosses the ocean, a pod of this region to what
    /// is published here and, if this pod may be a port, to what came over oceans.
    fn carries(&self, hop: Option<Hop>) -> bool {
        let hop = hop.unwrap_or(Hop::Region);
        self.shared.scope.carries(hop) && (hop != Hop::Inland || self.shared.streams.interest.own().is_port)
    }

    fn subscribe(&mut self, number: u64, hop: Option<Hop>, topic: &Arc<str>, replay: bool) {
        if self.active.len() >= size(self.shared.limits.link_subscriptions) {
            self.shared.counts.subscription_refusals.add(1);
            return;
        }
        self.outgoing.open(number);
        let subscription: Arc<dyn RemoteSubscriber> = Arc::new(Subscription::new(&self.outgoing, number, hop));
        if self.shared.streams.topics.subscribe(topic, &subscription, replay).is_err() {
            self.outgoing.close(number);
            self.shared.counts.subscription_refusals.add(1);
            return;
        }
        self.topics.insert((subscription.hop(), Arc::clone(topic)));
        self.active.insert(number, (Arc::clone(topic), subscription));
        self.shared.counts.subscriptions.add(1);
    }

    fn unsubscribe(&mut self, number: u64) {
        let Some((topic, subscription)) = self.active.remove(&number) else { return };
        self.topics.remove(&(subscription.hop(), Arc::clone(&topic)));
        self.shared.streams.topics.unsubscribe(&topic, &subscription);
        self.outgoing.close(number);
        self.shared.counts.subscriptions.sub(1);
    }
}

impl Drop for PeerSubscriptions {
    fn drop(&mut self) {
        let numbers: Vec<u64> = self.active.keys().copied().collect();
        for number in numbers {
            self.unsubscribe(number);
        }
    }
}
