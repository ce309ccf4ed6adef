//! A path between a client and a relay that drops large datagrams.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::client::subscribe;
use crate::misbehaving::paced;
use crate::relay::{Relay, anything};

/// The size of a datagram with which discovery begins, and the largest that it tries; bytes of UDP payload.
const SMALL: usize = 1200;
const LARGE: usize = 1452;
/// Frames that need several packets.
const FRAME: usize = 20_000;
const PACE: Duration = Duration::from_millis(20);
const WITHIN: Duration = Duration::from_secs(10);

struct UdpPath {
    address: SocketAddr,
    /// Larger datagrams are dropped, in both directions.
    max: Arc<AtomicUsize>,
    /// The number of datagrams of the relay that were larger than `SMALL` and passed, and of those that were dropped.
    passed: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    task: AbortHandle,
}

impl UdpPath {
    async fn to(relay: SocketAddr) -> Self {
        let near = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let far = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        far.connect(relay).await.unwrap();
        let address = near.local_addr().unwrap();
        let max = Arc::new(AtomicUsize::new(usize::MAX));
        let (passed, dropped) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counts = (max.clone(), passed.clone(), dropped.clone());
        let task = tokio::spawn(async move {
            let (max, passed, dropped) = counts;
            let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
            let mut client = None;
            loop {
                tokio::select! {
                    Ok((size, from)) = near.recv_from(&mut up) => {
                        client = Some(from);
                        if size <= max.load(Ordering::Relaxed) {
                            let _ = far.send(&up[..size]).await;
                        }
                    }
                    Ok(size) = far.recv(&mut down) => {
                        let Some(client) = client else { continue };
                        if size > max.load(Ordering::Relaxed) {
                            dropped.fetch_add(1, Ordering::Relaxed);
                        } else {
                            passed.fetch_add(usize::from(size > SMALL), Ordering::Relaxed);
                            let _ = near.send_to(&down[..size], client).await;
                        }
                    }
                }
            }
        });
        Self { address, max, passed, dropped, task: task.abort_handle() }
    }
}

impl Drop for UdpPath {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_28_packets_grow_to_what_the_path_carries_and_shrink_where_it_carries_less() {
    let relay = Relay::start().await;
    let _publisher = paced(relay.url(&anything()), "lab/7/cam", FRAME, 25, PACE);
    let path = UdpPath::to(relay.server().address).await;
    let mut url = relay.url(&anything());
    url.set_port(Some(path.address.port())).unwrap();
    let (origin, _connection) = subscribe(url);
    let broadcast = timeout(WITHIN, origin.consume().routed_broadcast("lab/7/cam")).await.unwrap().unwrap();
    let (seen, mut frames) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut track = broadcast.track("video").unwrap().subscribe(None).await.unwrap();
        while let Ok(Some(mut group)) = track.recv_group().await {
            while let Ok(Some(frame)) = group.read_frame().await {
                assert!(frame.payload.len() == FRAME && frame.payload.iter().all(|byte| *byte == 7));
                let _ = seen.send(Instant::now());
            }
        }
    });
    timeout(WITHIN, async {
        while path.passed.load(Ordering::Relaxed) < 500 {
            frames.recv().await.unwrap();
        }
    })
    .await
    .expect("packets stay small");

    path.max.store(LARGE - 100, Ordering::Relaxed);
    while frames.try_recv().is_ok() {}
    let begin = Instant::now();
    let (mut last, mut gap) = (begin, Duration::ZERO);
    while last - begin < Duration::from_secs(8) {
        let at = timeout(WITHIN, frames.recv()).await.expect("no frame arrives").unwrap();
        gap = gap.max(at - last);
        last = at;
    }
    assert!(path.dropped.load(Ordering::Relaxed) > 0, "no large packet was sent");
    assert!(gap < Duration::from_secs(3), "no frame for {gap:?}");
    let before = path.dropped.load(Ordering::Relaxed);
    while last - begin < Duration::from_secs(10) {
        last = timeout(WITHIN, frames.recv()).await.expect("no frame arrives").unwrap();
    }
    assert_eq!(path.dropped.load(Ordering::Relaxed), before, "large packets are still sent");
}
