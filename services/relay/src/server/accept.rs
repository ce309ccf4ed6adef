//! From a TCP connection to a client of a topic: guards with early return, each with its own code.
use super::authorize::{self, Authorization};
use super::connection::{Connection, TcpOutlet};
use super::first_message::{self, Authenticated};
use super::request::{self, Request};
use super::respond::Response;
use super::stats_socket::{self, StatsClient};
use super::{api, pages, upgrade};
use crate::relay::Relay;
use crate::relay::clients::Client;
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

/// The pause after a connection could not be accepted: usually the process has no descriptor left.
pub(super) const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// The characters of a user agent that are kept.
const MAX_USER_AGENT: usize = 200;

/// Accepts connections until the pod drains.
pub async fn run(listener: TcpListener, relay: Arc<Relay>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = relay.drain_begins() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Behind proxies this is the address of a proxy; the request head contains the address of the client.
                let direct = (relay.settings.trusted_proxies == 0).then(|| peer.ip());
                // Far above the limits a connection is closed without an answer.
                let Some(counted) = relay.addresses.accept(direct) else { continue };
                socket::prepare(&stream);
                tokio::spawn(serve(stream, peer, counted, Arc::clone(&relay)));
            }
            Err(error) => {
                tracing::warn!(why = %error, "accept failed");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// The result of a request head.
enum Admitted {
    Topic(Connection),
    Stats(TcpStream, StatsClient),
}

async fn serve(stream: TcpStream, peer: SocketAddr, mut counted: Counted, relay: Arc<Relay>) {
    // Boxed, so that a connection of days does not keep the memory of its handshake.
    match Box::pin(admit(stream, peer, &mut counted, &relay)).await {
        Some(Admitted::Topic(connection)) => connection.await,
        Some(Admitted::Stats(stream, client)) => Box::pin(stats_socket::run(stream, client, relay)).await,
        None => {}
    }
    drop(counted);
}

async fn admit(mut stream: TcpStream, peer: SocketAddr, counted: &mut Counted, relay: &Arc<Relay>) -> Option<Admitted> {
    let headers_timeout = Duration::from_millis(relay.limits.headers_timeout);
    let head = match tokio::time::timeout(headers_timeout, read_head(&mut stream, relay)).await {
        Ok(Ok(head)) => head?,
        Ok(Err(code)) => return refuse(&mut stream, code, relay).await,
        Err(_) => return refuse(&mut stream, Code::UpgradeTimeout, relay).await,
    };
    let (request, rest) = head;
    let address = request.client_address(peer.ip(), relay.settings.trusted_proxies);
    if !request.is_upgrade() {
        // The body of the request and its code count for the network.
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
    match check_upgrade(&request, address, counted, relay) {
        Ok(Target::Stats(response)) => match authorize::statistics(&request, address, relay) {
            Ok(authorization) => {
                stream.write_all(response.as_bytes()).await.ok()?;
                let client = authenticate_operator(authorization, &mut stream, rest, relay).await?;
                Some(Admitted::Stats(stream, client))
            }
            Err(code) => refuse(&mut stream, code, relay).await,
        },
        Ok(Target::Topic(route, response)) => {
            let authorization = match authorize::topic(&request, address, &route, relay).await {
                Ok(authorization) => authorization,
                Err(code) => return refuse(&mut stream, code, relay).await,
            };
            let client = authenticate(authorization, &mut stream, rest, route, response, relay).await?;
            connect(stream, client, &request, address, relay)
        }
        Err(code) => refuse(&mut stream, code, relay).await,
    }
}

/// What an upgrade opens, with the answer to the handshake.
enum Target {
    Topic(Route, String),
    Stats(String),
}

/// Checks an upgrade in everything but its authorization.
fn check_upgrade(
    request: &Request,
    address: IpAddr,
    counted: &mut Counted,
    relay: &Arc<Relay>,
) -> Result<Target, Code> {
    if request.method != "GET" {
        return Err(Code::MethodNotAllowed);
    }
    if !request.is_origin_allowed(&relay.settings.origins) {
        return Err(Code::OriginDenied);
    }
    if relay.is_draining() {
        return Err(Code::NotReady);
    }
    if request.path() == stats_socket::PATH && relay.settings.stats {
        let response = upgrade::answer(request)?;
        counted.admit(address)?;
        return Ok(Target::Stats(response));
    }
    let route = route::parse(&request.target, parley_net::size(relay.limits.topic_bytes))?;
    let response = upgrade::answer(request)?;
    counted.admit(address)?;
    if !relay.topics.admits(&route) {
        return Err(Code::TooManyTopics);
    }
    Ok(Target::Topic(route, response))
}

/// An authorized client; the role of its route is the permitted one.
struct AuthorizedClient {
    route: Route,
    grant: Option<Grant>,
    /// The message that opens the socket.
    answer: Bytes,
    /// The input after the handshake.
    rest: Vec<u8>,
}

async fn authenticate(
    authorization: Authorization<'_>,
    stream: &mut TcpStream,
    rest: Vec<u8>,
    route: Route,
    response: String,
    relay: &Relay,
) -> Option<AuthorizedClient> {
    let Authenticated { pass, answer, rest } = match authorization {
        Authorization::NotRequired => {
            return Some(AuthorizedClient { route, grant: None, answer: response.into(), rest });
        }
        Authorization::Granted(pass) => Authenticated { pass, answer: response.into(), rest },
        Authorization::FirstMessage(access, _counted) => {
            stream.write_all(response.as_bytes()).await.ok()?;
            let authorize = |token: &[u8]| access.authorize(token, &route);
            first_message::receive_token(stream, rest, &scope::path(&route), relay, authorize).await?
        }
    };
    Some(AuthorizedClient { route: Route { role: pass.role, ..route }, grant: Some(pass.grant), answer, rest })
}

/// Authenticates an operator after the answer to the upgrade; the first message may be the token.
async fn authenticate_operator(
    authorization: Authorization<'_, Grant>,
    stream: &mut TcpStream,
    rest: Vec<u8>,
    relay: &Relay,
) -> Option<StatsClient> {
    match authorization {
        Authorization::NotRequired => Some(StatsClient { grant: None, rest }),
        Authorization::Granted(grant) => Some(StatsClient { grant: Some(grant), rest }),
        Authorization::FirstMessage(access, _counted) => {
            let authorize = |token: &[u8]| access.authorize_statistics(token);
            let Authenticated { pass, answer, rest } =
                first_message::receive_token(stream, rest, stats_socket::PATH, relay, authorize).await?;
            stream.write_all(&answer).await.ok()?;
            Some(StatsClient { grant: Some(pass), rest })
        }
    }
}

fn connect(
    stream: TcpStream,
    client: AuthorizedClient,
    request: &Request,
    address: IpAddr,
    relay: &Arc<Relay>,
) -> Option<Admitted> {
    let AuthorizedClient { route, grant, answer, rest } = client;
    let (inbound, outbound) = stream.into_split();
    let reader =
        Reader::new(relay.next_id(), Box::new(TcpOutlet(outbound)), relay.bounds(), Arc::clone(&relay.backlog));
    let reader = Arc::new(reader);
    let agent: String = request.header("user-agent").unwrap_or_default().chars().take(MAX_USER_AGENT).collect();
    let now = relay.now();
    // The client joins its topic before it learns that its socket is open, so it misses no message in between.
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

/// Reads a request head. `None`: the peer closed the connection.
pub(super) async fn read_head(stream: &mut TcpStream, relay: &Relay) -> Result<Option<(Request, Vec<u8>)>, Code> {
    let max = parley_net::size(relay.limits.headers_bytes);
    let mut input = Vec::with_capacity(1024);
    loop {
        match stream.read_buf(&mut input).await {
            Ok(0) | Err(_) => return Ok(None),
            Ok(_) => {}
        }
        match request::parse(&input)? {
            Some((_, size)) if size > max => return Err(Code::HeadersTooLarge),
            Some((request, size)) => return Ok(Some((request, input.split_off(size)))),
            None if input.len() >= max => return Err(Code::HeadersTooLarge),
            None => {}
        }
    }
}
