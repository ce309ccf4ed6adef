//! Where this machine may be reached: its addresses, and what a STUN server sees of them (RFC 8489).
use parley_protocol::shared::IceServer;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::task::Poll;
use std::time::Duration;
use tokio::io::ReadBuf;
use tokio::net::{UdpSocket, lookup_host};
use tokio::time::timeout;
use turn_client_proto::stun::types::attribute::XorMappedAddress;
use turn_client_proto::stun::types::message::{BINDING, Message, MessageWrite, MessageWriteVec};

/// More say nothing that others do not.
const ADDRESSES: usize = 8;
/// A name that is not looked up by then is left out.
const LOOKING_UP: Duration = Duration::from_secs(2);

/// A socket for each address of this machine.
pub struct Sockets(Vec<(SocketAddr, UdpSocket)>);

/// A packet that came.
pub struct Came {
    /// From where.
    pub from: SocketAddr,
    /// At which of our addresses.
    pub at: SocketAddr,
    /// How long it is.
    pub size: usize,
}

impl Sockets {
    /// Opens them: of other interfaces than the loopback, where there are any.
    pub async fn open() -> io::Result<Self> {
        let found = if_addrs::get_if_addrs().unwrap_or_default();
        let (loopback, mut addresses): (Vec<IpAddr>, Vec<IpAddr>) =
            found.iter().map(|interface| interface.ip()).filter(usable).partition(IpAddr::is_loopback);
        if addresses.is_empty() {
            addresses = if loopback.is_empty() { vec![Ipv4Addr::LOCALHOST.into()] } else { loopback };
        }
        addresses.truncate(ADDRESSES);
        let mut sockets = Vec::new();
        for address in addresses {
            // An address that is about to go is none to be reached at.
            if let Ok(socket) = UdpSocket::bind((address, 0)).await {
                sockets.push((socket.local_addr()?, socket));
            }
        }
        if sockets.is_empty() { Err(io::ErrorKind::AddrNotAvailable.into()) } else { Ok(Self(sockets)) }
    }

    /// Their addresses.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.0.iter().map(|(address, _)| *address)
    }

    /// Sends a packet; one that cannot be sent is lost, as others are.
    pub async fn send(&self, from: SocketAddr, to: SocketAddr, packet: &[u8]) {
        if let Some((_, socket)) = self.0.iter().find(|(address, _)| *address == from) {
            let _lost = socket.send_to(packet, to).await;
        }
    }

    /// The next packet.
    pub async fn receive(&self, buffer: &mut [u8]) -> Came {
        std::future::poll_fn(|context| {
            for (at, socket) in &self.0 {
                let mut read = ReadBuf::new(buffer);
                // An error is of a packet that was sent before, such as to a port that is closed.
                if let Poll::Ready(Ok(from)) = socket.poll_recv_from(context, &mut read) {
                    return Poll::Ready(Came { from, at: *at, size: read.filled().len() });
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Not the addresses of one wire only.
fn usable(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_link_local() && !address.is_unspecified(),
        IpAddr::V6(address) => !address.is_unicast_link_local() && !address.is_unspecified(),
    }
}

/// The first STUN server; one of TURN over UDP is one too.
pub async fn stun(servers: &[IceServer]) -> Option<SocketAddr> {
    let mut urls = servers.iter().flat_map(|server| &server.urls);
    let at = urls.find_map(|url| {
        let (scheme, rest) = url.split_once(':')?;
        let (at, query) = rest.split_once('?').unwrap_or((rest, ""));
        let udp = matches!(scheme, "stun" | "turn") && query != "transport=tcp";
        udp.then(|| {
            if at.rsplit(':').next()?.parse::<u16>().is_ok() { Some(at.to_owned()) } else { Some(format!("{at}:3478")) }
        })?
    })?;
    let found = timeout(LOOKING_UP, lookup_host(at)).await.ok()?.ok()?;
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied()
}

/// Asks a STUN server where the packet comes from.
pub fn question() -> Vec<u8> {
    Message::builder_request(BINDING, MessageWriteVec::new()).finish()
}

/// What it answered.
pub fn answer(packet: &[u8]) -> Option<SocketAddr> {
    let message = Message::from_bytes(packet).ok()?;
    let mapped = message.attribute::<XorMappedAddress>().ok()?;
    Some(mapped.addr(message.transaction_id()))
}
