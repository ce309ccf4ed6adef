//! Whoever arrives, over QUIC, WebTransport or WebSocket, until its session begins (MED-11, MED-13, MED-14, MED-19).
use anyhow::{Context, Result};
use moq_net::server::Handshake;
use moq_net::transport::poll::Boxable;
use moq_net::{Error, Server, Session, origin, stats};
use moq_tokio::accept::Health;
use moq_tokio::transport;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;
use web_transport_moq::http::header;
use web_transport_moq::noq::{Connection, Incoming, crypto::rustls::HandshakeData};
use web_transport_moq::proto::ConnectResponse;
use web_transport_moq::{Request, http};

use crate::server::counted::Counted;
use crate::server::limiter::{Limiter, Permit};
use crate::server::quic::{self, Endpoint};
use crate::server::upgrade::{self, upgrade};
use crate::server::{Admission, HandshakeRequest, Limits, Refusal};

/// What takes them.
pub(crate) struct Acceptor {
    pub endpoint: Endpoint,
    pub socket: TcpListener,
    pub health: Health,
    pub handshakes: Arc<Handshakes>,
}

/// What their handshakes need.
pub(crate) struct Handshakes {
    pub limiter: Arc<Limiter>,
    pub admission: Arc<dyn Admission>,
    pub limits: Limits,
    /// A proxy stands before WebSocket, and knows the addresses.
    pub proxied: bool,
}

/// One that came as far as the door, before its session is judged.
pub(crate) struct PendingSession {
    pub transport: &'static str,
    pub permit: Permit,
    /// Bytes that came; none where QUIC counts them itself.
    pub received: Option<Arc<AtomicU64>>,
    /// The address that was asked for; with raw QUIC its path stands in MoQ's SETUP.
    url: Option<Url>,
    peer: Peer,
    deadline: Instant,
}

enum Peer {
    Quic(Box<Handshake<transport::Session<web_transport_moq::Session>>>, Connection),
    WebSocket(Box<Handshake<transport::Session<qmux::Session>>>),
}

/// What a session may touch.
pub(crate) struct Scope {
    pub publisher: Option<origin::Consumer>,
    pub subscriber: Option<origin::Producer>,
    pub stats: stats::Session,
}

/// What became of a handshake: it failed, or whoever it was is refused, or is here.
pub(crate) type HandshakeResult = Result<Result<PendingSession, Refusal>>;

impl Acceptor {
    /// The next that asks for a connection over QUIC; none when the endpoint is closed. It has to prove its address where many arrive.
    pub async fn next_quic(&self) -> Option<Result<(Incoming, Permit), Refusal>> {
        loop {
            let incoming = self.endpoint.noq.accept().await?;
            let limiter = &self.handshakes.limiter;
            if limiter.requires_validation() && !incoming.remote_address_validated() {
                let _ = incoming.retry();
                continue;
            }
            let network = self.handshakes.admission.network(incoming.remote_address().ip());
            return Some(limiter.acquire(Some(network)).map(|permit| (incoming, permit)));
        }
    }

    /// The next socket.
    pub async fn next_socket(&self) -> Result<(TcpStream, SocketAddr, Permit), Refusal> {
        loop {
            match self.socket.accept().await {
                Ok((stream, remote)) => {
                    self.health.accepted();
                    let network = (!self.handshakes.proxied).then(|| self.handshakes.admission.network(remote.ip()));
                    return self.handshakes.limiter.acquire(network).map(|permit| (stream, remote, permit));
                }
                Err(error) => {
                    if let Some(pause) = self.health.failed(&error) {
                        sleep(pause).await;
                    }
                }
            }
        }
    }
}

impl Handshakes {
    fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.limits.handshake_time)
    }

    /// Through the handshake of QUIC, of WebTransport where that is asked for, and of MoQ.
    pub async fn handshake_quic(&self, incoming: Incoming, permit: Permit) -> HandshakeResult {
        let deadline = self.deadline();
        timeout_at(deadline, self.quic(incoming, permit, deadline)).await.context("late")?
    }

    async fn quic(&self, incoming: Incoming, permit: Permit, deadline: Instant) -> HandshakeResult {
        let remote = incoming.remote_address();
        let connection = incoming.await?;
        let data = connection.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok());
        let alpn = data.and_then(|data| data.protocol).context("it did not say what it speaks")?;
        let (session, url) = if alpn == web_transport_moq::ALPN.as_bytes() {
            let request = Request::accept(connection.clone()).await?;
            if let Err(code) =
                self.admission.check_request(&handshake_request(remote, &request.headers, request.url.authority()))
            {
                request.reject(http::StatusCode::FORBIDDEN).await?;
                return Ok(Err(code));
            }
            let url = request.url.clone();
            let known = request.protocols.iter().find(|name| moq_net::ALPNS.contains(&name.as_str()));
            let response = ConnectResponse::OK;
            let response = known.map_or(response.clone(), |known| response.with_protocol(known.clone()));
            (request.respond(response).await?, Some(url))
        } else {
            (web_transport_moq::Session::raw(connection.clone()), None)
        };
        let handshake = accept_moq(transport::Session::new(session)).await?;
        Ok(Ok(PendingSession {
            transport: "quic",
            permit,
            received: None,
            url,
            peer: Peer::Quic(handshake, connection),
            deadline,
        }))
    }

    /// Through the handshake of WebSocket, and of MoQ.
    pub async fn handshake_websocket(&self, stream: TcpStream, remote: SocketAddr, permit: Permit) -> HandshakeResult {
        let deadline = self.deadline();
        timeout_at(deadline, self.socket(stream, remote, permit, deadline)).await.context("late")?
    }

    async fn socket(
        &self,
        stream: TcpStream,
        remote: SocketAddr,
        mut permit: Permit,
        deadline: Instant,
    ) -> HandshakeResult {
        stream.set_nodelay(true)?;
        let authenticate = |headers: &http::HeaderMap| {
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            let network = self.admission.check_request(&handshake_request(remote, headers, host))?;
            permit.count_for(network)
        };
        let (stream, received) = Counted::new(stream);
        let (session, url) = match upgrade(stream, &self.limits, authenticate).await? {
            Ok(upgraded) => upgraded,
            Err(code) => return Ok(Err(code)),
        };
        let handshake = accept_moq(transport::Session::new(session)).await?;
        Ok(Ok(PendingSession {
            transport: "websocket",
            permit,
            received: Some(received),
            url: Some(url),
            peer: Peer::WebSocket(handshake),
            deadline,
        }))
    }
}

fn handshake_request<'a>(remote: SocketAddr, headers: &'a http::HeaderMap, host: &'a str) -> HandshakeRequest<'a> {
    HandshakeRequest {
        direct: remote.ip(),
        origin: headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()),
        host,
        forwarded: upgrade::list(headers, &http::HeaderName::from_static("x-forwarded-for")).collect(),
    }
}

async fn accept_moq<S: Boxable<SendStream: Sync, RecvStream: Sync>>(session: S) -> Result<Box<Handshake<S>>> {
    Ok(Box::new(Server::new().accept_request(Instant::now().into_std(), session).await?))
}

impl PendingSession {
    fn target(&self) -> &str {
        match &self.peer {
            Peer::Quic(handshake, _) => handshake.path(),
            Peer::WebSocket(handshake) => handshake.path(),
        }
    }

    /// What was asked for beside the host: empty for the root.
    pub fn path(&self) -> &str {
        let path = match (self.target(), &self.url) {
            ("", Some(url)) => url.path(),
            (target, _) => target.split_once('?').map_or(target, |(path, _)| path),
        };
        if path == "/" { "" } else { path }
    }

    /// Credentials may stand in it.
    pub fn query(&self) -> &str {
        match (self.target(), &self.url) {
            ("", Some(url)) => url.query().unwrap_or_default(),
            (target, _) => target.split_once('?').map_or("", |(_, query)| query),
        }
    }

    /// It is another relay.
    pub fn apply_link_limits(&self) {
        if let Peer::Quic(_, connection) = &self.peer {
            quic::apply_link_limits(connection);
        }
    }

    /// Lets it in.
    pub async fn begin(self, access: Scope) -> Result<(Session, Permit)> {
        let Self { peer, mut permit, deadline, .. } = self;
        let session = match peer {
            Peer::Quic(handshake, _) => timeout_at(deadline, begin(*handshake, access)).await,
            Peer::WebSocket(handshake) => timeout_at(deadline, begin(*handshake, access)).await,
        };
        let session = session.context("late")??;
        permit.handshake_done();
        Ok((session, permit))
    }

    /// Closes it.
    pub fn refuse(self, error: Error) {
        match self.peer {
            Peer::Quic(handshake, _) => handshake.close(error),
            Peer::WebSocket(handshake) => handshake.close(error),
        }
    }
}

async fn begin<S: Boxable + 'static>(mut handshake: Handshake<S>, access: Scope) -> Result<Session> {
    handshake = handshake.with_stats(access.stats);
    if let Some(publisher) = access.publisher {
        handshake = handshake.with_publisher(publisher);
    }
    if let Some(subscriber) = access.subscriber {
        handshake = handshake.with_subscriber(subscriber);
    }
    let (session, driver) = handshake.ok().await?;
    tokio::spawn(moq_net::time::run(driver));
    Ok(session)
}
