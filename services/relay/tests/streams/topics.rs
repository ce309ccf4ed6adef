use super::pod::start;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn str_1_each_client_on_a_topic_receives_the_messages_of_the_others_only() {
    let pod = start(&[]).await;
    let mut clients = Vec::new();
    for count in 1..=3 {
        clients.push(pod.join("/expt").await);
        pod.until_clients(count).await;
    }
    for at in 0..clients.len() {
        clients[at].send_text(&format!("from {at}")).await;
        for (other, client) in clients.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            assert_eq!(client.receive_text().await, format!("from {at}"), "client {other}");
        }
    }
    // A client's own message would arrive before this one.
    let mut last = pod.join("/expt").await;
    pod.until_clients(4).await;
    last.send_text("end").await;
    for client in &mut clients {
        assert_eq!(client.receive_text().await, "end");
    }
}

#[tokio::test]
async fn str_1_topics_are_separate() {
    let pod = start(&[]).await;
    let (mut one, mut two) = (pod.join("/a/b").await, pod.join("/a").await);
    let (mut hears_one, mut hears_two) = (pod.join("/a/b").await, pod.join("/a").await);
    pod.until_clients(4).await;
    one.send_text("deep").await;
    two.send_text("flat").await;
    assert_eq!(hears_one.receive_text().await, "deep");
    assert_eq!(hears_two.receive_text().await, "flat");
}

#[tokio::test]
async fn str_2_in_publishes_to_out_and_receives_nothing() {
    let pod = start(&[]).await;
    let (mut camera, mut other) = (pod.join("/in/lab/7").await, pod.join("/in/lab/7").await);
    let (mut first, mut second) = (pod.join("/out/lab/7").await, pod.join("/out/lab/7").await);
    let mut plain = pod.join("/lab/7").await;
    pod.until_clients(5).await;
    camera.send(Message::binary(vec![1, 2, 3])).await;
    other.send_text("two").await;
    for reader in [&mut first, &mut second] {
        let mut heard = [reader.receive().await, reader.receive().await];
        heard.sort_by_key(Message::len);
        assert_eq!(heard, [Message::binary(vec![1, 2, 3]), Message::text("two")]);
    }
    // The relay answers a ping after all messages for these sockets.
    for quiet in [&mut camera, &mut other, &mut plain] {
        quiet.send(Message::Ping(vec![7].into())).await;
        let next = futures_util::StreamExt::next(&mut quiet.socket).await.unwrap().unwrap();
        assert_eq!(next, Message::Pong(vec![7].into()));
    }
}

#[tokio::test]
async fn str_3_messages_from_out_are_discarded_and_counted() {
    let pod = start(&[]).await;
    let (mut camera, mut reader, mut rude) =
        (pod.join("/in/demo").await, pod.join("/out/demo").await, pod.join("/out/demo").await);
    pod.until_clients(3).await;
    rude.send_text("me too").await;
    rude.send_text("me three").await;
    pod.until("two discarded", || pod.0.relay.counters.discarded.get() == 2).await;
    camera.send_text("picture").await;
    assert_eq!(reader.receive_text().await, "picture");
    assert_eq!(rude.receive_text().await, "picture");
    assert_eq!(pod.0.relay.counters.received.get(), 1);
}

#[tokio::test]
async fn str_7_a_topic_ends_with_its_last_client() {
    let pod = start(&[]).await;
    let one = pod.join("/a").await;
    let two = pod.join("/a").await;
    let three = pod.join("/out/b").await;
    pod.until_clients(3).await;
    assert_eq!(pod.0.relay.topics.count(), 2);
    drop((one, three));
    pod.until_clients(1).await;
    pod.until("one topic", || pod.0.relay.topics.count() == 1).await;
    drop(two);
    pod.until("no topic", || pod.0.relay.topics.count() == 0).await;
}
