//! Relays that require tokens, and the ways in which clients present one.
use super::nats::Nats;
use super::pod::{Client, DEADLINE, Pod, start};
use super::signer::{SECRET, claims, hs256};
use futures_util::StreamExt;
use parley_net::codes::Code;
use serde_json::{Value, json};
use std::sync::LazyLock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Message};

/// The file with the secret. It is written once, as several tests read it.
static SECRET_FLAG: LazyLock<String> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/token-secret");
    std::fs::write(path, SECRET).unwrap();
    format!("--token-secret-file={path}")
});

/// The flags of such a relay, followed by `more`.
pub fn flags<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["--access=token", &**SECRET_FLAG], more].concat()
}

/// Starts pods and waits until all are linked, so that all have found each other on NATS.
pub async fn guarded(nats: &Nats, count: usize, more: &[&str]) -> Vec<Pod> {
    start(nats, count, &flags(more)).await
}

/// Makes a token for all topics below `lab/`.
pub fn token(name: &str) -> String {
    hs256(&claims(json!({ "sub": name })))
}

/// Returns the status, and the body unless it is an upgrade.
pub async fn ask(pod: &Pod, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(&pod.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let reading = async {
        // An accepted socket stays open.
        let is_in = |answer: &[u8]| answer.starts_with(b"HTTP/1.1 101 ") && answer.ends_with(b"\r\n\r\n");
        while !is_in(&answer) && stream.read_buf(&mut answer).await.unwrap() > 0 {}
    };
    timeout(DEADLINE, reading).await.expect("no answer");
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

pub fn refusal(code: Code) -> (u16, String) {
    (code.http(), json!({ "code": code.name() }).to_string())
}

pub const IN: (u16, String) = (101, String::new());

async fn post(pod: &Pod, path: &str, token: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}");
    ask(pod, &format!("{head}\r\n\r\n{body}")).await
}

/// Requests a code for `/lab/7`.
pub async fn code(pod: &Pod) -> String {
    code_of(pod, "ada").await
}

/// Requests a code for `/lab/7` as the participant `name`.
pub async fn code_of(pod: &Pod, name: &str) -> String {
    let (status, body) = post(pod, "/v1/codes/lab/7", &token(name), "").await;
    assert_eq!(status, 201, "{body}");
    serde_json::from_str::<Value>(&body).unwrap()["code"].as_str().unwrap().to_owned()
}

const UPGRADE: &str = "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";

/// Tries a code on `/lab/7`.
pub async fn open(pod: &Pod, code: &str) -> (u16, String) {
    open_at(pod, "/lab/7", code).await
}

pub async fn open_at(pod: &Pod, path: &str, code: &str) -> (u16, String) {
    ask(pod, &format!("GET {path}?code={code} HTTP/1.1\r\n{UPGRADE}\r\n")).await
}

/// Tries a code until the answer is this one, as NATS learns the subscriptions of a pod shortly after it starts or ends. A code whose pod was not
/// asked is not used up.
pub async fn opens_with(pod: &Pod, code: &str, expected: (u16, String)) {
    let mut last = IN;
    let trying = async {
        loop {
            last = open(pod, code).await;
            if last == expected {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    assert!(timeout(DEADLINE, trying).await.is_ok(), "expected {expected:?}, last {last:?}");
}

/// Upgrades with a token of the participant `name`, and returns the answer.
pub async fn try_join(pod: &Pod, name: &str) -> (u16, String) {
    try_token(pod, &token(name)).await
}

/// Upgrades with a token, and returns the answer.
pub async fn try_token(pod: &Pod, token: &str) -> (u16, String) {
    ask(pod, &format!("GET /lab/7 HTTP/1.1\r\n{UPGRADE}Authorization: Bearer {token}\r\n\r\n")).await
}

/// Joins `/lab/7` as the participant `name`.
pub async fn join(pod: &Pod, name: &str) -> Client {
    let request = ClientRequestBuilder::new(format!("ws://{}/lab/7", pod.address).parse().unwrap());
    let request = request.with_header("Authorization", format!("Bearer {}", token(name)));
    let (socket, _) = timeout(DEADLINE, tokio_tungstenite::connect_async(request)).await.unwrap().unwrap();
    Client { socket, protocol: None }
}

/// Returns the code with which the relay closes the socket.
pub async fn end(client: &mut Client) -> u16 {
    loop {
        if let Message::Close(frame) = timeout(DEADLINE, client.socket.next()).await.expect("open").unwrap().unwrap() {
            return frame.unwrap().code.into();
        }
    }
}

/// Revokes the tokens of the participant `name`.
pub async fn revoke(pod: &Pod, name: &str) -> (u16, String) {
    let admin = hs256(&claims(json!({"admin": true})));
    post(pod, "/v1/revocations", &admin, &json!({ "sub": name }).to_string()).await
}

/// Waits until a pod has a revocation.
pub async fn knows(pod: &Pod, name: &str) {
    let waiting = async {
        while try_join(pod, name).await != refusal(Code::TokenRevoked) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("the revocation of {name} never arrived"));
}
