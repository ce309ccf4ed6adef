//! A path that drops large datagrams.
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::time::timeout;

use crate::client::subscribe;
use crate::misbehaving::paced;
use crate::relay::{Relay, anything};
use crate::udp_path::{Quality, UdpPath};

/// The largest datagram that discovery tries; bytes of UDP payload.
const LARGE: usize = 1452;
/// Frames that need several packets.
const FRAME: usize = 20_000;
const PACE: Duration = Duration::from_millis(20);
const WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_28_packets_grow_to_what_the_path_carries_and_shrink_where_it_carries_less() {
    let relay = Relay::start().await;
    let _publisher = paced(relay.url(&anything()), "lab/7/cam", FRAME, 25, PACE);
    let path = UdpPath::to(relay.server().address, Quality::default()).await;
    let (origin, _connection) = subscribe(path.through(relay.url(&anything())));
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
