//! Replay to late subscribers whose publishers are on another pod.
use super::nats::Nats;
use super::pod::start;

const KEEPS: &[&str] = &["--replay=/out/lab/=3"];

#[tokio::test]
async fn str_96_a_late_subscriber_receives_the_last_messages_of_publishers_on_other_pods() {
    let nats = Nats::start().await;
    let pods = start(&nats, 3, KEEPS).await;
    let (mut one, mut two) = (pods[0].join("/in/lab/1").await, pods[1].join("/in/lab/1").await);
    for number in 0..10 {
        one.send_text(&format!("one {number}")).await;
        two.send_text(&format!("two {number}")).await;
    }
    pods[0].until("received_messages_total", |received| received == 10).await;
    pods[1].until("received_messages_total", |received| received == 10).await;
    let mut late = pods[2].join("/out/lab/1").await;
    let mut heard = Vec::new();
    for _ in 0..6 {
        heard.push(late.receive_text().await);
    }
    heard.sort();
    assert_eq!(heard, ["one 7", "one 8", "one 9", "two 7", "two 8", "two 9"]);
    one.send_text("now").await;
    assert_eq!(late.receive_text().await, "now");
    // The next subscriber receives the last three messages that its pod received.
    let mut later = pods[2].join("/out/lab/1").await;
    two.send_text("then").await;
    let mut all = Vec::new();
    while all.last().map(String::as_str) != Some("then") {
        all.push(later.receive_text().await);
    }
    assert_eq!((all.len(), &all[2][..]), (4, "now"));
}

#[tokio::test]
async fn str_96_messages_that_two_pods_keep_of_one_publisher_arrive_once() {
    let nats = Nats::start().await;
    let pods = start(&nats, 3, KEEPS).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    let mut early = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    for number in 0..5 {
        camera.send_text(&number.to_string()).await;
        assert_eq!(early.receive_text().await, number.to_string());
    }
    let mut late = pods[2].join("/out/lab/1").await;
    pods[0].wanted(2).await;
    pods[1].wanted(1).await;
    // Each arrives after all messages that its pod had for this reader.
    camera.send_text("end").await;
    pods[1].join("/in/lab/1").await.send_text("end").await;
    let mut heard = Vec::new();
    while heard.iter().filter(|text| *text == "end").count() < 2 {
        heard.push(late.receive_text().await);
    }
    heard.sort();
    assert_eq!(heard, ["2", "3", "4", "end", "end"]);
}

#[tokio::test]
async fn str_96_no_message_arrives_twice_when_the_last_reader_left_and_another_joined() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, KEEPS).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    // Keeps the topic open on that pod.
    let _publisher = pods[1].join("/in/lab/1").await;
    let mut first = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    for number in 0..5 {
        camera.send_text(&number.to_string()).await;
        assert_eq!(first.receive_text().await, number.to_string());
    }
    drop(first);
    pods[0].wanted(0).await;
    let mut second = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    camera.send_text("now").await;
    for expected in ["2", "3", "4", "now"] {
        assert_eq!(second.receive_text().await, expected);
    }
}

#[tokio::test]
async fn str_96_no_message_arrives_twice_when_a_link_is_dialled_again() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--replay=/out/lab/=3", "--limit=link.idleTimeout=2000"]).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    let mut reader = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    camera.send_text("before").await;
    assert_eq!(reader.receive_text().await, "before");
    pods[1].signal("STOP");
    pods[0].until("links_sending", |links| links == 0).await;
    camera.send_text("lost").await;
    pods[0].until("received_messages_total", |received| received == 2).await;
    pods[1].signal("CONT");
    pods[0].wanted(1).await;
    camera.send_text("after").await;
    assert_eq!(reader.receive_text().await, "after");
}
