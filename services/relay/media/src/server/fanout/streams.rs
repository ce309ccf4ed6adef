//! The connections of watchers, and the streams on which they receive groups.
use moq_net::bytes::Bytes;
use moq_net::web_transport_trait::{self, SendStream as _, Session as _};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};

/// The codes with which the relay resets streams of moq-lite, apart from those that MoQ's library determines.
pub(crate) const CANCELLED: u32 = 0x1;
pub(crate) const MALFORMED: u32 = 0x12;
/// A newer group took the place of this one.
pub(crate) const OLD: u32 = 0x34;

/// A session of a transport that can carry subscriptions of the fan-out.
pub(crate) trait Carrier: web_transport_trait::Session<SendStream: Sync, RecvStream: Sync> {
    /// Returns the session itself.
    fn connection(&self) -> Connection;
}

/// The connection of a watcher.
pub(crate) enum Connection {
    /// QUIC, with or without WebTransport.
    Quic(web_transport_moq::Session),
    /// WebSocket.
    Socket(qmux::Session),
}

impl Carrier for web_transport_moq::Session {
    fn connection(&self) -> Connection {
        Connection::Quic(self.clone())
    }
}

impl Carrier for qmux::Session {
    fn connection(&self) -> Connection {
        Connection::Socket(self.clone())
    }
}

/// Resolves when a stream is open; `None` if the connection is closed.
pub(crate) type OpeningStream = Pin<Box<dyn Future<Output = Option<Unfinished>> + Send>>;

impl Connection {
    /// Opens a unidirectional stream, which waits until the watcher allows another one.
    pub fn open(self: &Arc<Self>) -> OpeningStream {
        let connection = self.clone();
        Box::pin(async move {
            let stream = match &*connection {
                Self::Quic(session) => Stream::Quic(session.open_uni().await.ok()?),
                Self::Socket(session) => Stream::Socket(Box::new(session.open_uni().await.ok()?)),
            };
            Some(Unfinished { stream, over: false })
        })
    }

    /// Sends a datagram, or drops it if there is no room.
    pub fn send_datagram(&self, datagram: Bytes) {
        if datagram.len() <= self.max_datagram_size() {
            match self {
                Self::Quic(session) => drop(session.send_datagram(datagram)),
                Self::Socket(session) => drop(web_transport_trait::Session::send_datagram(session, datagram)),
            }
        }
    }

    /// Returns the largest datagram; 0 if the connection carries none.
    pub fn max_datagram_size(&self) -> usize {
        match self {
            Self::Quic(session) => session.max_datagram_size(),
            Self::Socket(session) => web_transport_trait::Session::max_datagram_size(session),
        }
    }
}

enum Stream {
    Quic(web_transport_moq::SendStream),
    Socket(Box<qmux::SendStream>),
}

/// A unidirectional stream to a watcher. It is reset if it is dropped before it is finished, as QUIC's library would end it as if it were whole.
pub(crate) struct Unfinished {
    stream: Stream,
    /// Whether it was finished or reset.
    over: bool,
}

/// The watcher stopped the stream, or its connection is closed.
#[derive(Debug)]
pub(crate) struct Closed;

impl Unfinished {
    /// Writes what there is room for, and removes it from `chunks`. Ready when all is written. Over QUIC, `cx` is woken when there is room again;
    /// over WebSocket the caller tries again later.
    ///
    /// # Errors
    /// The stream is closed.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, chunks: &mut [Bytes]) -> Poll<Result<(), Closed>> {
        while let Some(first) = chunks.iter().position(|chunk| !chunk.is_empty()) {
            let mut left = &mut chunks[first..];
            match &mut self.stream {
                Stream::Quic(stream) => {
                    ready!(pin!(stream.write_many_chunks(&mut left)).poll(cx)).map_err(|_| Closed)?;
                }
                Stream::Socket(stream) => {
                    ready!(pin!(stream.write_buf(&mut left[0])).poll(cx)).map_err(|_| Closed)?;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Sets which streams of a connection are sent first: those with higher values.
    pub fn set_order(&mut self, order: u8) {
        match &mut self.stream {
            Stream::Quic(stream) => stream.set_priority(order),
            Stream::Socket(stream) => stream.set_priority(order),
        }
    }

    /// Ends the stream after what was written.
    pub fn finish(&mut self) {
        self.over = true;
        match &mut self.stream {
            Stream::Quic(stream) => drop(stream.finish()),
            Stream::Socket(stream) => drop(stream.finish()),
        }
    }

    /// Ends the stream at once. What was not received may be lost, also of a finished stream.
    pub fn reset(&mut self, code: u32) {
        self.over = true;
        match &mut self.stream {
            Stream::Quic(stream) => drop(stream.reset(code)),
            Stream::Socket(stream) => stream.reset(code),
        }
    }

    /// Waits until the watcher has received all of a finished stream, or has stopped it.
    pub async fn received(&mut self) {
        match &mut self.stream {
            Stream::Quic(stream) => drop(stream.closed().await),
            Stream::Socket(stream) => drop(stream.closed().await),
        }
    }

    /// Whether a blocked write wakes its caller.
    pub fn wakes(&self) -> bool {
        matches!(self.stream, Stream::Quic(_))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.over {
            self.reset(CANCELLED);
        }
    }
}

/// Wakes the reader of a track for one stream that waits for room, so that it need not try all of them.
pub(crate) struct Signal {
    ready: AtomicBool,
    reader: Waker,
}

impl Signal {
    /// A signal that is set.
    pub fn new(reader: &Waker) -> Arc<Self> {
        Arc::new(Self { ready: AtomicBool::new(true), reader: reader.clone() })
    }

    /// Reports whether it is set, and resets it.
    pub fn take(&self) -> bool {
        self.ready.load(Ordering::Relaxed) && self.ready.swap(false, Ordering::Acquire)
    }

    /// Sets it.
    pub fn set(&self) {
        self.ready.store(true, Ordering::Release);
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set();
        self.reader.wake_by_ref();
    }
}
