//! A relay that requires tokens, and the ways in which clients present one.
use super::pod::{Client, DEADLINE, Pod, settings};
use super::raw::{Raw, UPGRADE, request};
pub use crate::signer::{AUDIENCE, bad, claims, eddsa, hs256, now};
use parley_relay::start;
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::ClientRequestBuilder;
use tokio_tungstenite::{MaybeTlsStream, client_async};

pub async fn start(flags: &[&str]) -> Pod {
    let mut settings = settings(flags);
    settings.access = Some(crate::signer::rules());
    Pod(start::relay(settings).await.unwrap())
}

/// Upgrades without a token; the client is on no topic yet.
pub async fn join_without_token(pod: &Pod, path: &str) -> Client {
    let request = ClientRequestBuilder::new(pod.url(path).parse().unwrap());
    let stream = MaybeTlsStream::Plain(pod.tcp().await);
    let (socket, _) = timeout(DEADLINE, client_async(request, stream)).await.unwrap().unwrap();
    Client { socket, protocol: None }
}

/// Joins with the token in the first message.
pub async fn enter(pod: &Pod, path: &str, token: &str) -> Client {
    let before = pod.0.relay.counters.opened.get();
    let mut client = join_without_token(pod, path).await;
    client.send_text(token).await;
    let verdict = verdict(&mut client).await;
    assert_eq!(verdict["authorised"], true, "{verdict}");
    pod.until("it is on its topic", || pod.0.relay.counters.opened.get() > before).await;
    client
}

pub async fn verdict(client: &mut Client) -> Value {
    serde_json::from_str(&client.receive_text().await).unwrap()
}

/// Upgrades with a token in the header. Returns the status, and the body of a refusal.
pub async fn upgrade(pod: &Pod, path: &str, token: &str) -> (u16, String) {
    let head = format!("GET {path} HTTP/1.1\r\n{UPGRADE}Authorization: Bearer {token}\r\n\r\n");
    let mut raw = Raw::connect(pod).await;
    raw.write(head.as_bytes()).await;
    let head = raw.head().await;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, if status == 101 { String::new() } else { String::from_utf8(raw.rest().await).unwrap() })
}

/// Sends a POST with a token and a body.
pub async fn post(pod: &Pod, path: &str, token: &str, more: &str, body: &str) -> (u16, String, String) {
    let head = format!("POST {path} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer {token}\r\n{more}");
    request(pod, &format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())).await
}

/// Requests a code for a path.
pub async fn code(pod: &Pod, path: &str, token: &str) -> String {
    let (status, _, body) = post(pod, &format!("/v1/codes{path}"), token, "", "").await;
    assert_eq!(status, 201, "{body}");
    serde_json::from_str::<Value>(&body).unwrap()["code"].as_str().unwrap().to_owned()
}

pub fn refusal(code: parley_net::codes::Code) -> (u16, String) {
    (code.http(), format!(r#"{{"code":"{}"}}"#, code.name()))
}
