//! The token in the first message, as Crossbar's clients send it. Until it is good the client is on no topic. Rule STR-107.
use super::farewell;
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

/// What Crossbar answers to a token.
#[derive(Serialize)]
struct Verdict<'a> {
    topic: &'a str,
    token: &'a str,
    authorised: bool,
    reason: &'a str,
}

/// A token is one frame, or a few where a proxy cuts them.
const FRAGMENTS: u64 = 16;

/// A token that is good.
pub struct Heard<P = Pass> {
    /// What it allows.
    pub pass: P,
    /// What is to be answered.
    pub answer: Bytes,
    /// What came after it.
    pub rest: Vec<u8>,
}

/// Waits for the token for a path, which `judge` judges, and answers one that is not good. `None`: the client is gone.
pub async fn hear<P>(
    stream: &mut TcpStream,
    rest: Vec<u8>,
    path: &str,
    relay: &Relay,
    judge: impl Fn(&[u8]) -> Result<P, Code>,
) -> Option<Heard<P>> {
    let patience = Duration::from_millis(relay.limits.token_timeout);
    let heard = tokio::select! {
        heard = tokio::time::timeout(patience, listen(stream, rest, relay.limits.token_bytes)) => {
            heard.unwrap_or(Err(Code::TokenTimeout))
        },
        () = relay.drain_begins() => Err(Code::Goaway),
    };
    let (token, rest) = match heard {
        Ok(heard) => heard?,
        Err(code) => return refuse(stream, b"", code, path, relay).await,
    };
    match judge(token.trim_ascii()) {
        Ok(pass) => Some(Heard { pass, answer: verdict(path, &token, Ok(())), rest }),
        Err(code) => refuse(stream, &token, code, path, relay).await,
    }
}

async fn refuse<T>(stream: &mut TcpStream, token: &[u8], code: Code, path: &str, relay: &Relay) -> Option<T> {
    relay.counters.closed.count(code);
    let mut last = verdict(path, token, Err(code)).to_vec();
    last.extend_from_slice(&close::of_code(code));
    farewell::say(stream, &last).await;
    None
}

fn verdict(path: &str, token: &[u8], result: Result<(), Code>) -> Bytes {
    let token = String::from_utf8_lossy(token);
    let reason = result.map_or_else(Code::name, |()| "ok");
    let verdict = Verdict { topic: path, token: token.trim(), authorised: result.is_ok(), reason };
    let json = serde_json::to_vec(&verdict).unwrap_or_default();
    Batch::message(Kind::Text, &json).bytes().clone()
}

/// The first message, and the bytes after it. They are fed one by one, as those after the token belong to the stream.
async fn listen(stream: &mut TcpStream, mut input: Vec<u8>, most: u64) -> Result<Option<(Vec<u8>, Vec<u8>)>, Code> {
    let mut decoder = Decoder::new(most, FRAGMENTS);
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
                    farewell::say(stream, &close::answer(code)).await;
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
