//! What a competent person writes first: tokio-tungstenite, a bounded queue and a task for each reader, payloads shared, and all that
//! waits for a reader flushed together. It admits every client and checks only what the library checks.
use futures_util::{SinkExt, Stream, StreamExt};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use stream_references::Place;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::{Error, Message};

type Readers = HashMap<u64, mpsc::Sender<Message>>;
type Topics = Arc<Mutex<HashMap<String, Readers>>>;

/// Messages a reader may be behind before it is cut off: as many as the relay keeps for one.
const QUEUE: usize = 1024;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind(stream_references::address()?).await?;
    let topics = Topics::default();
    for id in 0.. {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(id, stream, Arc::clone(&topics)));
    }
    Ok(())
}

async fn serve(id: u64, stream: TcpStream, topics: Topics) -> Result<(), Error> {
    let mut place = Place::of("/");
    #[allow(clippy::result_large_err, reason = "the library's signature")]
    let socket = accept_hdr_async(stream, |request: &Request, response: Response| {
        place = Place::of(request.uri().path());
        Ok(response)
    })
    .await?;
    let (outbound, inbound) = socket.split();
    if place.reads {
        let (queue, waiting) = mpsc::channel(QUEUE);
        topics.lock().entry(place.topic.clone()).or_default().insert(id, queue);
        tokio::spawn(send(waiting, outbound));
    }
    receive(id, &place, inbound, &topics).await;
    if let Some(readers) = topics.lock().get_mut(&place.topic) {
        readers.remove(&id);
    }
    Ok(())
}

async fn send(
    mut waiting: mpsc::Receiver<Message>,
    mut outbound: impl SinkExt<Message, Error = Error> + Unpin,
) -> Result<(), Error> {
    while let Some(message) = waiting.recv().await {
        outbound.feed(message).await?;
        while let Ok(message) = waiting.try_recv() {
            outbound.feed(message).await?;
        }
        outbound.flush().await?;
    }
    Ok(())
}

async fn receive(
    id: u64,
    place: &Place,
    mut inbound: impl Stream<Item = Result<Message, Error>> + Unpin,
    topics: &Topics,
) {
    while let Some(Ok(message)) = inbound.next().await {
        if !place.publishes || message.is_ping() || message.is_pong() || message.is_close() {
            continue;
        }
        if let Some(readers) = topics.lock().get_mut(&place.topic) {
            readers.retain(|&reader, queue| reader == id || queue.try_send(message.clone()).is_ok());
        }
    }
}
