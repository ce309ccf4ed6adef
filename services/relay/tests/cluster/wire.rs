//! A proxy between two pods that counts the bytes in one direction and records both directions.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Wire {
    pub address: String,
    to: watch::Sender<Option<String>>,
    bytes: Arc<AtomicU64>,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Wire {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, bytes) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicU64::new(0)));
        let (to, led) = watch::channel(None);
        let seen = Arc::default();
        tokio::spawn(accept(listener, led, Arc::clone(&bytes), Arc::clone(&seen)));
        Self { address, to, bytes, seen }
    }

    pub fn lead_to(&self, address: &str) {
        self.to.send_replace(Some(address.to_owned()));
    }

    /// Returns the number of bytes from the destination.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Returns the bytes in both directions, in their order.
    pub fn seen(&self) -> Vec<u8> {
        self.seen.lock().unwrap().clone()
    }
}

type Seen = Arc<Mutex<Vec<u8>>>;

async fn accept(listener: TcpListener, mut led: watch::Receiver<Option<String>>, bytes: Arc<AtomicU64>, seen: Seen) {
    while let Ok((near, _)) = listener.accept().await {
        let to = led.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        let far = TcpStream::connect(to).await.unwrap();
        let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
        tokio::spawn(carry(near_in, far_out, Arc::default(), Arc::clone(&seen)));
        tokio::spawn(carry(far_in, near_out, Arc::clone(&bytes), Arc::clone(&seen)));
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, bytes: Arc<AtomicU64>, seen: Seen) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        bytes.fetch_add(read as u64, Relaxed);
        seen.lock().unwrap().extend_from_slice(&buffer[..read]);
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
