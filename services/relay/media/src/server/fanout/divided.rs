//! Divides the requests of a client between the fan-out and MoQ's library.
//!
//! MoQ's library takes over a whole session. It gets this session instead, which keeps back the bidirectional streams whose first message is a SUBSCRIBE
//! that the fan-out serves, and refuses what would go around it (MED-76). The library gets all other streams, from their first byte.
use moq_net::bytes::{Buf, Bytes, BytesMut};
use moq_net::web_transport_trait::{RecvStream, SendStream, Session as Transport, Stats};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex, mpsc};

use crate::server::fanout::serve::serve;
use crate::server::fanout::streams::Carrier;
use crate::server::fanout::watcher::Session;
use crate::server::fanout::wire::{self, First, Version};
use crate::server::fanout::{Audience, ranks::Ranks};

/// How many streams wait for the library. Those behind them are read later.
const WAITING: usize = 16;
/// The code of MoQ for a session whose version is not accepted.
const VERSION: u32 = 0x15;
/// The code of MoQ for a request of something that is not there.
const NOT_FOUND: u32 = 0x33;
/// The code of MoQ for a request that cannot be read.
const TOO_LARGE: u32 = 0x0;
/// The size of reads, in bytes. SUBSCRIBE has fewer.
const READ: usize = 1024;

/// A session whose subscriptions the fan-out serves after [`Divided::divide`].
#[derive(Clone)]
pub(crate) struct Divided<S: Carrier> {
    session: S,
    /// The streams of the library.
    rest: Arc<OnceLock<Mutex<mpsc::Receiver<Accepted<S>>>>>,
}

type Streams<S> = (<S as Transport>::SendStream, Replayed<<S as Transport>::RecvStream>);
/// In a box, as a channel takes places for 32 of them at once.
type Accepted<S> = Box<Result<Streams<S>, <S as Transport>::Error>>;

impl<S: Carrier> Divided<S> {
    pub fn new(session: S) -> Self {
        Self { session, rest: Arc::default() }
    }

    /// Returns the session that is divided.
    pub fn whole(&self) -> &S {
        &self.session
    }

    /// Serves the subscriptions of a client from now on, if the fan-out speaks its version. To be called before the library accepts requests.
    pub fn divide(&self, audience: Audience) {
        let Some(version) = Version::of(self.session.protocol()) else {
            // The library would serve sounds of participants that are muted.
            if audience.is_of_room {
                self.session.close(VERSION, "a room requires moq-lite-05 or later");
            }
            return;
        };
        let (library, rest) = mpsc::channel(WAITING);
        if self.rest.set(Mutex::new(rest)).is_err() {
            return;
        }
        let watching = Session {
            connection: Arc::new(self.session.connection()),
            version,
            counts: audience.meter.counts(),
            ranks: Ranks::default(),
        };
        let (session, watching, audience) = (self.session.clone(), Arc::new(watching), Arc::new(audience));
        tokio::spawn(async move {
            loop {
                match session.accept_bi().await {
                    Ok((send, recv)) => {
                        let stream = (send, Replayed { first: Bytes::new(), stream: recv });
                        tokio::spawn(sort::<S>(stream, watching.clone(), audience.clone(), library.clone()));
                    }
                    Err(error) => {
                        let _ = library.send(Box::new(Err(error))).await;
                        return;
                    }
                }
            }
        });
    }
}

/// Reads the first message of a stream, and serves it or hands it on.
async fn sort<S: Carrier>(
    (send, mut recv): Streams<S>,
    session: Arc<Session>,
    audience: Arc<Audience>,
    library: mpsc::Sender<Accepted<S>>,
) {
    let mut bytes = BytesMut::new();
    let served = loop {
        match wire::first(&bytes, session.version) {
            First::Subscribe(request, size) if audience.serves(&request) => break Some((request, size)),
            First::TooLarge => return refuse::<S>((send, recv), TOO_LARGE),
            First::Fetch(broadcast, track) if audience.is_sound(&broadcast, &track) => {
                return refuse::<S>((send, recv), NOT_FOUND);
            }
            First::Subscribe(..) | First::Fetch(..) | First::Other => break None,
            First::Incomplete => {}
        }
        match recv.stream.read_chunk(READ).await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            // The library learns how the stream ended when it reads on.
            Ok(None) | Err(_) => break None,
        }
    };
    if let Some((request, size)) = served {
        bytes.advance(size);
        let fan_out = audience.fan_out.clone();
        drop((audience, library));
        serve(fan_out, session, request, (send, recv.stream), bytes).await;
    } else {
        recv.first = bytes.freeze();
        let _ = library.send(Box::new(Ok((send, recv)))).await;
    }
}

fn refuse<S: Carrier>((mut send, mut recv): Streams<S>, code: u32) {
    recv.stream.stop(code);
    send.reset(code);
}

impl<S: Carrier> Transport for Divided<S> {
    type SendStream = S::SendStream;
    type RecvStream = Replayed<S::RecvStream>;
    type Error = S::Error;

    async fn accept_uni(&self) -> Result<Self::RecvStream, Self::Error> {
        Ok(Replayed { first: Bytes::new(), stream: self.session.accept_uni().await? })
    }

    async fn accept_bi(&self) -> Result<(Self::SendStream, Self::RecvStream), Self::Error> {
        if let Some(rest) = self.rest.get() {
            return match rest.lock().await.recv().await {
                Some(accepted) => *accepted,
                None => Err(self.session.closed().await),
            };
        }
        let (send, stream) = self.session.accept_bi().await?;
        Ok((send, Replayed { first: Bytes::new(), stream }))
    }

    async fn open_bi(&self) -> Result<(Self::SendStream, Self::RecvStream), Self::Error> {
        let (send, stream) = self.session.open_bi().await?;
        Ok((send, Replayed { first: Bytes::new(), stream }))
    }

    async fn open_uni(&self) -> Result<Self::SendStream, Self::Error> {
        self.session.open_uni().await
    }

    fn send_datagram(&self, payload: Bytes) -> Result<(), Self::Error> {
        self.session.send_datagram(payload)
    }

    async fn recv_datagram(&self) -> Result<Bytes, Self::Error> {
        self.session.recv_datagram().await
    }

    fn max_datagram_size(&self) -> usize {
        self.session.max_datagram_size()
    }

    fn protocol(&self) -> Option<&str> {
        self.session.protocol()
    }

    fn close(&self, code: u32, reason: &str) {
        self.session.close(code, reason);
    }

    async fn closed(&self) -> Self::Error {
        self.session.closed().await
    }

    fn stats(&self) -> impl Stats {
        self.session.stats()
    }
}

/// A stream whose first bytes were read already.
pub(crate) struct Replayed<R> {
    first: Bytes,
    stream: R,
}

impl<R: RecvStream> RecvStream for Replayed<R> {
    type Error = R::Error;

    async fn read(&mut self, into: &mut [u8]) -> Result<Option<usize>, Self::Error> {
        if self.first.is_empty() {
            return self.stream.read(into).await;
        }
        let size = into.len().min(self.first.len());
        self.first.split_to(size).copy_to_slice(&mut into[..size]);
        Ok(Some(size))
    }

    async fn read_chunk(&mut self, max: usize) -> Result<Option<Bytes>, Self::Error> {
        if self.first.is_empty() {
            return self.stream.read_chunk(max).await;
        }
        Ok(Some(self.first.split_to(max.min(self.first.len()))))
    }

    fn stop(&mut self, code: u32) {
        self.stream.stop(code);
    }

    async fn closed(&mut self) -> Result<(), Self::Error> {
        self.stream.closed().await
    }
}
