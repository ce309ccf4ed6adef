use super::pod::start;

#[tokio::test]
async fn str_51_a_late_subscriber_first_receives_the_last_messages() {
    let pod = start(&["--replay=/out/lab/=3,/chat=1"]).await;
    let mut camera = pod.join("/in/lab/1").await;
    let mut early = pod.join("/out/lab/1").await;
    pod.until_clients(2).await;
    for at in 0..10 {
        camera.send_text(&at.to_string()).await;
    }
    for at in 0..10 {
        assert_eq!(early.receive_text().await, at.to_string());
    }
    let mut late = pod.join("/out/lab/1").await;
    pod.until_clients(3).await;
    camera.send_text("now").await;
    for expected in ["7", "8", "9", "now"] {
        assert_eq!(late.receive_text().await, expected);
    }
}

#[tokio::test]
async fn str_50_other_topics_and_ended_topics_keep_no_messages() {
    let pod = start(&["--replay=/kept=3"]).await;
    for topic in ["/kept", "/other"] {
        let mut first = pod.join(topic).await;
        pod.until_clients(1).await;
        let before = pod.0.relay.counters.received.get();
        first.send_text("old").await;
        pod.until("relayed", || pod.0.relay.counters.received.get() > before).await;
        if topic == "/kept" {
            drop(first);
            pod.until("ended", || pod.0.relay.topics.count() == 0).await;
            first = pod.join(topic).await;
            pod.until_clients(1).await;
        }
        let mut late = pod.join(topic).await;
        pod.until_clients(2).await;
        first.send_text("new").await;
        assert_eq!(late.receive_text().await, "new");
        drop((first, late));
        pod.until_clients(0).await;
    }
}

#[tokio::test]
async fn str_51_messages_during_a_join_arrive_once_and_in_order() {
    let pod = start(&["--replay=/out/x=5"]).await;
    let mut camera = pod.join("/in/x").await;
    let flow = tokio::spawn(async move {
        for at in 0..3000 {
            camera.send_text(&at.to_string()).await;
            if at % 10 == 0 {
                tokio::task::yield_now().await;
            }
        }
        camera
    });
    for _ in 0..20 {
        let mut late = pod.join("/out/x").await;
        let first: u32 = match tokio::time::timeout(std::time::Duration::from_secs(2), late.receive_text()).await {
            Ok(text) => text.parse().unwrap(),
            Err(_) => break,
        };
        for expected in first + 1..(first + 20).min(3000) {
            assert_eq!(late.receive_text().await, expected.to_string());
        }
    }
    flow.await.unwrap();
}
