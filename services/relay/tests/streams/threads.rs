//! The binary with two threads, on which publishers run at the same time.
use super::process::started;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async};

/// 14 MB from each publisher: more than the buffers of a reader's socket hold.
const MESSAGES: u32 = 400;
const PUBLISHERS: usize = 2;
const DEADLINE: Duration = Duration::from_secs(60);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connects a client whose socket buffers little.
async fn join(address: &str, path: &str) -> Socket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    let stream = MaybeTlsStream::Plain(socket.connect(address.parse().unwrap()).await.unwrap());
    timeout(DEADLINE, client_async(format!("ws://{address}{path}"), stream)).await.expect("not accepted").unwrap().0
}

/// Waits until this number of sockets is on its topics: with two threads, the upgrade may be answered before the socket has joined.
async fn until_sockets(address: &str, count: usize) {
    let here = format!("\nparley_relay_sockets {count}\n");
    let waiting = async {
        let mut metrics = String::new();
        while !metrics.contains(&here) {
            metrics.clear();
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: relay\r\n\r\n").await.unwrap();
            stream.read_to_string(&mut metrics).await.unwrap();
        }
    };
    timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("the pod never had {count} sockets"));
}

/// Makes a message that contains its publisher, its number, and a pattern that shows whether it is complete.
fn message(publisher: u8, number: u32) -> Message {
    let size = [10, 1000, 20_000, 120_000][number as usize % 4];
    Message::binary([&[publisher][..], &number.to_be_bytes(), &vec![publisher ^ number as u8; size]].concat())
}

async fn read(mut reader: Socket, from: &[u8]) {
    let mut next = [0; PUBLISHERS];
    while from.iter().any(|&publisher| next[usize::from(publisher)] < MESSAGES) {
        let received = reader.next().await.unwrap().unwrap();
        if !received.is_binary() {
            continue;
        }
        let publisher = received.clone().into_data()[0];
        assert!(received == message(publisher, next[usize::from(publisher)]), "from {publisher}");
        next[usize::from(publisher)] += 1;
    }
}

async fn publish(mut publisher: Socket, name: u8) -> Socket {
    for number in 0..MESSAGES {
        publisher.send(message(name, number)).await.unwrap();
    }
    publisher
}

/// Two clients publish at the same time, and three read both, partly from the socket and partly from their queues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn str_10_two_threads_keep_the_order_of_each_publisher_and_messages_complete() {
    let (child, address) = started(&["--listen=127.0.0.1:0", "--threads=2", "--limit=reader.bytes=1000000000"]).await;
    let readers = [join(&address, "/out/x").await, join(&address, "/out/x").await, join(&address, "/out/x").await];
    let (zero, one) = (join(&address, "/in/x").await, join(&address, "/in/x").await);
    until_sockets(&address, 5).await;
    let publishing = tokio::spawn(async { tokio::join!(publish(zero, 0), publish(one, 1)) });
    tokio::time::sleep(Duration::from_millis(200)).await;
    for reading in readers.map(|reader| tokio::spawn(async { read(reader, &[0, 1]).await })) {
        timeout(DEADLINE, reading).await.expect("a reader misses messages").unwrap();
    }
    let _kept = timeout(DEADLINE, publishing).await.expect("a publisher is blocked").unwrap();
    drop(child);
}

/// Two clients write to each other while neither reads: neither may wait for the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn str_41_two_stalled_clients_that_send_to_each_other_on_two_threads_block_no_client() {
    let (child, address) = started(&["--listen=127.0.0.1:0", "--threads=2"]).await;
    let (zero, one) = (join(&address, "/x").await, join(&address, "/x").await);
    let flood = async |mut socket, name| {
        for _ in 0..4 {
            socket = publish(socket, name).await;
        }
        socket
    };
    let publishing = async { tokio::join!(flood(zero, 0), flood(one, 1)) };
    let _kept = timeout(DEADLINE, publishing).await.expect("the clients wait for each other");
    let (reader, publisher) = (join(&address, "/out/y").await, join(&address, "/in/y").await);
    until_sockets(&address, 4).await;
    let both = async { tokio::join!(publish(publisher, 0), read(reader, &[0])) };
    timeout(DEADLINE, both).await.expect("the pod is blocked");
    drop(child);
}
