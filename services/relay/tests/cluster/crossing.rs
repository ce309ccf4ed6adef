//! Messages that cross links, and messages that do not: counted by the pods' metrics and by a proxy between the pods.
use super::nats::Nats;
use super::pod::{Pod, linked, start};
use super::wire::Wire;
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

const MESSAGES: usize = 100;
const SIZE: usize = 4600;

/// Two pods whose links from `hears` to `sends` go over a counted wire.
async fn over_a_wire(nats: &Nats) -> (Pod, Pod, Wire) {
    let wire = Wire::new().await;
    let sends = Pod::start(nats, &["--pod=sends", &format!("--link-advertise={}", wire.address)]).await;
    wire.lead_to(&sends.link);
    let hears = Pod::start(nats, &["--pod=hears"]).await;
    let pods = [sends, hears];
    linked(&pods).await;
    let [sends, hears] = pods;
    (sends, hears, wire)
}

#[tokio::test]
async fn str_93_a_topic_crosses_once_whatever_the_number_of_readers() {
    let nats = Nats::start().await;
    let (sends, hears, wire) = over_a_wire(&nats).await;
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(hears.join("/out/lab").await);
    }
    sends.wanted(1).await;
    let mut camera = sends.join("/in/lab").await;
    let before = wire.bytes();
    for at in 0..MESSAGES {
        camera.send(Message::binary(vec![at as u8; SIZE])).await;
        for reader in &mut readers {
            assert_eq!(reader.receive().await, Message::binary(vec![at as u8; SIZE]));
        }
    }
    let crossed = wire.bytes() - before;
    let framed = (MESSAGES * (SIZE + 4)) as u64;
    // One header of 17 bytes for each, and a ping with its answer every second.
    assert!((framed..framed + 10_000).contains(&crossed), "{crossed} bytes for {framed}");
    let (sent, received) = (sends.metrics().await, hears.metrics().await);
    assert_eq!((sent["link_sent_messages_total"], received["link_received_messages_total"]), (100.0, 100.0));
    assert_eq!(sent["link_sent_bytes_total"], (framed + 1700) as f64);
    assert_eq!(received["link_received_bytes_total"], sent["link_sent_bytes_total"]);
    assert_eq!((sent["hop_seconds_count"], received["link_sent_messages_total"]), (100.0, 0.0));
    // A link is not counted as a client of either pod.
    assert_eq!((sent["sockets"], sent["received_messages_total"]), (1.0, 100.0));
    assert_eq!((received["sockets"], received["received_messages_total"]), (20.0, 0.0));
}

#[tokio::test]
async fn str_93_a_topic_without_readers_does_not_cross() {
    let nats = Nats::start().await;
    let (sends, hears, wire) = over_a_wire(&nats).await;
    let (mut here, mut camera) = (sends.join("/out/lab").await, sends.join("/in/lab").await);
    // The other pod has a reader of another topic and a publisher of this one.
    let (_other, _publisher) = (hears.join("/out/other").await, hears.join("/in/lab").await);
    sends.wanted(1).await;
    let before = wire.bytes();
    for at in 0..MESSAGES {
        camera.send(Message::binary(vec![at as u8; SIZE])).await;
        here.receive().await;
    }
    assert!(wire.bytes() - before < 2000, "{} bytes", wire.bytes() - before);
    assert_eq!(sends.metric("link_sent_messages_total").await, 0);
}

#[tokio::test]
async fn str_93_a_subscription_ends_with_the_last_reader_and_begins_again_with_the_next() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[]).await;
    let mut camera = pods[0].join("/in/lab").await;
    for round in 0..3 {
        let (mut one, mut two) = (pods[1].join("/out/lab").await, pods[1].join("/out/lab").await);
        pods[0].wanted(1).await;
        camera.send_text(&format!("{round}")).await;
        assert_eq!((one.receive_text().await, two.receive_text().await), (round.to_string(), round.to_string()));
        drop(one);
        pods[1].until("sockets", |sockets| sockets == 1).await;
        camera.send_text("for one").await;
        assert_eq!(two.receive_text().await, "for one");
        drop(two);
        pods[0].wanted(0).await;
        camera.send_text("without a reader").await;
        pods[0].until("received_messages_total", |received| received == 3 * (round + 1)).await;
    }
    assert_eq!(pods[0].metric("link_sent_messages_total").await, 6);
    assert_eq!(pods[1].metric("link_late_messages_total").await, 0);
}

#[tokio::test]
async fn str_93_a_subscription_to_a_topic_without_clients_waits_and_creates_no_topic() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[]).await;
    let mut reader = pods[1].join("/out/later").await;
    pods[0].wanted(1).await;
    assert_eq!(pods[0].metric("topics").await, 0);
    for text in ["first", "second"] {
        let mut camera = pods[0].join("/in/later").await;
        camera.send_text(text).await;
        assert_eq!(reader.receive_text().await, text);
        drop(camera);
        pods[0].until("topics", |topics| topics == 0).await;
    }
}

#[tokio::test]
async fn str_95_subscriptions_over_the_limit_are_refused_and_counted_and_the_link_stays() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.subscriptions=2", "--limit=link.subscribeTimeout=10000"]).await;
    let mut readers = Vec::new();
    for topic in ["/a", "/b", "/c"] {
        readers.push(pods[1].join(topic).await);
    }
    pods[0].until("link_subscription_refusals_total", |refused| refused == 1).await;
    pods[0].wanted(2).await;
    for (at, topic) in ["/a", "/b", "/c"].iter().enumerate() {
        let mut publisher = pods[0].join(topic).await;
        publisher.send_text(topic).await;
        if at < 2 {
            assert_eq!(readers[at].receive_text().await, *topic);
        }
    }
    let nothing = tokio::time::timeout(Duration::from_millis(200), readers[2].receive()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(pods[0].metric("links_sending").await, 1);
    // The refusal was answered at once.
    assert_eq!(pods[1].metric("upgrade_hold_timeouts_total").await, 0);
}
