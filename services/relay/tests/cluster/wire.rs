//! A wire between two pods that counts the bytes one way.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Wire {
    pub address: String,
    to: watch::Sender<Option<String>>,
    bytes: Arc<AtomicU64>,
}

impl Wire {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, bytes) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicU64::new(0)));
        let (to, led) = watch::channel(None);
        tokio::spawn(accept(listener, led, Arc::clone(&bytes)));
        Self { address, to, bytes }
    }

    pub fn lead_to(&self, address: &str) {
        self.to.send_replace(Some(address.to_owned()));
    }

    /// What came back from the end it leads to.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

async fn accept(listener: TcpListener, mut led: watch::Receiver<Option<String>>, bytes: Arc<AtomicU64>) {
    while let Ok((near, _)) = listener.accept().await {
        let to = led.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        let far = TcpStream::connect(to).await.unwrap();
        let ((mut near_in, mut near_out), (mut far_in, mut far_out)) = (near.into_split(), far.into_split());
        tokio::spawn(async move { copy(&mut near_in, &mut far_out).await });
        let bytes = Arc::clone(&bytes);
        tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = far_in.read(&mut buffer).await {
                bytes.fetch_add(read as u64, Relaxed);
                near_out.write_all(&buffer[..read]).await.unwrap();
            }
        });
    }
}
