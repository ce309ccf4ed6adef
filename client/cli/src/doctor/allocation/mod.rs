//! An address of a TURN server, and a packet through it to itself (RFC 8656). What is said to the server is up to
//! `turn-client-proto`; [`wire`] carries it over UDP, TCP or TLS.
pub mod server;
mod wire;

use super::site::Site;
use crate::reach::Reach;
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
use turn_client_proto::types::TurnCredentials;
use turn_client_proto::udp::TurnClientUdp;
use wire::Wire;

turn_client_proto::impl_client!(Client, (Udp, TurnClientUdp), (Tcp, TurnClientTcp));

/// As long as a browser gathers candidates before it goes on without them.
const PATIENCE: Duration = Duration::from_secs(5);
/// A packet may be lost: so often another is sent.
const AGAIN: Duration = Duration::from_millis(500);
/// How long giving the address back may take.
const RETURNING: Duration = Duration::from_secs(1);
const PACKET: &[u8] = b"parley doctor";
/// The largest UDP packet.
const READ: usize = 65_536;

/// A packet came back.
#[derive(Clone, Copy, Debug)]
pub struct Relayed {
    /// From asking for the address to having it.
    pub allocated: Duration,
    /// From sending the packet to its return.
    pub round_trip: Duration,
}

/// Why none did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// No connection.
    Unconnected(String),
    /// Its certificate is not believed.
    Unbelieved(String),
    /// Nothing at all was answered.
    Silent,
    /// The server refused, by RFC 8656's codes.
    Refused(u16, String),
    /// The server gave this address, and what is sent to it is lost.
    Lost(SocketAddr),
}

impl Broken {
    fn of(why: &io::Error) -> Self {
        match why.kind() {
            // What rustls says of a certificate.
            io::ErrorKind::InvalidData => Broken::Unbelieved(why.to_string()),
            _ => Broken::Unconnected(why.to_string()),
        }
    }
}

/// Gets an address, sends a packet to it, and gives the address back, also when nobody waits for the answer any more.
pub async fn try_out(
    site: &Site,
    server: Server,
    at: SocketAddr,
    user: &str,
    password: &str,
) -> Result<Relayed, Broken> {
    let (mut answer, answered) = oneshot::channel();
    let (reach, credentials) = (site.reach.clone(), TurnCredentials::new(user, password));
    site.hold(async move {
        let until = Instant::now() + PATIENCE;
        let opened = timeout_at(until, Allocation::open(&reach, &server, at, credentials)).await;
        let mut allocation = match opened {
            Ok(Ok(allocation)) => allocation,
            Ok(Err(why)) => return drop(answer.send(Err(Broken::of(&why)))),
            Err(_) => return drop(answer.send(Err(Broken::Silent))),
        };
        let relayed = tokio::select! {
            relayed = allocation.there_and_back() => relayed,
            () = sleep_until(until) => Err(allocation.why()),
            () = answer.closed() => Err(allocation.why()),
        };
        let _nobody_waits = answer.send(relayed);
        let _late = timeout(RETURNING, allocation.give_back()).await;
    });
    answered.await.unwrap_or(Err(Broken::Silent))
}

struct Allocation {
    wire: Wire,
    client: Client,
    began: Instant,
    relayed: Option<SocketAddr>,
    /// The last refusal. The first is always 401: it brings what the password is to be hashed with.
    refused: Option<(u16, String)>,
}

enum Happened {
    Event(TurnEvent),
    PacketCame,
    /// Nothing, until then.
    Woken,
    Closed,
}

impl Allocation {
    async fn open(reach: &Reach, server: &Server, at: SocketAddr, credentials: TurnCredentials) -> io::Result<Self> {
        let began = Instant::now();
        let config = TurnConfig::new(credentials);
        let (wire, from) = Wire::open(reach, server, at).await?;
        let client = match wire {
            Wire::Udp(_) => Client::Udp(TurnClientUdp::allocate(from, at, config)),
            Wire::Stream(_) => Client::Tcp(TurnClientTcp::allocate(from, at, config)),
        };
        Ok(Self { wire, client, began, relayed: None, refused: None })
    }

    async fn there_and_back(&mut self) -> Result<Relayed, Broken> {
        let (mut allocated, mut sent) = (Duration::ZERO, None);
        loop {
            let again = sent.map(|sent: Instant| sent + AGAIN);
            let happened = self.happen(again).await.map_err(|why| Broken::of(&why))?;
            match happened {
                Happened::Event(TurnEvent::AllocationCreated(_, at)) => {
                    (self.relayed, allocated) = (Some(at), self.began.elapsed());
                    let now = self.now();
                    self.client.create_permission(TransportType::Udp, at.ip(), now).map_err(|_| self.why())?;
                }
                Happened::Event(TurnEvent::PermissionCreated(..)) | Happened::Woken => {
                    sent = Some(Instant::now());
                    self.send().await?;
                }
                Happened::PacketCame => {
                    let round_trip = sent.map(|sent| sent.elapsed()).unwrap_or_default();
                    return Ok(Relayed { allocated, round_trip });
                }
                Happened::Event(TurnEvent::AllocationCreateFailed(_) | TurnEvent::PermissionCreateFailed(..))
                | Happened::Closed => return Err(self.why()),
                Happened::Event(_) => {}
            }
        }
    }

    /// A packet from the address to itself: as if two people who are both relayed met there.
    async fn send(&mut self) -> Result<(), Broken> {
        let (now, Some(to)) = (self.now(), self.relayed) else { return Ok(()) };
        let built = self.client.send_to(TransportType::Udp, to, PACKET, now).map_err(|_| self.why())?;
        let Some(built) = built else { return Ok(()) };
        self.wire.send(&built.build().data).await.map_err(|why| Broken::of(&why))
    }

    async fn give_back(&mut self) {
        let now = self.now();
        if self.client.delete(now).is_ok() {
            while let Ok(Happened::Event(_) | Happened::PacketCame) = self.happen(None).await {}
        }
    }

    /// Carries messages both ways until something has happened.
    async fn happen(&mut self, wake: Option<Instant>) -> io::Result<Happened> {
        let mut buffer = vec![0; READ];
        loop {
            let now = self.now();
            let polled = self.client.poll(now);
            while let Some(out) = self.client.poll_transmit(now) {
                self.wire.send(&out.data).await?;
            }
            if let Some(event) = self.client.poll_event() {
                return Ok(Happened::Event(event));
            }
            if let Some(came) = self.client.poll_recv(now) {
                if came.data() == PACKET {
                    return Ok(Happened::PacketCame);
                }
                continue;
            }
            let until = match polled {
                TurnPollRet::WaitUntil(moment) => Instant::from_std(moment.to_std(self.began.into_std())),
                TurnPollRet::Closed => return Ok(Happened::Closed),
                // Of allocations over which TCP is relayed: there is none.
                TurnPollRet::AllocateTcpSocket { .. } | TurnPollRet::TcpClose { .. } => continue,
            };
            tokio::select! {
                read = self.wire.receive(&mut buffer) => {
                    let read = read?;
                    if read == 0 {
                        return Ok(Happened::Closed);
                    }
                    if self.take(&buffer[..read]) {
                        return Ok(Happened::PacketCame);
                    }
                }
                () = sleep_until(until) => {}
                () = sleep_until(wake.unwrap_or(until)), if wake.is_some() => return Ok(Happened::Woken),
            }
        }
    }

    /// Takes what came; whether it was the packet.
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

    /// Why there is no packet.
    fn why(&self) -> Broken {
        match (&self.relayed, &self.refused) {
            (Some(at), None | Some((401, _))) => Broken::Lost(*at),
            (_, Some((code, reason))) => Broken::Refused(*code, reason.clone()),
            (None, None) => Broken::Silent,
        }
    }

    fn now(&self) -> Moment {
        Moment::from_std(self.began.into_std())
    }
}
