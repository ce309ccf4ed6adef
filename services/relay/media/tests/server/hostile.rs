//! Attacks on a relay process with small limits: its memory stays bounded, other clients are served, and a session over a limit ends with its
//! code. Each test prints the memory and the longest time in which another client received no frame.
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

use crate::client::{Publisher, Watcher, dial};
use crate::misbehaving::{self, GOOD, Misbehaving};
use crate::process::Process;

const SMALL: [&str; 9] = [
    "--limit=media.cacheBytes=8388608",
    "--limit=media.sessions=200",
    "--limit=media.addressSessions=150",
    "--limit=media.handshakes=60",
    "--limit=media.subscriptions=100",
    "--limit=media.broadcasts=20",
    "--limit=media.sendBytes=1048576",
    "--limit=media.receiveBytes=1048576",
    "--limit=media.controlBytes=4194304",
];

/// A relay with one publisher and one watcher, which behave well.
struct Scene {
    relay: Process,
    publisher: Publisher,
    watcher: Watcher,
    before: u64,
}

impl Scene {
    async fn begin() -> Self {
        let relay = Process::start(&SMALL).await;
        let publisher = Publisher::start(relay.url(""), &[], GOOD).await;
        let mut watcher = Watcher::start(relay.url(""), &[], GOOD).await;
        watcher.frames(50).await;
        let before = relay.memory();
        Self { relay, publisher, watcher, before }
    }

    /// Checks for `time` that the watcher receives frames and that the memory of the relay grows by less than `most` MB.
    async fn endures(&mut self, what: &str, time: Duration, most: u64) {
        let (peak, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let gap = {
            let (peak, over, relay) = (Arc::clone(&peak), Arc::clone(&over), &self.relay);
            let watching = async {
                let gap = self.watcher.gap(time).await;
                over.store(true, Ordering::Relaxed);
                gap
            };
            let measuring = async {
                while !over.load(Ordering::Relaxed) {
                    peak.fetch_max(relay.memory(), Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::join!(watching, measuring).0
        };
        let (peak, own) = (peak.load(Ordering::Relaxed), self.publisher.gap());
        println!("{what}: {} MB, at most {peak} MB; longest gap {gap:?}, the publisher's own {own:?}", self.before);
        assert!(peak < self.before + most, "{peak} MB");
        assert!(gap < Duration::from_secs(3) + own, "{gap:?}");
        assert_eq!(self.publisher.connection.epoch(), 1, "the well-behaved publisher had to reconnect");
    }
}

fn on_threads(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap().block_on(test);
}

#[test]
fn med_18_groups_without_end_and_frames_of_32_mb_stay_bounded() {
    on_threads(async {
        for (what, bytes, frames) in
            [("endless groups", 100_000, usize::MAX), ("frames of 31 MB", 31 << 20, 1), ("bursts", 1 << 20, 30)]
        {
            let mut scene = Scene::begin().await;
            let evil = misbehaving::flood(scene.relay.url(""), "evil/cam", bytes, frames);
            let (watched, _connection) = crate::client::subscribe(scene.relay.url(""));
            let reading = tokio::spawn(async move {
                let broadcast = watched.consume().routed_broadcast("evil/cam").await.unwrap();
                let mut track = broadcast.track("video").unwrap().subscribe(None).await.unwrap();
                while let Ok(Some(mut group)) = track.recv_group().await {
                    while let Ok(Some(_)) = group.read_frame().await {}
                }
            });
            scene.endures(what, Duration::from_secs(4), 160).await;
            scene.relay.until("sessions_ended_total", "MEMORY_LIMIT_EXCEEDED", |ended| ended >= 1.0).await;
            drop(evil);
            reading.abort();
        }
    });
}

#[test]
fn med_17_thousands_of_broadcasts_stay_bounded() {
    on_threads(async {
        let mut scene = Scene::begin().await;
        let origin = moq_tokio::origin::spawn();
        let broadcasts: Vec<_> = (0..5000).map(|at| origin.create_broadcast(format!("evil/{at}")).unwrap()).collect();
        for broadcast in &broadcasts {
            broadcast.announce(Default::default()).unwrap();
        }
        let evil = crate::client::publish(scene.relay.url(""), &[], &origin);
        scene.endures("5000 broadcasts", Duration::from_secs(3), 100).await;
        scene.relay.until("sessions_ended_total", "TOO_MANY_BROADCASTS", |ended| ended >= 1.0).await;
        assert!(!evil.connected());
    });
}

#[test]
fn med_25_a_session_with_thousands_of_subscriptions_ends() {
    on_threads(async {
        let mut scene = Scene::begin().await;
        let evil = misbehaving::subscribe_many(scene.relay.url(""), "evil/many", 5000);
        scene.endures("5000 tracks", Duration::from_secs(3), 100).await;
        scene.relay.until("sessions_ended_total", "TOO_MANY_SUBSCRIPTIONS", |ended| ended >= 1.0).await;
        drop(evil);
    });
}

#[test]
fn med_24_memory_for_watchers_that_never_read_is_bounded() {
    on_threads(async {
        let mut scene = Scene::begin().await;
        let _not_reading: Vec<Misbehaving> =
            (0..50).map(|_| misbehaving::not_reading(scene.relay.url(""), "fat/cam")).collect();
        // 4 MB/s, of which the relay caches 8 MB. The queues of the watchers share these frames.
        let _large = misbehaving::paced(scene.relay.url(""), "fat/cam", 20_000, 50, Duration::from_millis(5));
        scene.relay.until("subscriptions", "client", |count| count >= 40.0).await;
        scene.endures("50 watchers that never read", Duration::from_secs(8), 150).await;
    });
}

#[test]
fn med_27_a_session_that_sends_requests_of_60_mb_ends() {
    on_threads(async {
        for websocket in [false, true] {
            let mut scene = Scene::begin().await;
            let attack = || match websocket {
                true => misbehaving::large_requests_over_websocket(scene.relay.websocket_url(), 60 << 20),
                false => misbehaving::large_requests(scene.relay.url(""), 60 << 20),
            };
            let evil: Vec<Misbehaving> = (0..3).map(|_| attack()).collect();
            let what = if websocket { "requests of 60 MB over WebSocket" } else { "requests of 60 MB" };
            scene.endures(what, Duration::from_secs(4), 150).await;
            scene.relay.until("sessions_ended_total", "MEMORY_LIMIT_EXCEEDED", |ended| ended >= 3.0).await;
            drop(evil);
        }
    });
}

#[test]
fn med_19_clients_can_connect_during_a_flood_of_first_packets_and_garbage() {
    on_threads(async {
        let mut scene = Scene::begin().await;
        let packets = misbehaving::first_packets(400).await;
        let over = Arc::new(AtomicBool::new(false));
        let flooding = {
            let (over, to) = (Arc::clone(&over), scene.relay.media);
            std::thread::spawn(move || {
                let sockets: Vec<_> = (0..20).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
                let garbage: Vec<u8> = (0..1200u32).map(|at| (at * 31 % 251) as u8 | 0xc0).collect();
                let mut sent = 0u64;
                while !over.load(Ordering::Relaxed) {
                    for (at, packet) in packets.iter().enumerate() {
                        let _ = sockets[at % 20].send_to(packet, to);
                        let _ = sockets[(at + 7) % 20].send_to(&garbage, to);
                        sent += 2;
                        if at % 20 == 0 {
                            // Up to 20,000 packets a second. At a higher rate the kernel drops packets before the relay reads them.
                            std::thread::sleep(Duration::from_millis(2));
                        }
                    }
                }
                sent
            })
        };
        scene.endures("a flood of UDP", Duration::from_secs(5), 100).await;
        let begin = Instant::now();
        let late = dial(scene.relay.url(""), &[]).await;
        println!("a client connects during the flood after {:?}", begin.elapsed());
        over.store(true, Ordering::Relaxed);
        println!("{} packets", flooding.join().unwrap());
        assert!(late.is_ok(), "no client can connect: {:?}", late.err());
    });
}

#[test]
fn med_19_sessions_that_open_and_close_as_fast_as_they_can_do_no_harm() {
    on_threads(async {
        let mut scene = Scene::begin().await;
        let url = scene.relay.url("");
        let mut churning = JoinSet::new();
        for _ in 0..8 {
            let url = url.clone();
            churning.spawn(async move {
                loop {
                    let _ = dial(url.clone(), &[]).await;
                }
            });
        }
        scene.endures("sessions that come and go", Duration::from_secs(6), 100).await;
        // Waits until they have ended. In a runtime that shuts down each dial fails at once, so that the loop would never yield.
        churning.shutdown().await;
        println!("{} sessions", scene.relay.metric("sessions_ended_total", "LEFT").await);
        scene.relay.until("sessions", "client", |count| count <= 10.0).await;
    });
}
