//! A peer that stands still.
use super::nats::Nats;
use super::pod::{linked, start};
use crate::resident;
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

const SIZE: usize = 50_000;

/// Memory of a process that is in use, in KB.
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
    // 100 MB: five times what may wait.
    for number in 0..2000_u32 {
        let message = Message::binary([&number.to_be_bytes()[..], &[7; SIZE]].concat());
        camera.send(message.clone()).await;
        assert!(near.hear().await == message);
    }
    let metrics = pods[0].metrics().await;
    assert!(metrics["link_queued_bytes"] <= 20e6 && metrics["link_queued_bytes"] > 10e6, "{metrics:?}");
    assert!(metrics["link_dropped_messages_total"] > 1000.0, "{metrics:?}");
    let grown = resident::of(pods[0].pid()).saturating_sub(before);
    assert!(grown < 60_000, "{grown} KB");
    pods[1].signal("CONT");
    pods[0].until("link_queued_messages", |queued| queued == 0).await;
    let dropped = pods[0].metric("link_dropped_messages_total").await;
    let (mut heard, mut last) = (0, None);
    while last != Some(1999) {
        let Message::Binary(bytes) = far.hear().await else { panic!("text") };
        let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        assert!(last < Some(number) && bytes.len() == SIZE + 4);
        (heard, last) = (heard + 1, Some(number));
    }
    // What came at once was more than its reader's own queue takes.
    assert_eq!(heard + dropped + pods[1].metric("dropped_messages_total").await, 2000);
}

#[tokio::test]
async fn str_97_a_frozen_peer_is_given_up_and_linked_again_when_it_goes_on() {
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
    camera.say("again").await;
    assert_eq!(reader.hear_text().await, "again");
}

#[tokio::test]
async fn str_95_a_noisy_topic_does_not_take_the_turn_of_another() {
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
        near.hear().await;
    }
    let waiting = pods[0].metric("link_queued_messages").await;
    assert!(waiting > 100, "{waiting}");
    quiet.say("my turn").await;
    pods[0].until("link_queued_messages", |queued| queued == waiting + 1).await;
    pods[1].signal("CONT");
    assert_eq!(far_quiet.hear_text().await, "my turn");
    // Of what waited before it most still waits, there or at its reader.
    let noisy = async {
        let mut heard = 0;
        while tokio::time::timeout(Duration::from_millis(1), far_noise.hear()).await.is_ok() {
            heard += 1;
        }
        heard
    };
    println!("{} of 600 came with it", noisy.await);
}
