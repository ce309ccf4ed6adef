//! Pods that die, restart or drain.
use super::nats::Nats;
use super::pod::{Pod, linked, start};

#[tokio::test]
async fn str_97_a_killed_pod_does_not_affect_the_streams_of_other_pods() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 3, &["--limit=lease.interval=100", "--limit=lease.duration=300"]).await;
    let (mut camera, mut reader) = (pods[0].join("/in/lab").await, pods[1].join("/out/lab").await);
    let (_dies, mut other) = (pods[2].join("/out/lab").await, pods[2].join("/in/lab").await);
    pods[0].wanted(2).await;
    pods[1].wanted(1).await;
    for number in 0..300 {
        camera.send_text(&number.to_string()).await;
        assert_eq!(reader.receive_text().await, number.to_string());
        if number == 100 {
            other.send_text("from the pod that dies").await;
            assert_eq!(reader.receive_text().await, "from the pod that dies");
            pods.pop().unwrap().kill().await;
        }
    }
    pods[0].wanted(1).await;
    for pod in &pods {
        pod.until("links_receiving", |links| links == 1).await;
    }
    // Its clients reconnect to another pod.
    let mut back = pods[1].join("/in/lab").await;
    back.send_text("back").await;
    assert_eq!(reader.receive_text().await, "back");
}

#[tokio::test]
async fn str_97_a_pod_that_restarts_with_its_name_and_address_is_linked_again() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 2, &[]).await;
    let mut camera = pods[0].join("/in/lab").await;
    let link = pods[1].link.clone();
    for round in 0..3 {
        let old = pods.pop().unwrap();
        old.kill().await;
        pods.push(Pod::start(&nats, &["--pod=p1", &format!("--link-listen={link}")]).await);
        linked(&pods).await;
        let mut reader = pods[1].join("/out/lab").await;
        pods[0].wanted(1).await;
        camera.send_text(&round.to_string()).await;
        assert_eq!(reader.receive_text().await, round.to_string());
    }
}

#[tokio::test]
async fn str_99_a_pod_that_drains_sends_the_last_messages_of_its_publishers_and_its_lease_ends_at_once() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 2, &["--limit=lease.duration=600000"]).await;
    let mut reader = pods[0].join("/out/lab").await;
    pods[1].wanted(1).await;
    let mut camera = pods[1].join("/in/lab").await;
    for number in 0..50_u32 {
        camera.send_text(&format!("{number} {}", "x".repeat(100_000))).await;
    }
    // Messages that the pod has not read when it receives SIGTERM may be lost.
    pods[1].until("received_messages_total", |received| received == 50).await;
    pods[1].signal("TERM");
    for number in 0..50_u32 {
        assert!(reader.receive_text().await.starts_with(&format!("{number} ")));
    }
    assert!(pods.pop().unwrap().ended().await.success());
    pods[0].until("links_receiving", |links| links == 0).await;
    pods[0].until("links_sending", |links| links == 0).await;
    // The pod is not dialled for the rest of its lease duration.
    let dials = "link_ended_total{code=\"LINK_UNREACHABLE\"}";
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    let before = pods[0].metric(dials).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(pods[0].metric(dials).await, before);
}
