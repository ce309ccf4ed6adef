//! `/ws`: statistics as JSON, when asked or by itself. Rules STR-60, STR-61 and STR-132.
use super::farewell;
use crate::relay::Relay;
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

/// What a client may ask: `{"push": 1000}` for the pod as a whole every so many milliseconds, 0 to stop. Anything else is
/// Crossbar's way of asking once.
#[derive(Deserialize)]
struct Ask {
    push: u64,
}

/// Where it is.
pub const PATH: &str = "/ws";
/// Between two looks at the token: its end closes the socket within a second, as with topics.
const TOKEN: Duration = Duration::from_millis(500);

/// An operator who was let in.
pub struct Watcher {
    /// What the token gave; `None` where none is asked for.
    pub grant: Option<Grant>,
    /// What came after the handshake.
    pub rest: Vec<u8>,
}

/// A question is short; more is no question.
const QUESTION: u64 = 4096;
/// A peer that takes an answer no faster is not reading.
const PATIENCE: Duration = Duration::from_secs(10);

struct Socket {
    relay: Arc<Relay>,
    stream: TcpStream,
    grant: Option<Grant>,
    decoder: Decoder,
    /// Asked once and not answered yet.
    asked: bool,
    push: Option<Duration>,
    /// The first push is due, as soon as the interval allows.
    push_now: bool,
    answered: Instant,
    heard: Instant,
    pinged: bool,
}

/// Answers until the peer goes or the pod drains.
pub async fn run(stream: TcpStream, watcher: Watcher, relay: Arc<Relay>) {
    let Watcher { grant, rest } = watcher;
    let sockets = relay.stats_sockets.fetch_add(1, Relaxed);
    let now = Instant::now();
    let decoder = Decoder::new(QUESTION, 16);
    let (asked, push, push_now, pinged) = (false, None, false, false);
    let full = sockets >= relay.limits.stats_sockets;
    let mut socket = Socket { relay, stream, grant, decoder, asked, push, push_now, answered: now, heard: now, pinged };
    let end = if full { Some(close::of_code(Code::TooManySockets)) } else { socket.talk(&rest).await };
    socket.relay.stats_sockets.fetch_sub(1, Relaxed);
    if let Some(frame) = end {
        farewell::say(&mut socket.stream, &frame).await;
    }
}

impl Socket {
    /// The close frame to end with; `None`: the peer is gone.
    async fn talk(&mut self, rest: &[u8]) -> Option<Bytes> {
        if let Some(frame) = self.take(rest).await {
            return frame;
        }
        let mut input = [0; 1024];
        let mut looks = interval(TOKEN);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let relay = Arc::clone(&self.relay);
            let (answer_at, ping_at) = (self.answer_at(), self.heard + self.quiet());
            tokio::select! {
                read = self.stream.read(&mut input) => match read {
                    Ok(0) | Err(_) => return None,
                    Ok(size) => if let Some(frame) = self.take(&input[..size]).await { return frame },
                },
                () = sleep_until(answer_at.unwrap_or(ping_at)), if answer_at.is_some() => {
                    if !self.answer().await { return None }
                },
                () = sleep_until(ping_at) => {
                    if self.pinged { return Some(close::of_code(Code::IdleTimeout)) }
                    self.pinged = true;
                    if !self.send(&close::control(Opcode::Ping, b"")).await { return None }
                },
                _ = looks.tick(), if self.grant.is_some() => {
                    if let Some(code) = self.over() { return Some(close::of_code(code)) }
                },
                () = relay.drain_begins() => return Some(close::of_code(Code::Goaway)),
            }
        }
    }

    /// Why the operator may watch no longer.
    fn over(&self) -> Option<Code> {
        self.relay.access.as_ref()?.over(self.grant.as_ref()?)
    }

    /// When the next answer is due: to a question as soon as the interval allows, otherwise at the next push.
    fn answer_at(&self) -> Option<Instant> {
        let least = Duration::from_millis(self.relay.limits.stats_interval);
        let due = self.asked || self.push_now;
        if due { Some(self.answered + least) } else { self.push.map(|every| self.answered + every) }
    }

    /// How long the peer may be quiet: first until the ping, then for its answer.
    fn quiet(&self) -> Duration {
        let limits = &self.relay.limits;
        Duration::from_millis(if self.pinged { limits.idle_timeout } else { limits.ping_interval })
    }

    async fn take(&mut self, input: &[u8]) -> Option<Option<Bytes>> {
        let mut events = Vec::new();
        let result = self.decoder.feed(input, &mut |event| events.push(event));
        (self.heard, self.pinged) = (Instant::now(), false);
        for event in events {
            match event {
                Event::Messages(batch) => self.hear(&batch),
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

    fn hear(&mut self, batch: &Batch) {
        for frame in batch.frames(0) {
            let payload = &frame[frame.len() - parley_net::ws::frame::payload_of(frame.len())..];
            match serde_json::from_slice::<Ask>(payload) {
                Ok(Ask { push: 0 }) => (self.push, self.push_now) = (None, false),
                Ok(Ask { push }) => {
                    let every = push.clamp(self.relay.limits.stats_interval, 3_600_000);
                    (self.push, self.push_now) = (Some(Duration::from_millis(every)), true);
                }
                Err(_) => self.asked = true,
            }
        }
    }

    async fn answer(&mut self) -> bool {
        self.answered = Instant::now();
        let frames = if std::mem::take(&mut self.asked) {
            self.relay.answers.each(&self.relay)
        } else {
            self.push_now = false;
            self.relay.answers.whole(&self.relay)
        };
        self.send(&frames).await
    }

    async fn send(&mut self, bytes: &[u8]) -> bool {
        matches!(tokio::time::timeout(PATIENCE, self.stream.write_all(bytes)).await, Ok(Ok(())))
    }
}
