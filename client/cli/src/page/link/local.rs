//! The addresses of this machine, and its addresses as a STUN server sees them (RFC 8489).
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

/// The most addresses: further ones rarely make a connection possible.
const MAX_ADDRESSES: usize = 8;
/// How long a lookup may take before the server is left out.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// One socket for each address of this machine.
pub struct Sockets(Vec<(SocketAddr, UdpSocket)>);

/// A received packet.
pub struct Packet {
    /// Its source address.
    pub from: SocketAddr,
    /// The local address at which it arrived.
    pub at: SocketAddr,
    /// Its size.
    pub size: usize,
}

impl Sockets {
    /// Opens the sockets. Loopback addresses are used only where there are no others.
    pub async fn open() -> io::Result<Self> {
        let found = if_addrs::get_if_addrs().unwrap_or_default();
        let (loopback, mut addresses): (Vec<IpAddr>, Vec<IpAddr>) =
            found.iter().map(|interface| interface.ip()).filter(usable).partition(IpAddr::is_loopback);
        if addresses.is_empty() {
            addresses = if loopback.is_empty() { vec![Ipv4Addr::LOCALHOST.into()] } else { loopback };
        }
        addresses.truncate(MAX_ADDRESSES);
        let mut sockets = Vec::new();
        for address in addresses {
            // The address may have been removed since it was listed.
            if let Ok(socket) = UdpSocket::bind((address, 0)).await {
                sockets.push((socket.local_addr()?, socket));
            }
        }
        if sockets.is_empty() { Err(io::ErrorKind::AddrNotAvailable.into()) } else { Ok(Self(sockets)) }
    }

    /// The addresses of the sockets.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.0.iter().map(|(address, _)| *address)
    }

    /// Sends a packet. One that cannot be sent is lost, as any packet may be.
    pub async fn send(&self, from: SocketAddr, to: SocketAddr, packet: &[u8]) {
        if let Some((_, socket)) = self.0.iter().find(|(address, _)| *address == from) {
            let _lost = socket.send_to(packet, to).await;
        }
    }

    /// Receives the next packet.
    pub async fn receive(&self, buffer: &mut [u8]) -> Packet {
        std::future::poll_fn(|context| {
            for (at, socket) in &self.0 {
                let mut read = ReadBuf::new(buffer);
                // An error is about an earlier packet, such as one to a closed port.
                if let Poll::Ready(Ok(from)) = socket.poll_recv_from(context, &mut read) {
                    return Poll::Ready(Packet { from, at: *at, size: read.filled().len() });
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Whether an address is valid beyond its own network segment.
fn usable(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_link_local() && !address.is_unspecified(),
        IpAddr::V6(address) => !address.is_unicast_link_local() && !address.is_unspecified(),
    }
}

/// The address of the first STUN server. A TURN server over UDP is one too.
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
    let found = timeout(LOOKUP_TIMEOUT, lookup_host(at)).await.ok()?.ok()?;
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied()
}

/// A binding request to a STUN server.
pub fn binding_request() -> Vec<u8> {
    Message::builder_request(BINDING, MessageWriteVec::new()).finish()
}

/// The address in the answer of a STUN server.
pub fn mapped_address(packet: &[u8]) -> Option<SocketAddr> {
    let message = Message::from_bytes(packet).ok()?;
    let mapped = message.attribute::<XorMappedAddress>().ok()?;
    Some(mapped.addr(message.transaction_id()))
}
