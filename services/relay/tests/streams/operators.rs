//! Probes and scrapers while clients use all connections.
use super::pod::{DEADLINE, Pod, start};
use super::raw::{Raw, get, request};
use parley_relay::drain;
use std::net::SocketAddr;
use tokio::net::TcpStream;
use tokio::time::timeout;

const CROWD: usize = 400;

async fn ask(address: SocketAddr, path: &str) -> (u16, String) {
    let mut raw = Raw(TcpStream::connect(address).await.unwrap());
    raw.write(format!("GET {path} HTTP/1.1\r\nHost: relay\r\n\r\n").as_bytes()).await;
    let head = raw.head().await;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, String::from_utf8(raw.rest().await).unwrap())
}

/// Opens silent connections: those within `pod.sockets`, and all that may be refused at once.
async fn crowd(pod: &Pod) -> Vec<TcpStream> {
    let mut silent = Vec::new();
    for _ in 0..CROWD {
        silent.push(pod.tcp().await);
    }
    pod.until("every place is taken", || pod.0.relay.addresses.total() == 4 + 256).await;
    silent
}

#[tokio::test]
async fn str_65_probes_are_answered_on_their_port_while_silent_clients_use_all_connections() {
    let pod = start(&["--ops-listen=127.0.0.1:0", "--limit=pod.sockets=4", "--limit=headers.timeout=60000"]).await;
    let ops = pod.0.ops.unwrap();
    let _silent = crowd(&pod).await;
    assert_eq!(get(&pod, "/healthz").await.0, 0);
    assert_eq!(ask(ops, "/healthz").await, (200, "ok\n".into()));
    assert_eq!(ask(ops, "/readyz").await, (200, "ready\n".into()));
    assert!(ask(ops, "/metrics").await.1.contains("\nparley_relay_connections 260\n"));
}

#[tokio::test]
async fn str_65_the_port_serves_nothing_else_and_closes_silent_connections() {
    let pod = start(&["--ops-listen=127.0.0.1:0"]).await;
    let ops = pod.0.ops.unwrap();
    for path in ["/ws", "/stats", "/demo", "/v1/revocations", "/"] {
        assert_eq!(ask(ops, path).await, (404, r#"{"code":"NOT_FOUND"}"#.into()), "{path}");
    }
    assert_eq!(request(&pod, "GET /healthz HTTP/1.1\r\n\r\n").await.0, 200);
    let pod = start(&["--ops-listen=127.0.0.1:0", "--limit=headers.timeout=200"]).await;
    let mut silent = Raw(TcpStream::connect(pod.0.ops.unwrap()).await.unwrap());
    assert!(silent.head().await.starts_with("HTTP/1.1 408 "));
}

#[tokio::test]
async fn str_65_operators_are_answered_until_the_drain_is_over() {
    let pod = start(&["--ops-listen=127.0.0.1:0", "--limit=drain.window=100"]).await;
    let ops = pod.0.ops.unwrap();
    timeout(DEADLINE, drain::run(&pod.0)).await.unwrap();
    assert_eq!(ask(ops, "/readyz").await, (503, r#"{"code":"NOT_READY"}"#.into()));
    assert_eq!(ask(ops, "/healthz").await.0, 200);
}
