//! Authentication by the first message, as Crossbar's clients use it. The client is on no topic before its token is verified. Rule STR-107.
use super::lingering_close;
use crate::relay::Relay;
use bytes::Bytes;
use parley_access::Pass;
use parley_net::codes::Code;
use parley_net::ws::frame::{Opcode, payload_of};
use parley_net::ws::{Batch, Decoder, Event, Kind, Violation, close};
use serde::Serialize;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The answer to a token, as of Crossbar.
#[derive(Serialize)]
struct TokenAnswer<'a> {
    topic: &'a str,
    token: &'a str,
    authorised: bool,
    reason: &'a str,
}

/// The most fragments of a token: usually one, more if a proxy splits it.
const MAX_FRAGMENTS: u64 = 16;

/// An authenticated client.
pub(crate) struct Authenticated<P = Pass> {
    /// What the token permits.
    pub pass: P,
    /// The answer to send.
    pub answer: Bytes,
    /// The input after the token.
    pub rest: Vec<u8>,
}

/// Waits for the token for a path, and checks it with `authorize`. Answers and closes if it is refused. `None`: the connection ended.
pub(crate) async fn receive_token<P>(
    stream: &mut TcpStream,
    rest: Vec<u8>,
    path: &str,
    relay: &Relay,
    authorize: impl Fn(&[u8]) -> Result<P, Code>,
) -> Option<Authenticated<P>> {
    let timeout = Duration::from_millis(relay.limits.token_timeout);
    let received = tokio::select! {
        received = tokio::time::timeout(timeout, read_message(stream, rest, relay.limits.token_bytes)) => {
            received.unwrap_or(Err(Code::TokenTimeout))
        },
        () = relay.drain_begins() => Err(Code::Goaway),
    };
    let (token, rest) = match received {
        Ok(received) => received?,
        Err(code) => return refuse(stream, b"", code, path, relay).await,
    };
    match authorize(token.trim_ascii()) {
        Ok(pass) => Some(Authenticated { pass, answer: token_answer(path, &token, Ok(())), rest }),
        Err(code) => refuse(stream, &token, code, path, relay).await,
    }
}

async fn refuse<T>(stream: &mut TcpStream, token: &[u8], code: Code, path: &str, relay: &Relay) -> Option<T> {
    relay.counters.closed.count(code);
    let mut last = token_answer(path, token, Err(code)).to_vec();
    last.extend_from_slice(&close::of_code(code));
    lingering_close::send(stream, &last).await;
    None
}

fn token_answer(path: &str, token: &[u8], result: Result<(), Code>) -> Bytes {
    let token = String::from_utf8_lossy(token);
    let reason = result.map_or_else(Code::name, |()| "ok");
    let answer = TokenAnswer { topic: path, token: token.trim(), authorised: result.is_ok(), reason };
    let json = serde_json::to_vec(&answer).unwrap_or_default();
    Batch::message(Kind::Text, &json).bytes().clone()
}

/// Reads the first message, and returns it with the bytes after it. Bytes are decoded one by one, because those after the message belong to the stream.
async fn read_message(
    stream: &mut TcpStream,
    mut input: Vec<u8>,
    max: u64,
) -> Result<Option<(Vec<u8>, Vec<u8>)>, Code> {
    let mut decoder = Decoder::new(max, MAX_FRAGMENTS);
    loop {
        for at in 0..input.len() {
            let mut event = None;
            decoder.feed(&input[at..=at], &mut |found| event = Some(found)).map_err(code)?;
            match event {
                Some(Event::Messages(batch)) => return Ok(Some((payload(&batch), input.split_off(at + 1)))),
                Some(Event::Ping(payload)) => {
                    let pong = close::control(Opcode::Pong, &payload);
                    if stream.write_all(&pong).await.is_err() {
                        return Ok(None);
                    }
                }
                Some(Event::Close(code)) => {
                    lingering_close::send(stream, &close::answer(code)).await;
                    return Ok(None);
                }
                Some(Event::Pong) | None => {}
            }
        }
        input.clear();
        if !stream.read_buf(&mut input).await.is_ok_and(|read| read > 0) {
            return Ok(None);
        }
    }
}

fn code(violation: Violation) -> Code {
    match violation {
        Violation::TooLarge | Violation::TooManyFragments => Code::TokenInvalid,
        other => other.code(),
    }
}

fn payload(batch: &Batch) -> Vec<u8> {
    let frame = batch.bytes();
    frame[frame.len() - payload_of(frame.len())..].to_vec()
}
