//! The packets of a path: their size, and how many of them are acknowledgements.
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::client::subscribe;
use crate::misbehaving::paced;
use crate::relay::{Relay, anything};
use crate::udp_path::{Quality, UdpPath};

/// The largest datagram that discovery tries; bytes of UDP payload.
const LARGE: usize = 1452;
/// Bytes of frames that need several packets, and two.
const LARGE_FRAME: usize = 20_000;
const SMALL_FRAME: usize = 2_000;
/// Less than half of the time after which the last packets are acknowledged.
const PACE: Duration = Duration::from_millis(10);
const WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_28_packets_grow_to_what_the_path_carries_and_shrink_where_it_carries_less() {
    let relay = Relay::start().await;
    let _publisher = paced(relay.url(&anything()), "lab/7/cam", LARGE_FRAME, 25, 2 * PACE);
    let path = UdpPath::to(relay.server().address, Quality::default()).await;
    let (mut frames, _connection) = watch(path.through(relay.url(&anything())), LARGE_FRAME).await;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_29_a_client_acknowledges_every_fifth_packet() {
    let relay = Relay::start().await;
    let _publisher = paced(relay.url(&anything()), "lab/7/cam", SMALL_FRAME, 25, PACE);
    let path = UdpPath::to(relay.server().address, Quality::default()).await;
    let (mut frames, _connection) = watch(path.through(relay.url(&anything())), SMALL_FRAME).await;
    // The first packets are those of handshakes and of requests.
    let mut before = [0; 2];
    for number in 0..250 {
        timeout(WITHIN, frames.recv()).await.expect("no frame arrives").unwrap();
        if number == 50 {
            before = came(&path);
        }
    }
    let after = came(&path);
    let [packets, acknowledgements] = [after[0] - before[0], after[1] - before[1]];
    assert!(packets >= 2 * 190, "{packets} packets");
    // A client that is not asked sends one for every other packet.
    assert!(3 * acknowledgements < packets, "{acknowledgements} acknowledgements of {packets} packets");
}

fn came(path: &UdpPath) -> [usize; 2] {
    [0, 1].map(|end| path.came[end].load(Ordering::Relaxed))
}

/// Subscribes to the paced video, of frames of this size. Returns the times of its frames, and the connection.
async fn watch(url: url::Url, size: usize) -> (UnboundedReceiver<Instant>, moq_tokio::Connection) {
    let (origin, connection) = subscribe(url);
    let broadcast = timeout(WITHIN, origin.consume().routed_broadcast("lab/7/cam")).await.unwrap().unwrap();
    let (seen, frames) = unbounded_channel();
    tokio::spawn(async move {
        let mut track = broadcast.track("video").unwrap().subscribe(None).await.unwrap();
        while let Ok(Some(mut group)) = track.recv_group().await {
            while let Ok(Some(frame)) = group.read_frame().await {
                assert!(frame.payload.len() == size && frame.payload.iter().all(|byte| *byte == 7));
                let _ = seen.send(Instant::now());
            }
        }
    });
    (frames, connection)
}
