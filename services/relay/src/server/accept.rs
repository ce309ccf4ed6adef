//! From a TCP connection to a client on its topic: guards with early return, each with its own code.
use super::connection::{Connection, TcpOutlet};
use super::doors::{self, Entry};
use super::first_message::{self, Heard};
use super::request::{self, Request};
use super::respond::Response;
use super::stats_socket::{self, Watcher};
use super::{api, pages, upgrade, visitor};
use crate::relay::Relay;
use crate::stats::Client;
use bytes::Bytes;
use parley_access::{Grant, scope};
use parley_net::addresses::Counted;
use parley_net::codes::Code;
use parley_net::socket;
use parley_streams::queue::Frame;
use parley_streams::{Reader, Route, route};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long to wait after a connection could not be accepted: usually there is no descriptor left.
pub(super) const BREATH: Duration = Duration::from_millis(50);
/// The most of a user agent that is kept.
const USER_AGENT: usize = 200;

/// Accepts connections until the pod drains.
pub async fn run(listener: TcpListener, relay: Arc<Relay>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = relay.drain_begins() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Behind proxies the address is theirs, until a head says whose the connection is.
                let direct = (relay.settings.trusted_proxies == 0).then(|| peer.ip());
                // Above all limits there is not even an answer.
                let Some(counted) = relay.addresses.accept(direct) else { continue };
                socket::prepare(&stream);
                tokio::spawn(serve(stream, peer, counted, Arc::clone(&relay)));
            }
            Err(why) => {
                tracing::warn!(%why, "accept failed");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

/// What the head of a request led to.
enum Admitted {
    Topic(Connection),
    Stats(TcpStream, Watcher),
}

async fn serve(stream: TcpStream, peer: SocketAddr, mut counted: Counted, relay: Arc<Relay>) {
    // Boxed, so that a socket that stays for days does not keep the room of its handshake.
    match Box::pin(admit(stream, peer, &mut counted, &relay)).await {
        Some(Admitted::Topic(connection)) => connection.await,
        Some(Admitted::Stats(stream, watcher)) => Box::pin(stats_socket::run(stream, watcher, relay)).await,
        None => {}
    }
    drop(counted);
}

async fn admit(mut stream: TcpStream, peer: SocketAddr, counted: &mut Counted, relay: &Arc<Relay>) -> Option<Admitted> {
    let patience = Duration::from_millis(relay.limits.headers_timeout);
    let head = match tokio::time::timeout(patience, read_head(&mut stream, relay)).await {
        Ok(Ok(head)) => head?,
        Ok(Err(code)) => return refuse(&mut stream, code, relay).await,
        Err(_) => return refuse(&mut stream, Code::UpgradeTimeout, relay).await,
    };
    let (request, rest) = head;
    let address = visitor::address(&request, peer.ip(), relay.settings.trusted_proxies);
    if !request.is_upgrade() {
        // Its body and its code are a network's too.
        if request.path().starts_with("/v1/")
            && let Err(code) = counted.admit(address)
        {
            return refuse(&mut stream, code, relay).await;
        }
        if let Some(response) = api::answer(&request, &rest, &mut stream, address, relay).await {
            response.send(&mut stream, false).await;
            return None;
        }
        match pages::answer(&request, relay) {
            Ok(response) => response.send(&mut stream, request.method == "HEAD").await,
            Err(code) => return refuse(&mut stream, code, relay).await,
        }
        return None;
    }
    match open(&request, address, counted, relay) {
        Ok(Door::Stats(response)) => match doors::to_statistics(&request, address, relay) {
            Ok(entry) => {
                stream.write_all(response.as_bytes()).await.ok()?;
                let watcher = watch(entry, &mut stream, rest, relay).await?;
                Some(Admitted::Stats(stream, watcher))
            }
            Err(code) => refuse(&mut stream, code, relay).await,
        },
        Ok(Door::Topic(route, response)) => {
            let entry = match doors::at_upgrade(&request, address, &route, relay).await {
                Ok(entry) => entry,
                Err(code) => return refuse(&mut stream, code, relay).await,
            };
            let guest = enter(entry, &mut stream, rest, route, response, relay).await?;
            connect(stream, guest, &request, address, relay)
        }
        Err(code) => refuse(&mut stream, code, relay).await,
    }
}

/// Where an upgrade leads, with the answer to the handshake.
enum Door {
    Topic(Route, String),
    Stats(String),
}

fn open(request: &Request, address: IpAddr, counted: &mut Counted, relay: &Arc<Relay>) -> Result<Door, Code> {
    if request.method != "GET" {
        return Err(Code::MethodNotAllowed);
    }
    if !visitor::is_origin_allowed(request, &relay.settings.origins) {
        return Err(Code::OriginDenied);
    }
    if relay.is_draining() {
        return Err(Code::NotReady);
    }
    if request.path() == stats_socket::PATH && relay.settings.stats {
        let response = upgrade::answer(request)?;
        counted.admit(address)?;
        return Ok(Door::Stats(response));
    }
    let route = route::parse(&request.target, parley_net::size(relay.limits.topic_bytes))?;
    let response = upgrade::answer(request)?;
    counted.admit(address)?;
    if !relay.topics.admits(&route) {
        return Err(Code::TooManyTopics);
    }
    Ok(Door::Topic(route, response))
}

/// A client that was let in, with the role it may have.
struct Guest {
    route: Route,
    grant: Option<Grant>,
    /// What tells it that its socket is open.
    answer: Bytes,
    /// What came after its handshake.
    rest: Vec<u8>,
}

async fn enter(
    entry: Entry<'_>,
    stream: &mut TcpStream,
    rest: Vec<u8>,
    route: Route,
    response: String,
    relay: &Relay,
) -> Option<Guest> {
    let Heard { pass, answer, rest } = match entry {
        Entry::Open => return Some(Guest { route, grant: None, answer: response.into(), rest }),
        Entry::With(pass) => Heard { pass, answer: response.into(), rest },
        Entry::FirstMessage(access, _waiting) => {
            stream.write_all(response.as_bytes()).await.ok()?;
            first_message::hear(stream, rest, &scope::path(&route), relay, |token| access.judge(token, &route)).await?
        }
    };
    Some(Guest { route: Route { role: pass.role, ..route }, grant: Some(pass.grant), answer, rest })
}

/// The upgrade was answered: lets an operator in, whose token may come first.
async fn watch(entry: Entry<'_, Grant>, stream: &mut TcpStream, rest: Vec<u8>, relay: &Relay) -> Option<Watcher> {
    match entry {
        Entry::Open => Some(Watcher { grant: None, rest }),
        Entry::With(grant) => Some(Watcher { grant: Some(grant), rest }),
        Entry::FirstMessage(access, _waiting) => {
            let heard =
                first_message::hear(stream, rest, stats_socket::PATH, relay, |token| access.watch(token)).await?;
            stream.write_all(&heard.answer).await.ok()?;
            Some(Watcher { grant: Some(heard.pass), rest: heard.rest })
        }
    }
}

fn connect(
    stream: TcpStream,
    guest: Guest,
    request: &Request,
    address: IpAddr,
    relay: &Arc<Relay>,
) -> Option<Admitted> {
    let Guest { route, grant, answer, rest } = guest;
    let (inbound, outbound) = stream.into_split();
    let reader =
        Reader::new(relay.next_id(), Box::new(TcpOutlet(outbound)), relay.bounds(), Arc::clone(&relay.backlog));
    let reader = Arc::new(reader);
    let agent: String = request.header("user-agent").unwrap_or_default().chars().take(USER_AGENT).collect();
    let now = relay.now();
    // It is on its topic before it knows that its socket is open: nothing is sent in between.
    reader.control(Frame::Answer, answer, now);
    let membership = match relay.topics.enter(&route, &reader, now) {
        Ok(membership) => membership,
        Err(code) => {
            relay.counters.closed.count(code);
            reader.close(code);
            reader.flush(&Context::from_waker(Waker::noop()), now);
            return None;
        }
    };
    let listed = relay.clients.add(Client::new(route, grant, address, &agent, reader, now));
    relay.counters.opened.add(1);
    Some(Admitted::Topic(Connection::new(Arc::clone(relay), listed, membership, inbound, rest)))
}

async fn refuse(stream: &mut TcpStream, code: Code, relay: &Relay) -> Option<Admitted> {
    relay.counters.refused.count(code);
    Response::refusal(code).send(stream, false).await;
    None
}

/// Reads until the head is complete. `None`: the peer went away.
pub(super) async fn read_head(stream: &mut TcpStream, relay: &Relay) -> Result<Option<(Request, Vec<u8>)>, Code> {
    let most = parley_net::size(relay.limits.headers_bytes);
    let mut input = Vec::with_capacity(1024);
    loop {
        match stream.read_buf(&mut input).await {
            Ok(0) | Err(_) => return Ok(None),
            Ok(_) => {}
        }
        match request::parse(&input)? {
            Some((_, size)) if size > most => return Err(Code::HeadersTooLarge),
            Some((request, size)) => return Ok(Some((request, input.split_off(size)))),
            None if input.len() >= most => return Err(Code::HeadersTooLarge),
            None => {}
        }
    }
}
