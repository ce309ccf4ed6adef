//! An allocation on a TURN server, and a packet through it to itself (RFC 8656). `turn-client-proto` implements the protocol;
//! [`wire`] carries its messages over UDP, TCP or TLS.
pub mod server;
mod wire;

use super::site::Site;
use crate::connect::ConnectOptions;
use server::Server;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use turn_client_proto::api::{TurnClientApi, TurnConfig, TurnEvent, TurnPollRet, TurnRecvRet};
use turn_client_proto::stun::Instant as Moment;
use turn_client_proto::stun::agent::Transmit;
use turn_client_proto::stun::types::TransportType;
use turn_client_proto::stun::types::attribute::ErrorCode;
use turn_client_proto::stun::types::message::Message;
use turn_client_proto::tcp::TurnClientTcp;
use turn_client_proto::types::{AddressFamily, TurnCredentials};
use turn_client_proto::udp::TurnClientUdp;
use wire::Wire;

turn_client_proto::impl_client!(Client, (Udp, TurnClientUdp), (Tcp, TurnClientTcp));

/// As long as a browser gathers candidates before it continues without them.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval at which the packet is sent again, as it may be lost.
const RESEND_INTERVAL: Duration = Duration::from_millis(500);
/// How long deleting the allocation may take.
const DELETE_TIMEOUT: Duration = Duration::from_secs(1);
const PACKET: &[u8] = b"parley doctor";
/// The largest UDP packet.
const MAX_PACKET: usize = 65_536;

/// The times of a packet that came back.
#[derive(Clone, Copy, Debug)]
pub struct Relayed {
    /// From the request to the allocation.
    pub allocated: Duration,
    /// From sending the packet to its return.
    pub round_trip: Duration,
}

/// Why no packet came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The connection failed.
    NotConnected(String),
    /// The certificate is not trusted.
    Untrusted(String),
    /// The server did not answer.
    Silent,
    /// The server refused with a code of RFC 8656.
    Refused(u16, String),
    /// The server allocated this address, but packets to it are lost.
    Lost(SocketAddr),
}

impl Failure {
    fn of(why: &io::Error) -> Self {
        match why.kind() {
            // The kind of error for a certificate in rustls.
            io::ErrorKind::InvalidData => Failure::Untrusted(why.to_string()),
            _ => Failure::NotConnected(why.to_string()),
        }
    }
}

/// Creates an allocation, sends a packet to it and deletes it. The allocation is also deleted if the caller is cancelled.
pub async fn probe(
    site: &Site,
    server: Server,
    at: SocketAddr,
    user: &str,
    password: &str,
) -> Result<Relayed, Failure> {
    let (mut answer, answered) = oneshot::channel();
    let (connect, credentials) = (site.connect.clone(), TurnCredentials::new(user, password));
    site.track(async move {
        let until = Instant::now() + ATTEMPT_TIMEOUT;
        let mut result = Err(Failure::Silent);
        for &family in families(at) {
            let opened =
                timeout_at(until, Allocation::open(&connect, &server, at, (credentials.clone(), family))).await;
            let mut allocation = match opened {
                Ok(Ok(allocation)) => allocation,
                Ok(Err(why)) => return drop(answer.send(Err(Failure::of(&why)))),
                Err(_) => return drop(answer.send(Err(Failure::Silent))),
            };
            result = tokio::select! {
                relayed = allocation.round_trip() => relayed,
                () = sleep_until(until) => Err(allocation.failure()),
                () = answer.closed() => Err(allocation.failure()),
            };
            // The client of TURN does not tell for which request a server refused: the first one, without credentials, always is.
            if matches!(result, Err(Failure::Refused(..))) {
                continue;
            }
            let _cancelled = answer.send(result);
            let _late = timeout(DELETE_TIMEOUT, allocation.delete()).await;
            return;
        }
        let _cancelled = answer.send(result);
    });
    answered.await.unwrap_or(Err(Failure::Silent))
}

/// The families to relay from, in the order of the attempts. Browsers ask for none, which is IPv4 where the server has it.
fn families(at: SocketAddr) -> &'static [AddressFamily] {
    if at.is_ipv4() { &[AddressFamily::IPV4] } else { &[AddressFamily::IPV4, AddressFamily::IPV6] }
}

struct Allocation {
    wire: Wire,
    client: Client,
    began: Instant,
    relayed: Option<SocketAddr>,
    /// The last refusal. The first is always 401 and brings the nonce and realm for the credentials.
    refused: Option<(u16, String)>,
}

enum Progress {
    Event(TurnEvent),
    PacketReceived,
    /// The wake time is reached.
    Woken,
    Closed,
}

impl Allocation {
    async fn open(
        connect: &ConnectOptions,
        server: &Server,
        at: SocketAddr,
        (credentials, family): (TurnCredentials, AddressFamily),
    ) -> io::Result<Self> {
        let began = Instant::now();
        let mut config = TurnConfig::new(credentials);
        config.set_address_family(family);
        let (wire, from) = Wire::open(connect, server, at).await?;
        let client = match wire {
            Wire::Udp(_) => Client::Udp(TurnClientUdp::allocate(from, at, config)),
            Wire::Stream(_) => Client::Tcp(TurnClientTcp::allocate(from, at, config)),
        };
        Ok(Self { wire, client, began, relayed: None, refused: None })
    }

    async fn round_trip(&mut self) -> Result<Relayed, Failure> {
        let (mut allocated, mut sent) = (Duration::ZERO, None);
        loop {
            let again = sent.map(|sent: Instant| sent + RESEND_INTERVAL);
            let progress = self.advance(again).await.map_err(|why| Failure::of(&why))?;
            match progress {
                Progress::Event(TurnEvent::AllocationCreated(_, at)) => {
                    (self.relayed, allocated) = (Some(at), self.began.elapsed());
                    let now = self.now();
                    self.client.create_permission(TransportType::Udp, at.ip(), now).map_err(|_| self.failure())?;
                }
                Progress::Event(TurnEvent::PermissionCreated(..)) | Progress::Woken => {
                    sent = Some(Instant::now());
                    self.send().await?;
                }
                Progress::PacketReceived => {
                    let round_trip = sent.map(|sent| sent.elapsed()).unwrap_or_default();
                    return Ok(Relayed { allocated, round_trip });
                }
                Progress::Event(TurnEvent::AllocationCreateFailed(_) | TurnEvent::PermissionCreateFailed(..))
                | Progress::Closed => return Err(self.failure()),
                Progress::Event(_) => {}
            }
        }
    }

    /// Sends a packet from the allocation to itself, as between two participants that both use relayed candidates.
    async fn send(&mut self) -> Result<(), Failure> {
        let (now, Some(to)) = (self.now(), self.relayed) else { return Ok(()) };
        let built = self.client.send_to(TransportType::Udp, to, PACKET, now).map_err(|_| self.failure())?;
        let Some(built) = built else { return Ok(()) };
        self.wire.send(&built.build().data).await.map_err(|why| Failure::of(&why))
    }

    async fn delete(&mut self) {
        let now = self.now();
        if self.client.delete(now).is_ok() {
            while let Ok(Progress::Event(_) | Progress::PacketReceived) = self.advance(None).await {}
        }
    }

    /// Carries messages both ways until an event.
    async fn advance(&mut self, wake: Option<Instant>) -> io::Result<Progress> {
        let mut buffer = vec![0; MAX_PACKET];
        loop {
            let now = self.now();
            let polled = self.client.poll(now);
            while let Some(out) = self.client.poll_transmit(now) {
                self.wire.send(&out.data).await?;
            }
            if let Some(event) = self.client.poll_event() {
                return Ok(Progress::Event(event));
            }
            if let Some(received) = self.client.poll_recv(now) {
                if received.data() == PACKET {
                    return Ok(Progress::PacketReceived);
                }
                continue;
            }
            let until = match polled {
                TurnPollRet::WaitUntil(moment) => Instant::from_std(moment.to_std(self.began.into_std())),
                TurnPollRet::Closed => return Ok(Progress::Closed),
                // Only allocations for TCP have these.
                TurnPollRet::AllocateTcpSocket { .. } | TurnPollRet::TcpClose { .. } => continue,
            };
            tokio::select! {
                read = self.wire.receive(&mut buffer) => {
                    let read = read?;
                    if read == 0 {
                        return Ok(Progress::Closed);
                    }
                    if self.take(&buffer[..read]) {
                        return Ok(Progress::PacketReceived);
                    }
                }
                () = sleep_until(until) => {}
                () = sleep_until(wake.unwrap_or(until)), if wake.is_some() => return Ok(Progress::Woken),
            }
        }
    }

    /// Handles received bytes. Returns whether they contain the packet.
    fn take(&mut self, bytes: &[u8]) -> bool {
        if let Ok(message) = Message::from_bytes(bytes)
            && let Ok(error) = message.attribute::<ErrorCode>()
        {
            self.refused = Some((error.code(), error.reason().to_owned()));
        }
        let client = &mut self.client;
        let transmit = Transmit::new(bytes, client.transport(), client.remote_addr(), client.local_addr());
        match client.recv(transmit, Moment::from_std(self.began.into_std())) {
            TurnRecvRet::PeerData(data) => data.data() == PACKET,
            _ => false,
        }
    }

    /// Why no packet came back.
    fn failure(&self) -> Failure {
        match (&self.relayed, &self.refused) {
            (Some(at), None | Some((401, _))) => Failure::Lost(*at),
            (_, Some((code, reason))) => Failure::Refused(*code, reason.clone()),
            (None, None) => Failure::Silent,
        }
    }

    fn now(&self) -> Moment {
        Moment::from_std(self.began.into_std())
    }
}
