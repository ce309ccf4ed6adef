//! Sockets that count received bytes. QUIC's library counts those of each connection, which takes its lock, and not those of all.
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use web_transport_moq::noq::udp::RecvMeta;
use web_transport_moq::noq::{AsyncUdpSocket, UdpSender};

/// A count of received bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received(Arc<AtomicU64>);

impl Received {
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The UDP socket of all connections.
#[derive(Debug)]
pub(crate) struct CountedUdp {
    socket: Box<dyn AsyncUdpSocket>,
    all: Received,
}

impl CountedUdp {
    /// Adds to the bytes of `all` sockets.
    pub fn new(socket: Box<dyn AsyncUdpSocket>, all: Received) -> Self {
        Self { socket, all }
    }
}

impl AsyncUdpSocket for CountedUdp {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        self.socket.create_sender()
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        received: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(self.socket.poll_recv(cx, buffers, received))?;
        self.all.add(received.iter().take(count).map(|of| of.len).sum());
        Poll::Ready(Ok(count))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.socket.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.socket.may_fragment()
    }
}

/// The TCP socket of one connection.
pub(crate) struct CountedTcp {
    socket: TcpStream,
    received: Received,
    all: Received,
}

impl CountedTcp {
    /// Returns the socket and its count. It adds to the bytes of `all` sockets too.
    pub fn new(socket: TcpStream, all: Received) -> (Self, Received) {
        let received = Received::default();
        (Self { socket, received: received.clone(), all }, received)
    }
}

impl AsyncRead for CountedTcp {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        let bytes = buffer.filled().len() - before;
        self.received.add(bytes);
        self.all.add(bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CountedTcp {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
