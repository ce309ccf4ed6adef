//! Accepts connections over QUIC, WebTransport and WebSocket and completes their handshakes (MED-11, MED-13, MED-14, MED-19).
use anyhow::{Context, Result};
use moq_net::server::Handshake;
use moq_net::web_transport_trait::Session as _;
use moq_net::{Error, Server, Session, SessionError, origin, stats};
use moq_tokio::accept::Health;
use moq_tokio::transport;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;
use web_transport_moq::http::header;
use web_transport_moq::noq::{Connection, Incoming, crypto::rustls::HandshakeData};
use web_transport_moq::proto::ConnectResponse;
use web_transport_moq::{Request, http};

use crate::server::counted::{CountedTcp, Received};
use crate::server::fanout::divided::Divided;
use crate::server::fanout::{Audience, Carrier};
use crate::server::limiter::{Limiter, Permit};
use crate::server::network::Network;
use crate::server::quic::{self, Endpoint};
use crate::server::upgrade::{self, upgrade};
use crate::server::{Admission, HandshakeRequest, Limits, Refusal};

/// The listening sockets.
pub(crate) struct Acceptor {
    pub endpoint: Endpoint,
    pub socket: TcpListener,
    pub health: Health,
    pub handshakes: Arc<Handshakes>,
}

/// Completes handshakes.
pub(crate) struct Handshakes {
    pub limiter: Arc<Limiter>,
    pub admission: Arc<dyn Admission>,
    pub limits: Limits,
    /// Whether a proxy in front of WebSocket reports the addresses of clients.
    pub proxied: bool,
    /// What all sockets have received.
    pub received: Received,
}

/// A session whose handshake reached the credential, which is not yet authenticated.
pub(crate) struct PendingSession {
    pub permit: Permit,
    /// The requested URL. With raw QUIC, MoQ's SETUP has the path instead.
    url: Option<Url>,
    peer: Peer,
    deadline: Instant,
}

enum Peer {
    Quic(Negotiated<web_transport_moq::Session>, Connection),
    /// With the received bytes.
    WebSocket(Negotiated<qmux::Session>, Received),
}

/// A session after the handshake of MoQ.
struct Negotiated<S: Carrier> {
    handshake: Box<Handshake<transport::Session<Divided<S>>>>,
    session: Divided<S>,
}

/// The broadcasts that a session may access.
pub(crate) struct Scope {
    pub publisher: Option<origin::Consumer>,
    pub subscriber: Option<origin::Producer>,
    pub stats: stats::Session,
    /// What the fan-out serves it; `None` for links, whose subscriptions MoQ's library serves.
    pub audience: Option<Audience>,
}

/// The result of a handshake: an error if it failed, a refusal, or a session.
pub(crate) type HandshakeResult = Result<Result<PendingSession, Refusal>>;

impl Acceptor {
    /// Returns the next QUIC connection; `None` when the endpoint is closed. Under load, a client first has to prove its address.
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

    /// Returns the next TCP connection.
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

    /// Completes the handshakes of QUIC, of WebTransport if the client requests it, and of MoQ.
    pub async fn handshake_quic(&self, incoming: Incoming, permit: Permit) -> HandshakeResult {
        let deadline = self.deadline();
        timeout_at(deadline, self.quic(incoming, permit, deadline)).await.context("handshake timeout")?
    }

    async fn quic(&self, incoming: Incoming, permit: Permit, deadline: Instant) -> HandshakeResult {
        let remote = incoming.remote_address();
        let connection = incoming.await?;
        let data = connection.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok());
        let alpn = data.and_then(|data| data.protocol).context("the client offered no ALPN")?;
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
        let negotiated = accept_moq(session).await?;
        Ok(Ok(PendingSession { permit, url, peer: Peer::Quic(negotiated, connection), deadline }))
    }

    /// Completes the handshakes of WebSocket and MoQ.
    pub async fn handshake_websocket(&self, stream: TcpStream, remote: SocketAddr, permit: Permit) -> HandshakeResult {
        let deadline = self.deadline();
        timeout_at(deadline, self.socket(stream, remote, permit, deadline)).await.context("handshake timeout")?
    }

    async fn socket(
        &self,
        stream: TcpStream,
        remote: SocketAddr,
        mut permit: Permit,
        deadline: Instant,
    ) -> HandshakeResult {
        stream.set_nodelay(true)?;
        let check = |headers: &http::HeaderMap| {
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            let network = self.admission.check_request(&handshake_request(remote, headers, host))?;
            permit.count_for(network)
        };
        let (stream, received) = CountedTcp::new(stream, self.received.clone());
        let (session, url) = match upgrade(stream, &self.limits, check).await? {
            Ok(upgraded) => upgraded,
            Err(code) => return Ok(Err(code)),
        };
        let negotiated = accept_moq(session).await?;
        Ok(Ok(PendingSession { permit, url: Some(url), peer: Peer::WebSocket(negotiated, received), deadline }))
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

async fn accept_moq<S: Carrier>(session: S) -> Result<Negotiated<S>> {
    let session = Divided::new(session);
    let library = transport::Session::new(session.clone());
    let handshake = Box::new(Server::new().accept_request(Instant::now().into_std(), library).await?);
    Ok(Negotiated { handshake, session })
}

impl PendingSession {
    fn target(&self) -> &str {
        match &self.peer {
            Peer::Quic(negotiated, _) => negotiated.handshake.path(),
            Peer::WebSocket(negotiated, _) => negotiated.handshake.path(),
        }
    }

    /// When the handshake began.
    pub fn began(&self, limits: &Limits) -> SystemTime {
        let left = self.deadline.saturating_duration_since(Instant::now());
        SystemTime::now() - Duration::from_millis(limits.handshake_time).saturating_sub(left)
    }

    /// The path of the URL: empty for the root.
    pub fn path(&self) -> &str {
        let path = match (self.target(), &self.url) {
            ("", Some(url)) => url.path(),
            (target, _) => target.split_once('?').map_or(target, |(path, _)| path),
        };
        if path == "/" { "" } else { path }
    }

    /// The query of the URL. It can contain credentials.
    pub fn query(&self) -> &str {
        match (self.target(), &self.url) {
            ("", Some(url)) => url.query().unwrap_or_default(),
            (target, _) => target.split_once('?').map_or("", |(_, query)| query),
        }
    }

    /// Raises the limits of the connection to those of a link.
    pub fn apply_link_limits(&self) {
        if let Peer::Quic(_, connection) = &self.peer {
            quic::apply_link_limits(connection);
        }
    }

    pub fn network(&self) -> Network {
        match &self.peer {
            Peer::Quic(_, connection) => Network::Quic(connection.clone()),
            Peer::WebSocket(negotiated, received) => {
                Network::Socket(Box::new(negotiated.session.whole().clone()), received.clone())
            }
        }
    }

    /// Begins the session.
    pub async fn begin(self, scope: Scope) -> Result<(Session, Permit)> {
        let Self { peer, mut permit, deadline, .. } = self;
        let session = match peer {
            Peer::Quic(negotiated, _) => begin(negotiated, scope, deadline).await?,
            Peer::WebSocket(negotiated, _) => begin(negotiated, scope, deadline).await?,
        };
        permit.handshake_done();
        Ok((session, permit))
    }

    /// Closes the connection.
    pub fn refuse(self, error: Error) {
        match self.peer {
            Peer::Quic(negotiated, _) => negotiated.handshake.close(error),
            Peer::WebSocket(negotiated, _) => negotiated.handshake.close(error),
        }
    }
}

async fn begin<S: Carrier>(negotiated: Negotiated<S>, scope: Scope, deadline: Instant) -> Result<Session> {
    let Negotiated { handshake, session } = negotiated;
    if let Some(audience) = scope.audience {
        session.divide(audience);
    }
    let mut handshake = handshake.with_stats(scope.stats);
    if let Some(publisher) = scope.publisher {
        handshake = handshake.with_publisher(publisher);
    }
    if let Some(subscriber) = scope.subscriber {
        handshake = handshake.with_subscriber(subscriber);
    }
    let begun = timeout_at(deadline, handshake.ok()).await.context("handshake timeout").and_then(|begun| Ok(begun?));
    // The fan-out still has the session.
    let (begun, driver) = begun.inspect_err(|_| session.close(SessionError::Internal.to_code(), ""))?;
    tokio::spawn(moq_net::time::run(driver));
    Ok(begun)
}
