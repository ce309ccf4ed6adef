//! `/ws`: statistics as JSON, on request or at an interval. Rules STR-60, STR-61 and STR-132.
use super::lingering_close;
use crate::relay::Relay;
use crate::stats::answers;
use bytes::Bytes;
use parley_access::Grant;
use parley_net::codes::Code;
use parley_net::ws::frame::Opcode;
use parley_net::ws::{Batch, Decoder, Event, close};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// A request: `{"push": 1000}` for messages about the whole pod at this interval in milliseconds, 0 to stop. Any other message requests
/// one answer, as with Crossbar.
#[derive(Deserialize)]
struct PushRequest {
    push: u64,
}

/// The path of the socket.
pub const PATH: &str = "/ws";
/// The interval of checks of the token: its end closes the socket within a second, as with topics.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A client of the statistics socket.
pub(crate) struct StatsClient {
    /// The grant of its token; `None` if the relay requires none.
    pub grant: Option<Grant>,
    /// The input after the handshake.
    pub rest: Vec<u8>,
}

/// The size limit of a request in bytes.
const MAX_REQUEST: u64 = 4096;
/// How long a peer may take to read an answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

struct Socket {
    relay: Arc<Relay>,
    stream: TcpStream,
    grant: Option<Grant>,
    decoder: Decoder,
    /// One answer is requested and not sent yet.
    requested: bool,
    push: Option<Duration>,
    /// The first push is due as soon as the interval allows it.
    push_now: bool,
    answered: Instant,
    received: Instant,
    pinged: bool,
}

/// Serves the socket until the peer closes it or the pod drains.
pub async fn run(stream: TcpStream, client: StatsClient, relay: Arc<Relay>) {
    let StatsClient { grant, rest } = client;
    let sockets = relay.stats_sockets.fetch_add(1, Relaxed);
    let now = Instant::now();
    let decoder = Decoder::new(MAX_REQUEST, 16);
    let (requested, push, push_now, pinged) = (false, None, false, false);
    let full = sockets >= relay.limits.stats_sockets;
    let mut socket =
        Socket { relay, stream, grant, decoder, requested, push, push_now, answered: now, received: now, pinged };
    let end = if full { Some(close::of_code(Code::TooManySockets)) } else { socket.serve(&rest).await };
    socket.relay.stats_sockets.fetch_sub(1, Relaxed);
    if let Some(frame) = end {
        lingering_close::send(&mut socket.stream, &frame).await;
    }
}

impl Socket {
    /// Returns the close frame to send; `None`: the connection ended.
    async fn serve(&mut self, rest: &[u8]) -> Option<Bytes> {
        if let Some(frame) = self.process(rest).await {
            return frame;
        }
        let mut input = [0; 1024];
        let mut token_checks = interval(TOKEN_CHECK_INTERVAL);
        token_checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let relay = Arc::clone(&self.relay);
            let (answer_at, ping_at) = (self.answer_at(), self.received + self.silence_limit());
            tokio::select! {
                read = self.stream.read(&mut input) => match read {
                    Ok(0) | Err(_) => return None,
                    Ok(size) => if let Some(frame) = self.process(&input[..size]).await { return frame },
                },
                () = sleep_until(answer_at.unwrap_or(ping_at)), if answer_at.is_some() => {
                    if !self.answer().await { return None }
                },
                () = sleep_until(ping_at) => {
                    if self.pinged { return Some(close::of_code(Code::IdleTimeout)) }
                    self.pinged = true;
                    if !self.send(&close::control(Opcode::Ping, b"")).await { return None }
                },
                _ = token_checks.tick(), if self.grant.is_some() => {
                    if let Some(code) = self.ended() { return Some(close::of_code(code)) }
                },
                () = relay.drain_begins() => return Some(close::of_code(Code::Goaway)),
            }
        }
    }

    /// Why the grant of the client is no longer valid; `None` while it is.
    fn ended(&self) -> Option<Code> {
        self.relay.access.as_ref()?.ended(self.grant.as_ref()?)
    }

    /// When the next answer is due: to a request as soon as the interval allows it, otherwise at the next push.
    fn answer_at(&self) -> Option<Instant> {
        let interval = Duration::from_millis(self.relay.limits.stats_interval);
        let due = self.requested || self.push_now;
        if due { Some(self.answered + interval) } else { self.push.map(|every| self.answered + every) }
    }

    /// How long the peer may send nothing: first until the ping, then until its answer.
    fn silence_limit(&self) -> Duration {
        let limits = &self.relay.limits;
        Duration::from_millis(if self.pinged { limits.idle_timeout } else { limits.ping_interval })
    }

    /// Processes input. Returns `Some` to end the socket, with the close frame to send.
    async fn process(&mut self, input: &[u8]) -> Option<Option<Bytes>> {
        let mut events = Vec::new();
        let result = self.decoder.feed(input, &mut |event| events.push(event));
        (self.received, self.pinged) = (Instant::now(), false);
        for event in events {
            match event {
                Event::Messages(batch) => self.process_requests(&batch),
                Event::Ping(payload) => {
                    if !self.send(&close::control(Opcode::Pong, &payload)).await {
                        return Some(None);
                    }
                }
                Event::Pong => {}
                Event::Close(code) => return Some(Some(close::answer(code))),
            }
        }
        result.err().map(|violation| Some(close::of_code(violation.code())))
    }

    fn process_requests(&mut self, batch: &Batch) {
        for frame in batch.frames(0) {
            let payload = &frame[frame.len() - parley_net::ws::frame::payload_of(frame.len())..];
            match serde_json::from_slice::<PushRequest>(payload) {
                Ok(PushRequest { push: 0 }) => (self.push, self.push_now) = (None, false),
                Ok(PushRequest { push }) => {
                    let every = push.clamp(self.relay.limits.stats_interval, 3_600_000);
                    (self.push, self.push_now) = (Some(Duration::from_millis(every)), true);
                }
                Err(_) => self.requested = true,
            }
        }
    }

    async fn answer(&mut self) -> bool {
        self.answered = Instant::now();
        let frames = if std::mem::take(&mut self.requested) {
            answers::clients(&self.relay)
        } else {
            self.push_now = false;
            answers::pod(&self.relay)
        };
        self.send(&frames).await
    }

    async fn send(&mut self, bytes: &[u8]) -> bool {
        matches!(tokio::time::timeout(WRITE_TIMEOUT, self.stream.write_all(bytes)).await, Ok(Ok(())))
    }
}
