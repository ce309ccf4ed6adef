//! The stream of one subscription: from SUBSCRIBE to its end.
use moq_net::bytes::{Buf, BytesMut};
use moq_net::web_transport_trait::{Error as _, RecvStream, SendStream};
use moq_net::{Error, Path, broadcast};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

use crate::server::fanout::delivery::code;
use crate::server::fanout::streams::{CANCELLED, MALFORMED, Unfinished};
use crate::server::fanout::watcher::{Event, Session};
use crate::server::fanout::wire::{self, Subscribe, Version, Wish};
use crate::server::fanout::{FanOut, Joined};

/// The size of reads, in bytes. A SUBSCRIBE_UPDATE has ten.
const READ: usize = 1024;
/// How long the last groups may take to the watcher before the subscription ends.
const RECEIVED_TIME: Duration = Duration::from_secs(5);

/// What ends a subscription.
enum End {
    /// The watcher ended it, or the track ended: the relay ends its side too.
    Done,
    /// The stream is reset with this code.
    Reset(u32),
}

/// The watcher's side of the stream.
struct Requester<R> {
    stream: R,
    /// Bytes after the last message.
    bytes: BytesMut,
    version: Version,
}

impl<R: RecvStream> Requester<R> {
    /// Returns the last SUBSCRIBE_UPDATE that has arrived, or how the watcher ended the subscription. Each replaces those before it, and each that the
    /// reader of the track gets costs it a pass over the watchers. The future can be dropped and called again.
    async fn next(&mut self) -> Result<Wish, End> {
        loop {
            let mut last = None;
            while let Some(wish) =
                wire::update(&mut self.bytes, self.version).map_err(|wire::Malformed| End::Reset(MALFORMED))?
            {
                last = Some(wish);
            }
            if let Some(wish) = last {
                return Ok(wish);
            }
            match self.stream.read_chunk(READ).await {
                Ok(Some(bytes)) => self.bytes.extend_from_slice(&bytes),
                Ok(None) => return Err(End::Done),
                Err(error) => return Err(End::Reset(error.stream_error().unwrap_or(CANCELLED))),
            }
        }
    }
}

/// Serves a subscription. `rest`: what was read of the stream after SUBSCRIBE.
pub(crate) async fn serve<S: SendStream, R: RecvStream>(
    fan_out: Arc<FanOut>,
    session: Arc<Session>,
    mut request: Subscribe,
    (mut send, stream): (S, R),
    rest: BytesMut,
) {
    let mut requester = Requester { stream, bytes: rest, version: session.version };
    let path = Path::new(&request.broadcast).to_owned();
    tracing::debug!(broadcast = %path, track = request.track, "subscribed");
    let end = match resolve(&fan_out, path.as_str(), &mut request, &mut requester).await {
        Ok(broadcast) => match fan_out.join(broadcast, session, &request) {
            Ok(joined) => run(joined, &mut send, &mut requester).await,
            Err(error) => End::Reset(code(&error)),
        },
        Err(end) => end,
    };
    match end {
        End::Done => {
            let _ = send.finish();
            // A reset after the end would take away what the watcher has not received.
            let _ = send.closed().await;
        }
        End::Reset(code) => send.reset(code),
    }
}

/// Waits for the broadcast, while the watcher may change its wish or leave.
async fn resolve<R: RecvStream>(
    fan_out: &FanOut,
    path: &str,
    request: &mut Subscribe,
    requester: &mut Requester<R>,
) -> Result<broadcast::Consumer, End> {
    let mut requesting = fan_out.request(path);
    loop {
        tokio::select! {
            resolved = &mut requesting => return resolved.map_err(|error: Error| End::Reset(code(&error))),
            wish = requester.next() => request.wish = wish?,
        }
    }
}

/// Serves the subscription until it ends.
async fn run<S: SendStream, R: RecvStream>(mut joined: Joined, send: &mut S, requester: &mut Requester<R>) -> End {
    let mut replies = BytesMut::new();
    let mut unreceived: Option<Vec<Unfinished>> = None;
    loop {
        if replies.is_empty()
            && let Some(streams) = unreceived.take()
        {
            return receive(streams, requester).await;
        }
        tokio::select! {
            written = send.write(&replies), if !replies.is_empty() => match written {
                Ok(size) => replies.advance(size),
                Err(error) => return End::Reset(error.stream_error().unwrap_or(CANCELLED)),
            },
            wish = requester.next() => match wish {
                Ok(wish) => joined.update(wish),
                Err(end) => return end,
            },
            event = joined.events.recv() => match event {
                Some(Event::Start(group)) => replies.extend_from_slice(&wire::start(group)),
                Some(Event::End(group)) => replies.extend_from_slice(&wire::end(group)),
                Some(Event::Finished(streams)) => unreceived = Some(streams),
                Some(Event::Failed(code)) => return End::Reset(code),
                // Its reader ended with the relay.
                None => return End::Reset(CANCELLED),
            },
        }
    }
}

/// Waits until the watcher has received the last groups, or leaves.
async fn receive<R: RecvStream>(mut streams: Vec<Unfinished>, requester: &mut Requester<R>) -> End {
    let received = async {
        for stream in &mut streams {
            stream.received().await;
        }
    };
    let left = async {
        loop {
            if let Err(end) = requester.next().await {
                return end;
            }
        }
    };
    tokio::select! {
        _ = timeout(RECEIVED_TIME, received) => End::Done,
        end = left => end,
    }
}
