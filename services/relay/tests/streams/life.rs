use super::pod::start;
use super::raw::{Raw, frame};
use std::time::Duration;
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn str_30_a_quiet_socket_is_pinged_and_stays_while_it_answers() {
    let pod = start(&["--limit=socket.pingInterval=300", "--limit=socket.idleTimeout=2000"]).await;
    let mut quiet = Raw::join(&pod, "/out/x").await;
    for _ in 0..8 {
        let mut ping = [0; 2];
        quiet.0.read_exact(&mut ping).await.unwrap();
        assert_eq!(ping, [0x89, 0]);
        quiet.write(&frame(0x8a, b"")).await;
    }
    assert_eq!(pod.0.relay.clients.count(), 1);
}

#[tokio::test]
async fn str_31_a_socket_that_answers_no_ping_is_closed() {
    let pod = start(&[
        "--limit=socket.pingInterval=100",
        "--limit=socket.idleTimeout=300",
        "--limit=socket.closeTimeout=100",
    ])
    .await;
    let mut dead = Raw::join(&pod, "/x").await;
    assert_eq!(dead.end().await, 4432);
    pod.until_clients(0).await;
    let mut stats = Raw::join(&pod, "/ws").await;
    assert_eq!(stats.end().await, 4432);
}

#[tokio::test]
async fn str_32_a_close_is_answered_with_its_code_and_the_connection_ends() {
    let pod = start(&[]).await;
    let mut leaving = Raw::join(&pod, "/x").await;
    leaving.write(&[frame(0x88, &[0x0f, 0xa0, b'b', b'y', b'e']), frame(0x81, b"after")].concat()).await;
    assert_eq!(leaving.rest().await, [0x88, 2, 0x0f, 0xa0]);
    let mut plain = Raw::join(&pod, "/x").await;
    plain.write(&frame(0x88, b"")).await;
    assert_eq!(plain.rest().await, [0x88, 0]);
    pod.until_clients(0).await;
    assert_eq!(pod.0.relay.counters.received.get(), 0);
}

#[tokio::test]
async fn str_32_a_peer_that_never_answers_a_close_is_dropped() {
    let pod = start(&["--limit=socket.closeTimeout=200"]).await;
    let mut bad = Raw::join(&pod, "/x").await;
    bad.write(&frame(0x83, b"")).await;
    pod.until_clients(0).await;
    assert_eq!(bad.end().await, 1002);
}

#[tokio::test]
async fn a_flood_of_pings_from_a_client_that_does_not_read_queues_one_answer() {
    let pod = start(&[]).await;
    let mut flood = Raw::join(&pod, "/x").await;
    let pings = frame(0x89, &[7; 125]).repeat(1000);
    for _ in 0..200 {
        // The relay continues to read, though its answers are not read.
        if tokio::time::timeout(Duration::from_secs(20), flood.write(&pings)).await.is_err() {
            panic!("the relay stopped reading");
        }
    }
    assert_eq!(pod.0.relay.backlog.bytes(), 0);
}
