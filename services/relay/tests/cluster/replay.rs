//! Late joiners whose publishers are on another pod.
use super::nats::Nats;
use super::pod::start;

const KEEPS: &[&str] = &["--replay=/out/lab/=3"];

#[tokio::test]
async fn str_96_a_late_joiner_gets_what_publishers_on_other_pods_sent_last() {
    let nats = Nats::start().await;
    let pods = start(&nats, 3, KEEPS).await;
    let (mut one, mut two) = (pods[0].join("/in/lab/1").await, pods[1].join("/in/lab/1").await);
    for number in 0..10 {
        one.say(&format!("one {number}")).await;
        two.say(&format!("two {number}")).await;
    }
    pods[0].until("received_messages_total", |received| received == 10).await;
    pods[1].until("received_messages_total", |received| received == 10).await;
    let mut late = pods[2].join("/out/lab/1").await;
    let mut heard = Vec::new();
    for _ in 0..6 {
        heard.push(late.hear_text().await);
    }
    heard.sort();
    assert_eq!(heard, ["one 7", "one 8", "one 9", "two 7", "two 8", "two 9"]);
    one.say("now").await;
    assert_eq!(late.hear_text().await, "now");
    // The next gets the last three that were heard on its pod.
    let mut later = pods[2].join("/out/lab/1").await;
    two.say("then").await;
    let mut all = Vec::new();
    while all.last().map(String::as_str) != Some("then") {
        all.push(later.hear_text().await);
    }
    assert_eq!((all.len(), &all[2][..]), (4, "now"));
}

#[tokio::test]
async fn str_96_what_two_pods_keep_of_one_publisher_comes_once() {
    let nats = Nats::start().await;
    let pods = start(&nats, 3, KEEPS).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    let mut early = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    for number in 0..5 {
        camera.say(&number.to_string()).await;
        assert_eq!(early.hear_text().await, number.to_string());
    }
    let mut late = pods[2].join("/out/lab/1").await;
    pods[0].wanted(2).await;
    pods[1].wanted(1).await;
    // Each comes after everything its pod had for this one.
    camera.say("end").await;
    pods[1].join("/in/lab/1").await.say("end").await;
    let mut heard = Vec::new();
    while heard.iter().filter(|text| *text == "end").count() < 2 {
        heard.push(late.hear_text().await);
    }
    heard.sort();
    assert_eq!(heard, ["2", "3", "4", "end", "end"]);
}

#[tokio::test]
async fn str_96_nothing_comes_twice_when_the_last_reader_left_and_another_came() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, KEEPS).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    // Keeps the topic open there.
    let _publisher = pods[1].join("/in/lab/1").await;
    let mut first = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    for number in 0..5 {
        camera.say(&number.to_string()).await;
        assert_eq!(first.hear_text().await, number.to_string());
    }
    drop(first);
    pods[0].wanted(0).await;
    let mut second = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    camera.say("now").await;
    for expected in ["2", "3", "4", "now"] {
        assert_eq!(second.hear_text().await, expected);
    }
}

#[tokio::test]
async fn str_96_nothing_comes_twice_when_a_link_is_dialled_again() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--replay=/out/lab/=3", "--limit=link.idleTimeout=2000"]).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    let mut reader = pods[1].join("/out/lab/1").await;
    pods[0].wanted(1).await;
    camera.say("before").await;
    assert_eq!(reader.hear_text().await, "before");
    pods[1].signal("STOP");
    pods[0].until("links_sending", |links| links == 0).await;
    camera.say("lost").await;
    pods[0].until("received_messages_total", |received| received == 2).await;
    pods[1].signal("CONT");
    pods[0].wanted(1).await;
    camera.say("after").await;
    assert_eq!(reader.hear_text().await, "after");
}
