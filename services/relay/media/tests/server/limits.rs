use moq_net::bytes::Bytes;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{call, dial, dial_from, stay};
use crate::relay::{Relay, anything, limits};

#[tokio::test]
async fn med_14_a_silent_handshake_ends_at_its_timeout_and_frees_its_permit() {
    let relay = Relay::with(parley_media::Limits { handshakes: 2, handshake_time: 500, ..limits() }).await;
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(TcpStream::connect(relay.server().websocket).await.unwrap());
    }
    let mut refused = TcpStream::connect(relay.server().websocket).await.unwrap();
    assert_eq!(refused.read(&mut [0; 100]).await.unwrap_or(0), 0);
    relay.until("refusals_total", |refused| refused == 1.0).await;
    assert_eq!(relay.metric("refusals_total", &["TOO_MANY_HANDSHAKES"]), 1.0);
    let begin = Instant::now();
    for mut silent in silent {
        let ended = tokio::time::timeout(Duration::from_secs(5), silent.read(&mut [0; 100]))
            .await
            .expect("the connection stays open");
        assert_eq!(ended.unwrap_or(0), 0);
    }
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert!(dial(relay.url(&anything()), &relay.hashes()).await.is_ok());
}

#[tokio::test]
async fn med_14_a_silent_session_over_quic_ends_at_the_idle_timeout() {
    let relay = Relay::with(parley_media::Limits { idle_time: 1000, ..limits() }).await;
    let url = relay.url(&anything());
    let hashes = relay.hashes();
    let client = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let connection = runtime.block_on(stay(url, &hashes));
        // The runtime of the client does not run from here on.
        (runtime, connection)
    });
    let kept = client.join().unwrap();
    relay.until("sessions", |count| count == 1.0).await;
    relay.until("sessions_ended_total", |ended| ended == 1.0).await;
    assert_eq!(relay.metric("sessions_ended_total", &["LEFT"]), 1.0);
    std::thread::spawn(move || drop(kept)).join().unwrap();
}

#[tokio::test]
async fn med_23_sessions_are_limited_for_each_address() {
    let relay = Relay::with(parley_media::Limits { address_sessions: 2, ..limits() }).await;
    let (url, hashes) = (relay.url(&anything()), relay.hashes());
    let first = stay(url.clone(), &hashes).await;
    let _second = stay(url.clone(), &hashes).await;
    assert!(call(url.clone(), &hashes).await.is_err());
    assert!(relay.metric("refusals_total", &["TOO_MANY_SESSIONS"]) >= 1.0);
    assert!(dial_from("127.0.0.2:0", url.clone(), &hashes).await.is_ok(), "another address");
    drop(first);
    relay.until("sessions", |count| count == 1.0).await;
    assert!(dial(url, &hashes).await.is_ok(), "the session of the client that left still counts");
}

/// Sends an upgrade with these headers, and returns the response.
async fn upgrade(relay: &Relay, headers: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(relay.server().websocket).await.unwrap();
    let head = "GET /?jwt=%2A%2A+%2A%2A HTTP/1.1\r\nHost: relay.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    stream.write_all(format!("{head}{headers}\r\n").as_bytes()).await.unwrap();
    let mut answer = Bytes::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut part = vec![0; 4096];
        let size = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut part)).await.unwrap().unwrap();
        assert!(size > 0, "the relay closed the connection");
        answer = [&answer[..], &part[..size]].concat().into();
    }
    (String::from_utf8_lossy(&answer).into_owned(), stream)
}

#[tokio::test]
async fn med_13_the_upgrade_of_a_page_of_another_origin_is_refused() {
    let relay = Relay::start().await;
    let (answer, _stream) = upgrade(&relay, "Origin: https://evil.example\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("{\"code\":\"ORIGIN_DENIED\"}"), "{answer}");
    relay.until("refusals_total", |refused| refused == 1.0).await;
    assert_eq!(relay.metric("refusals_total", &["ORIGIN_DENIED"]), 1.0);
    let (answer, _stream) =
        upgrade(&relay, "Origin: https://lab.example\r\nSec-WebSocket-Protocol: chat, qmux-01.moq-lite-05\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    assert!(answer.to_lowercase().contains("sec-websocket-protocol: qmux-01.moq-lite-05"), "{answer}");
    let (answer, _stream) = upgrade(&relay, "Sec-WebSocket-Protocol: chat\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn med_23_behind_a_proxy_the_address_that_the_proxy_reports_counts() {
    let relay = Relay::with(parley_media::Limits { address_sessions: 1, ..limits() }).await;
    let (first, _first) = upgrade(&relay, "X-Forwarded-For: 2.2.2.2\r\n").await;
    let (second, _second) = upgrade(&relay, "X-Forwarded-For: 2.2.2.2\r\n").await;
    let (other, _other) = upgrade(&relay, "X-Forwarded-For: 3.3.3.3\r\n").await;
    assert!(first.starts_with("HTTP/1.1 101 ") && other.starts_with("HTTP/1.1 101 "), "{first} {other}");
    assert!(second.starts_with("HTTP/1.1 403 ") && second.contains("TOO_MANY_SESSIONS"), "{second}");
}
