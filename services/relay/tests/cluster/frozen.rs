//! A frozen peer.
use super::nats::Nats;
use super::pod::{linked, start};
use crate::resident;
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

const SIZE: usize = 50_000;

#[tokio::test]
async fn str_95_a_frozen_peer_delays_no_reader_here_costs_bounded_memory_and_its_drops_are_counted() {
    let nats = Nats::start().await;
    let flags = ["--limit=link.idleTimeout=600000", "--limit=link.bytes=20000000", "--limit=link.queuedBytes=21000000"];
    let pods = start(&nats, 2, &flags).await;
    let mut far = pods[1].join("/out/lab").await;
    pods[0].wanted(1).await;
    let (mut near, mut camera) = (pods[0].join("/out/lab").await, pods[0].join("/in/lab").await);
    pods[1].signal("STOP");
    let before = resident::of(pods[0].pid());
    // 100 MB: five times the limit of the queue.
    for number in 0..2000_u32 {
        let message = Message::binary([&number.to_be_bytes()[..], &[7; SIZE]].concat());
        camera.send(message.clone()).await;
        assert!(near.receive().await == message);
    }
    let metrics = pods[0].metrics().await;
    assert!(metrics["link_queued_bytes"] <= 20e6 && metrics["link_queued_bytes"] > 10e6, "{metrics:?}");
    assert!(metrics["link_dropped_messages_total"] > 1000.0, "{metrics:?}");
    let grown = resident::of(pods[0].pid()).saturating_sub(before);
    assert!(grown < 60_000, "{grown} KB");
    pods[1].signal("CONT");
    pods[0].until("link_queued_messages", |queued| queued == 0).await;
    let dropped = pods[0].metric("link_dropped_messages_total").await;
    let (mut received, mut last) = (0, None);
    while last != Some(1999) {
        let Message::Binary(bytes) = far.receive().await else { panic!("text") };
        let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        assert!(last < Some(number) && bytes.len() == SIZE + 4);
        (received, last) = (received + 1, Some(number));
    }
    // The burst was larger than the queue of its reader.
    assert_eq!(received + dropped + pods[1].metric("dropped_messages_total").await, 2000);
}

#[tokio::test]
async fn str_97_the_link_to_a_frozen_peer_ends_and_is_dialled_again_when_it_continues() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.idleTimeout=2000"]).await;
    let (mut camera, mut reader) = (pods[0].join("/in/lab").await, pods[1].join("/out/lab").await);
    pods[0].wanted(1).await;
    pods[1].signal("STOP");
    pods[0].until("link_ended_total{code=\"LINK_IDLE_TIMEOUT\"}", |ended| ended >= 1).await;
    pods[0].until("links_sending", |links| links == 0).await;
    assert_eq!(pods[0].metric("link_queued_bytes").await, 0);
    pods[1].signal("CONT");
    linked(&pods).await;
    pods[0].wanted(1).await;
    camera.send_text("again").await;
    assert_eq!(reader.receive_text().await, "again");
}

#[tokio::test]
async fn str_95_a_busy_topic_does_not_delay_another() {
    let nats = Nats::start().await;
    let flags =
        ["--limit=link.idleTimeout=600000", "--limit=link.messages=1000000", "--limit=link.queuedBytes=200000000"];
    let pods = start(&nats, 2, &flags).await;
    let (mut far_noise, mut far_quiet) = (pods[1].join("/out/noise").await, pods[1].join("/out/quiet").await);
    pods[0].wanted(2).await;
    let (mut noise, mut quiet) = (pods[0].join("/in/noise").await, pods[0].join("/in/quiet").await);
    let mut near = pods[0].join("/out/noise").await;
    pods[1].signal("STOP");
    for _ in 0..600 {
        noise.send(Message::binary(vec![7; SIZE])).await;
        near.receive().await;
    }
    let waiting = pods[0].metric("link_queued_messages").await;
    assert!(waiting > 100, "{waiting}");
    quiet.send_text("my turn").await;
    pods[0].until("link_queued_messages", |queued| queued == waiting + 1).await;
    pods[1].signal("CONT");
    assert_eq!(far_quiet.receive_text().await, "my turn");
    // Most of the messages queued before it are still queued, there or at the reader.
    let noisy = async {
        let mut received = 0;
        while tokio::time::timeout(Duration::from_millis(1), far_noise.receive()).await.is_ok() {
            received += 1;
        }
        received
    };
    println!("{} of 600 came with it", noisy.await);
}
