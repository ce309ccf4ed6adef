use super::pod::{Pod, start};
use super::raw::{Raw, frame};
use crate::resident;
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn str_7_10_000_topics_each_have_a_reader() {
    // A long interval, so that no client is pinged before all have joined.
    let patient = ["--limit=socket.pingInterval=600000", "--limit=socket.idleTimeout=3600000"];
    let pod = start(&[&["--limit=address.sockets=20000"], &patient[..]].concat()).await;
    // Each uses one descriptor in the test and one in the relay, which is in the same process.
    let count = 9000;
    let mut readers = Vec::new();
    for at in 0..count {
        readers.push(Raw::join(&pod, &format!("/out/topic/{at}")).await);
    }
    pod.until_clients(count).await;
    assert_eq!(pod.0.relay.topics.count(), count);
    let mut names = std::collections::BTreeMap::new();
    for at in [0, 1, 4567, count - 1] {
        let mut publisher = Raw::join(&pod, &format!("/in/topic/{at}")).await;
        publisher.write(&frame(0x81, at.to_string().as_bytes())).await;
        let mut received = vec![0; 2 + at.to_string().len()];
        readers[at].0.read_exact(&mut received).await.unwrap();
        names.insert(at, String::from_utf8(received[2..].to_vec()).unwrap());
    }
    assert!(names.iter().all(|(at, received)| *received == at.to_string()));
    drop(readers);
    pod.until("all topics ended", || pod.0.relay.topics.count() == 0).await;
}

/// Memory of this process that is in use, in KB.
async fn churn(pod: &Pod, rounds: usize) {
    for round in 0..rounds {
        let topic = format!("churn/{}", round % 50);
        let mut reader = Raw::join(pod, &format!("/out/{topic}")).await;
        let mut publisher = Raw::join(pod, &format!("/in/{topic}")).await;
        publisher.write(&frame(0x82, &[7; 1000])).await;
        if round % 2 == 0 {
            let mut received = [0; 1004];
            reader.0.read_exact(&mut received).await.unwrap();
        }
    }
    pod.until_clients(0).await;
}

#[tokio::test]
async fn churn_leaves_no_memory_behind() {
    let pod = start(&["--limit=address.sockets=20000"]).await;
    churn(&pod, 2000).await;
    let before = resident::of(std::process::id());
    churn(&pod, 4000).await;
    pod.until("all gone", || pod.0.relay.addresses.total() == 0 && pod.0.relay.topics.count() == 0).await;
    assert_eq!((pod.0.relay.backlog.bytes(), pod.0.relay.reassembly.bytes()), (0, 0));
    println!("resident before {before} KB, after {} KB", resident::of(std::process::id()));
}
