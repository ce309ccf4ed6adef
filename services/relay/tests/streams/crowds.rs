//! Many topics, and many clients one after the other.
use super::pod::{DEADLINE, Pod, start};
use super::process::started;
use super::raw::{Raw, UPGRADE, frame};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const TOPICS: usize = 10_000;

/// In a process of its own, as each process may have 20,000 descriptors: the test and the relay need one for each socket.
#[tokio::test]
async fn str_7_10_000_topics_each_have_a_reader() {
    // A long interval, so that no client is pinged before all have joined.
    let flags = [
        "--listen=127.0.0.1:0",
        "--limit=address.sockets=20000",
        "--limit=socket.pingInterval=600000",
        "--limit=socket.idleTimeout=3600000",
    ];
    let (_child, address) = started(&flags).await;
    let mut readers = Vec::new();
    for at in 0..TOPICS {
        readers.push(join(&address, &format!("/out/topic/{at}")).await);
    }
    until_topics(&address, TOPICS).await;
    for at in [0, 1, 4567, TOPICS - 1] {
        let mut publisher = join(&address, &format!("/in/topic/{at}")).await;
        publisher.write_all(&frame(0x81, at.to_string().as_bytes())).await.unwrap();
        let mut received = vec![0; 2 + at.to_string().len()];
        timeout(DEADLINE, readers[at].read_exact(&mut received)).await.unwrap().unwrap();
        assert_eq!(String::from_utf8(received[2..].to_vec()).unwrap(), at.to_string());
    }
    // No other reader received anything: the next byte is that of its own message.
    let mut publisher = join(&address, "/in/topic/2").await;
    publisher.write_all(&frame(0x81, b"own")).await.unwrap();
    let mut received = [0; 5];
    timeout(DEADLINE, readers[2].read_exact(&mut received)).await.unwrap().unwrap();
    assert_eq!(&received[2..], b"own");
    drop((readers, publisher));
    until_topics(&address, 0).await;
}

async fn join(address: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\n{UPGRADE}\r\n").as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(DEADLINE, stream.read_u8()).await.unwrap().unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
    stream
}

/// Waits until the relay counts so many topics.
async fn until_topics(address: &str, count: usize) {
    let wait = async {
        loop {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: relay\r\n\r\n").await.unwrap();
            let mut metrics = String::new();
            stream.read_to_string(&mut metrics).await.unwrap();
            if metrics.contains(&format!("\nparley_relay_topics {count}\n")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(timeout(DEADLINE, wait).await.is_ok(), "never {count} topics");
}

/// A reader and a publisher in each round; in every other one the reader disconnects before it has received the message.
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

/// tests/memory.rs measures the memory of the process.
#[tokio::test]
async fn disconnected_clients_count_nowhere() {
    let pod = start(&["--limit=address.sockets=20000"]).await;
    churn(&pod, 2000).await;
    pod.until("all gone", || pod.0.relay.addresses.total() == 0 && pod.0.relay.topics.count() == 0).await;
    assert_eq!((pod.0.relay.backlog.bytes(), pod.0.relay.reassembly.bytes()), (0, 0));
}
