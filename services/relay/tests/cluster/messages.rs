//! Delivery between publishers and readers on several pods.
use super::nats::Nats;
use super::pod::{Client, Pod, start};
use std::collections::HashMap;
use tokio_tungstenite::tungstenite::Message;

/// The number of messages of each publisher.
const EACH: u32 = 200;

/// Each client sends numbered messages and receives those of all others in order, none twice and none of its own.
pub async fn all_clients_send(mut clients: Vec<Client>) {
    let count = clients.len() as u32;
    let talking: Vec<_> = clients
        .drain(..)
        .enumerate()
        .map(|(at, mut client)| {
            tokio::spawn(async move {
                let own = at as u32;
                let (mut next, mut said): (HashMap<u32, u32>, u32) = (HashMap::new(), 0);
                let mut received = 0;
                while said < EACH || received < EACH * (count - 1) {
                    if said < EACH {
                        client.send(Message::text(format!("{own} {said}"))).await;
                        said += 1;
                    }
                    // The client continues to send while it receives.
                    let patience = if said < EACH { 1 } else { 30_000 };
                    let hearing =
                        tokio::time::timeout(std::time::Duration::from_millis(patience), client.receive_text());
                    let Ok(text) = hearing.await else {
                        assert!(said < EACH, "client {own} received {received}: {next:?}");
                        continue;
                    };
                    let (from, number) = text.split_once(' ').unwrap();
                    let (from, number): (u32, u32) = (from.parse().unwrap(), number.parse().unwrap());
                    assert_ne!(from, own, "an echo");
                    let expected = next.entry(from).or_default();
                    assert_eq!(number, *expected, "client {own} from {from}");
                    *expected += 1;
                    received += 1;
                }
                (own, client)
            })
        })
        .collect();
    let mut done = Vec::new();
    for one in talking {
        done.push(one.await.unwrap());
    }
    // A duplicate or an own message would arrive before this one.
    let (mut last, rest) = (done.pop().unwrap().1, done);
    last.send_text("end").await;
    for (own, mut client) in rest {
        assert_eq!(client.receive_text().await, "end", "client {own}");
    }
}

async fn spread(pods: &[Pod], each: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for pod in pods {
        for _ in 0..each {
            clients.push(pod.join("/talk").await);
        }
    }
    for pod in pods {
        pod.wanted(pods.len() as u64 - 1).await;
    }
    clients
}

#[tokio::test]
async fn str_92_on_two_pods_each_client_receives_all_others_once_in_order_and_not_itself() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[]).await;
    all_clients_send(spread(&pods, 2).await).await;
}

#[tokio::test]
async fn str_92_on_three_pods_each_client_receives_all_others_once_in_order_and_not_itself() {
    let nats = Nats::start().await;
    let pods = start(&nats, 3, &["--threads=2"]).await;
    all_clients_send(spread(&pods, 2).await).await;
}

#[tokio::test]
async fn str_92_in_publishes_to_out_on_every_pod() {
    let nats = Nats::start().await;
    let pods = start(&nats, 3, &[]).await;
    let (mut readers, mut cameras) = (Vec::new(), Vec::new());
    for pod in &pods {
        readers.extend([pod.join("/out/lab").await, pod.join("/out/lab").await]);
        cameras.push(pod.join("/in/lab").await);
    }
    for pod in &pods {
        pod.wanted(2).await;
    }
    for number in 0..EACH {
        for (at, camera) in cameras.iter_mut().enumerate() {
            camera.send(Message::binary(vec![at as u8, number as u8])).await;
        }
    }
    for reader in &mut readers {
        let mut next = [0; 3];
        for _ in 0..EACH * 3 {
            let Message::Binary(received) = reader.receive().await else { panic!("text") };
            assert_eq!(u32::from(received[1]), next[usize::from(received[0])]);
            next[usize::from(received[0])] += 1;
        }
    }
    // A publisher receives nothing, though others publish on other pods: the pod answers a ping after all messages for the client.
    for camera in &mut cameras {
        camera.send(Message::Ping(vec![7].into())).await;
        let next = futures_util::StreamExt::next(&mut camera.socket).await.unwrap().unwrap();
        assert_eq!(next, Message::Pong(vec![7].into()));
    }
}

#[tokio::test]
async fn str_92_messages_cross_whole_whatever_their_size_and_kind() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[]).await;
    let mut reader = pods[0].join("/out/big").await;
    pods[1].wanted(1).await;
    let mut camera = pods[1].join("/in/big").await;
    for size in [0, 1, 125, 126, 65_535, 65_536, 1 << 20, 10 << 20] {
        let bytes: Vec<u8> = (0..size).map(|at: usize| (at % 251) as u8).collect();
        // One at a time: two of the largest are more than `link.bytes`, and the second is dropped where the link is slower than the camera.
        camera.send(Message::binary(bytes.clone())).await;
        assert!(reader.receive().await == Message::binary(bytes), "{size} bytes");
        camera.send_text(&"é".repeat(size / 2)).await;
        assert!(reader.receive_text().await == "é".repeat(size / 2), "{size} bytes of text");
    }
    assert_eq!(pods[1].metric("link_dropped_messages_total").await, 0);
}
