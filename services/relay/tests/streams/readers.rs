use super::pod::{DEADLINE, start};
use super::raw::{Raw, UPGRADE};
use parley_net::codes::Code;
use parley_streams::reader::Counts;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;

/// More messages than the buffers of both sockets hold.
const MESSAGE: usize = 64 * 1024;

fn numbered(number: u32) -> Message {
    let mut bytes = vec![0; MESSAGE];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    Message::binary(bytes)
}

fn number(message: &Message) -> u32 {
    u32::from_be_bytes(message.clone().into_data()[..4].try_into().unwrap())
}

#[tokio::test]
async fn str_40_to_41_when_one_of_20_readers_stops_the_others_receive_everything() {
    let pod =
        start(&["--limit=reader.messages=50", "--limit=stream.messageBytes=100000", "--limit=reader.bytes=1000000"])
            .await;
    let stalled = Raw::join(&pod, "/out/x").await;
    let mut readers = Vec::new();
    for _ in 0..19 {
        readers.push(pod.join("/out/x").await);
    }
    let mut publisher = pod.join("/in/x").await;
    pod.until_clients(21).await;
    const MESSAGES: u32 = 400;
    let reading: Vec<_> = readers
        .into_iter()
        .map(|mut reader| {
            tokio::spawn(async move {
                for expected in 0..MESSAGES {
                    assert_eq!(number(&reader.receive().await), expected);
                }
            })
        })
        .collect();
    for at in 0..MESSAGES {
        publisher.send(numbered(at)).await;
        // The pace of a camera; without a pause the test would depend on the speed of the other readers.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for one in reading {
        tokio::time::timeout(DEADLINE, one).await.expect("another reader misses messages").unwrap();
    }
    let counts = counts_of_the_slowest(&pod);
    assert!(counts.dropped.messages > 0 && counts.queued <= 50 && counts.queued_bytes <= 1_000_000, "{counts:?}");
    assert_eq!(counts.delivered.messages + counts.dropped.messages + counts.queued as u64, u64::from(MESSAGES));
    assert_eq!(pod.0.relay.counters.dropped.get(), counts.dropped.messages);
    drop(stalled);
    pod.until_clients(1).await;
    assert_eq!((pod.0.relay.backlog.bytes(), pod.0.relay.backlog.messages()), (0, 0));
}

fn counts_of_the_slowest(pod: &super::pod::Pod) -> Counts {
    let clients = pod.0.relay.clients.all();
    clients.iter().map(|client| client.reader.counts()).max_by_key(|counts| counts.queued).unwrap()
}

#[tokio::test]
async fn str_40_a_reader_that_continues_receives_complete_messages_and_the_newest() {
    let pod = start(&["--limit=reader.messages=10"]).await;
    let mut slow = pod.join("/out/x").await;
    let mut publisher = pod.join("/in/x").await;
    pod.until_clients(2).await;
    const MESSAGES: u32 = 400;
    for at in 0..MESSAGES {
        publisher.send(numbered(at)).await;
    }
    pod.until("all relayed", || pod.0.relay.counters.received.get() == u64::from(MESSAGES)).await;
    let mut heard = vec![number(&slow.receive().await)];
    while heard.last() != Some(&(MESSAGES - 1)) {
        heard.push(number(&slow.receive().await));
    }
    assert!(heard.is_sorted() && heard[0] == 0, "{heard:?}");
    assert!(heard.len() < MESSAGES as usize, "nothing was dropped");
    // Ten are queued, including the one that was partly sent.
    let newest: Vec<u32> = (MESSAGES - 9..MESSAGES).collect();
    assert_eq!(heard[heard.len() - 9..], newest);
    pod.until("all counted", || {
        let counters = &pod.0.relay.counters;
        counters.delivered.get() == heard.len() as u64
            && counters.dropped.get() == u64::from(MESSAGES) - heard.len() as u64
    })
    .await;
}

#[tokio::test]
async fn str_42_a_reader_that_does_not_read_for_too_long_is_closed_with_a_code() {
    let pod = start(&["--limit=reader.stallTimeout=300", "--limit=socket.closeTimeout=5000"]).await;
    let mut stuck = pod.join("/out/x").await;
    let mut publisher = pod.join("/in/x").await;
    pod.until_clients(2).await;
    for at in 0..200 {
        publisher.send(numbered(at)).await;
    }
    pod.until("its queue was cut", || pod.0.relay.backlog.messages() <= 1).await;
    assert_eq!(stuck.end().await, 4430);
    pod.until_clients(1).await;
}

#[tokio::test]
async fn str_42_a_reader_that_never_reads_again_is_dropped() {
    let pod = start(&["--limit=reader.stallTimeout=300", "--limit=socket.closeTimeout=100"]).await;
    let _stuck = Raw::join(&pod, "/out/x").await;
    let mut publisher = pod.join("/in/x").await;
    pod.until_clients(2).await;
    for at in 0..200 {
        publisher.send(numbered(at)).await;
    }
    pod.until_clients(1).await;
    assert_eq!(pod.0.relay.backlog.bytes(), 0);
}

#[tokio::test]
async fn str_43_the_queues_of_all_readers_are_bounded_together() {
    let pod = start(&["--limit=pod.queuedBytes=2000000"]).await;
    let mut stalled = Vec::new();
    for _ in 0..10 {
        stalled.push(Raw::join(&pod, "/out/x").await);
    }
    let mut publisher = pod.join("/in/x").await;
    pod.until_clients(11).await;
    for at in 0..200 {
        publisher.send(numbered(at)).await;
        // A partly sent message has to be completed, so each reader may have one more.
        assert!(
            pod.0.relay.backlog.bytes() <= 2_000_000 + 11 * (MESSAGE as u64 + 10),
            "{}",
            pod.0.relay.backlog.bytes()
        );
    }
    pod.until("all relayed", || pod.0.relay.counters.received.get() == 200).await;
}

#[tokio::test]
async fn str_41_stalled_readers_never_block_a_publisher() {
    let pod = start(&[]).await;
    let mut stalled = Vec::new();
    for _ in 0..20 {
        stalled.push(Raw::join(&pod, "/x").await);
    }
    let (mut publisher, mut reader) = (pod.join("/x").await, pod.join("/x").await);
    pod.until_clients(22).await;
    let began = Instant::now();
    for at in 0..200 {
        publisher.send(numbered(at)).await;
        assert_eq!(number(&reader.receive().await), at);
    }
    assert!(began.elapsed() < DEADLINE);
}

#[tokio::test]
async fn str_43_readers_are_closed_when_partly_sent_messages_exceed_the_limit_of_the_pod() {
    let pod = start(&["--limit=pod.queuedBytes=20000000", "--limit=reader.stallTimeout=600000"]).await;
    let mut kept = Vec::new();
    for at in 0..5 {
        let stalled = Raw::join(&pod, &format!("/out/{at}")).await;
        let mut camera = pod.join(&format!("/in/{at}")).await;
        pod.until_clients(2 * at + 2).await;
        camera.send(Message::binary(vec![7; 10 << 20])).await;
        kept.push((stalled, camera));
    }
    pod.until("three of five are gone", || {
        pod.0.relay.counters.closed.iter().any(|(code, times)| code == Code::MemoryLimitExceeded && times >= 3)
    })
    .await;
    assert!(pod.0.relay.backlog.bytes() <= 21 << 20, "{}", pod.0.relay.backlog.bytes());
    let (mut last, mut camera) = (pod.join("/out/live").await, pod.join("/in/live").await);
    pod.until("both are in", || pod.0.relay.topics.count() >= 6).await;
    camera.send_text("still here").await;
    assert_eq!(last.receive_text().await, "still here");
}

#[tokio::test]
async fn str_40_messages_for_a_stalled_reader_wait_in_its_queue_and_not_in_the_kernel() {
    let pod = start(&[]).await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stalled = Raw(socket.connect(pod.0.address).await.unwrap());
    stalled.write(format!("GET /out/x HTTP/1.1\r\n{UPGRADE}\r\n").as_bytes()).await;
    assert!(stalled.head().await.starts_with("HTTP/1.1 101 "));
    let mut camera = pod.join("/in/x").await;
    pod.until_clients(2).await;
    for number in 0..64 {
        camera.send(numbered(number)).await;
    }
    pod.until("all came", || pod.0.relay.counters.received.get() == 64).await;
    // The kernel would buffer 2.5 MB and more by default, in which no message is ever dropped.
    let queued = pod.0.relay.backlog.messages();
    assert!(queued > 54, "{queued} of 64 wait");
}
