//! The transport of messages to a TURN server and back.
use super::server::{Server, Transport};
use crate::connect::ConnectOptions;
use rustls::pki_types::ServerName;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio_rustls::TlsConnector;

/// Messages in datagrams, or in a stream of bytes.
#[allow(missing_docs, reason = "as they say")]
pub enum Wire {
    Udp(UdpSocket),
    Stream(Box<dyn Stream>),
}

/// TCP, or TLS.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Wire {
    /// Connects. Returns the local address too.
    pub async fn open(connect: &ConnectOptions, server: &Server, at: SocketAddr) -> io::Result<(Self, SocketAddr)> {
        if server.transport == Transport::Udp {
            let any: IpAddr = if at.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
            let socket = UdpSocket::bind((any, 0)).await?;
            socket.connect(at).await?;
            let from = socket.local_addr()?;
            return Ok((Wire::Udp(socket), from));
        }
        let tcp = TcpStream::connect(at).await?;
        tcp.set_nodelay(true)?;
        let from = tcp.local_addr()?;
        if server.transport == Transport::Tcp {
            return Ok((Wire::Stream(Box::new(tcp)), from));
        }
        let name = ServerName::try_from(server.host.clone()).map_err(io::Error::other)?;
        let tls = TlsConnector::from(Arc::new(connect.tls())).connect(name, tcp).await?;
        Ok((Wire::Stream(Box::new(tls)), from))
    }

    /// Sends all bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Wire::Udp(socket) => socket.send(bytes).await.map(drop),
            Wire::Stream(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Receives some bytes; 0 at the end of a stream.
    pub async fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Udp(socket) => socket.recv(buffer).await,
            Wire::Stream(stream) => stream.read(buffer).await,
        }
    }
}
