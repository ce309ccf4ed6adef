//! The relay's own fan-out, and MoQ's library beside it for other versions.
use moq_net::track::{Producer, Subscriber, Subscription};
use moq_net::{Error, Timestamp, broadcast, group, origin};
use moq_tokio::Connection;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::{publish, subscribe_with};
use crate::relay::{Relay, anything, limits};

const WITHIN: Duration = Duration::from_secs(10);
/// The versions that the fan-out serves, and one that the library serves.
const VERSIONS: [&str; 3] = ["moq-lite-06", "moq-lite-05", "moq-lite-04"];
/// A frame that needs many packets.
const LARGE: usize = 200_000;

/// A publisher whose test writes the groups.
struct Scene {
    relay: Relay,
    track: Producer,
    _kept: (origin::Producer, broadcast::Producer, Connection),
}

impl Scene {
    async fn begin() -> Self {
        let relay = Relay::with(parley_media::Limits { send_bytes: 64 << 10, ..limits() }).await;
        let origin = moq_tokio::origin::spawn();
        let broadcast = origin.create_broadcast("lab/7/cam").unwrap();
        let track = broadcast.create_track("video", None).unwrap();
        broadcast.announce(Default::default()).unwrap();
        let connection = publish(relay.url(&anything()), &[], &origin);
        Self { relay, track, _kept: (origin, broadcast, connection) }
    }

    /// Opens a session over QUIC or WebSocket.
    async fn dial(&self, version: &str, socket: bool) -> (broadcast::Consumer, Connection) {
        let url = if socket { self.relay.websocket(&anything()) } else { self.relay.url(&anything()) };
        let (origin, connection) = subscribe_with(version, url);
        (timeout(WITHIN, origin.consume().routed_broadcast("lab/7/cam")).await.unwrap().unwrap(), connection)
    }

    /// Opens a session, and subscribes.
    async fn watch(&self, version: &str, socket: bool, wish: Subscription) -> (Subscriber, Connection) {
        let (broadcast, connection) = self.dial(version, socket).await;
        (subscribe(&broadcast, wish).await, connection)
    }
}

async fn subscribe(broadcast: &broadcast::Consumer, wish: Subscription) -> Subscriber {
    timeout(WITHIN, broadcast.track("video").unwrap().subscribe(wish)).await.unwrap().unwrap()
}

fn frame(number: usize) -> Vec<u8> {
    let size = if number.is_multiple_of(5) { LARGE } else { 100 };
    (0..size).map(|at| (number * 31 + at * 7) as u8).collect()
}

/// Writes frames of a group, at the times of their numbers.
fn write(group: &mut group::Producer, frames: std::ops::Range<usize>) {
    for number in frames {
        group.write_frame(Timestamp::from_millis(number as u64 * 10).unwrap(), frame(number)).unwrap();
    }
}

async fn next(track: &mut Subscriber) -> Option<group::Consumer> {
    timeout(WITHIN, track.recv_group()).await.expect("no group arrives").unwrap()
}

/// Reads these frames, each unchanged.
async fn read(group: &mut group::Consumer, frames: std::ops::Range<usize>) {
    for number in frames {
        let received = timeout(WITHIN, group.read_frame()).await.expect("no frame arrives").unwrap().expect("a frame");
        assert!(received.payload == frame(number), "frame {number} differs");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_70_and_71_and_74_watchers_of_all_versions_receive_a_track_from_the_open_group_to_its_end() {
    let scene = Scene::begin().await;
    let mut group = scene.track.append_group().unwrap();
    write(&mut group, 0..3);
    let mut watchers = Vec::new();
    for (version, socket) in VERSIONS.into_iter().flat_map(|version| [(version, false), (version, true)]) {
        let (mut track, connection) = scene.watch(version, socket, Subscription::default()).await;
        let mut received = next(&mut track).await.unwrap();
        assert_eq!(received.sequence, 0);
        read(&mut received, 0..2).await;
        let last = timeout(WITHIN, received.read_frame()).await.unwrap().unwrap().unwrap();
        // The library's version carries no times.
        assert!(last.payload == frame(2) && (last.timestamp.as_millis() == 20 || version == VERSIONS[2]));
        watchers.push((track, received, connection));
    }
    let subscriptions = || scene.relay.metric("subscriptions", &["kind=\"client\""]) as usize;
    assert_eq!(subscriptions(), watchers.len());
    assert_eq!(scene.relay.metric("watched_tracks", &[]), 1.0);

    write(&mut group, 3..12);
    for (_, received, _) in &mut watchers {
        read(received, 3..12).await;
    }
    group.finish().unwrap();
    let mut group = scene.track.append_group().unwrap();
    write(&mut group, 12..30);
    group.finish().unwrap();
    scene.track.finish().unwrap();
    for (mut track, mut received, connection) in watchers {
        let before = timeout(WITHIN, received.read_frame()).await.expect("the group does not end");
        assert!(matches!(before, Ok(None) | Err(Error::Old)), "{before:?}");
        let mut received = next(&mut track).await.unwrap();
        assert_eq!(received.sequence, 1);
        read(&mut received, 12..30).await;
        assert!(next(&mut track).await.is_none(), "the track does not end");
        drop((track, connection));
    }
    scene.relay.until("subscriptions", |count| count == 0.0).await;
    scene.relay.until("watched_tracks", |count| count == 0.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_70_a_subscription_begins_at_the_newest_group_or_at_the_oldest_within_its_age() {
    let scene = Scene::begin().await;
    let wish = Subscription::default().with_max_age(Duration::from_millis(150));
    let mut kept = Vec::new();
    for (group, begin) in [0, 10, 20, 30].into_iter().enumerate() {
        let mut group_of = scene.track.append_group().unwrap();
        write(&mut group_of, begin..begin + 10);
        group_of.finish().unwrap();
        if group == 1 {
            // The first watcher, for whom the relay reads the track from then on.
            kept.push(scene.watch("moq-lite-06", false, wish.clone()).await);
        }
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    for (version, first) in [("moq-lite-06", 2), ("moq-lite-05", 3)] {
        let (mut track, connection) = scene.watch(version, false, wish.clone()).await;
        let mut sequences = Vec::new();
        while sequences.len() < 4 - first {
            sequences.push(next(&mut track).await.unwrap().sequence as usize);
        }
        sequences.sort_unstable();
        assert_eq!(sequences, (first..4).collect::<Vec<_>>(), "{version}");
        kept.push((track, connection));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_73_a_watcher_without_room_continues_and_is_moved_to_a_newer_group_when_it_is_late() {
    let scene = Scene::begin().await;
    let wish = Subscription::default().with_max_age(Duration::from_secs(10));
    let mut patient = scene.watch("moq-lite-06", false, wish).await;
    let mut quick = scene.watch("moq-lite-06", false, Subscription::default()).await;
    // Each is more than a watcher may have in flight.
    for number in 0..3 {
        let mut group = scene.track.append_group().unwrap();
        write(&mut group, number * 20..number * 20 + 20);
        group.finish().unwrap();
    }
    for number in 0..3 {
        let mut group = next(&mut patient.0).await.unwrap();
        let begin = group.sequence as usize * 20;
        read(&mut group, begin..begin + 20).await;
        assert!(group.sequence < 3, "{number}");
    }
    loop {
        let mut group = next(&mut quick.0).await.unwrap();
        if group.sequence == 2 {
            read(&mut group, 40..60).await;
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_70_other_versions_and_bounded_subscriptions_are_left_to_the_library() {
    let scene = Scene::begin().await;
    for begin in [0, 10, 20] {
        let mut group = scene.track.append_group().unwrap();
        write(&mut group, begin..begin + 10);
        group.finish().unwrap();
    }
    let age = Duration::from_secs(10);
    let wish = Subscription::default().with_max_age(age).with_groups(1..);
    let (mut bounded, _connection) = scene.watch("moq-lite-06", false, wish).await;
    let mut group = next(&mut bounded).await.unwrap();
    assert_eq!(group.sequence, 1);
    read(&mut group, 10..20).await;
    let (mut other, _connection) = scene.watch("moq-lite-04", false, Subscription::default()).await;
    read(&mut next(&mut other).await.unwrap(), 20..30).await;
    assert_eq!(scene.relay.metric("subscriptions", &[]), 2.0);
    assert_eq!(scene.relay.metric("watched_tracks", &[]), 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_70_a_client_that_stops_reading_a_track_and_reads_it_again_gets_the_newest_group() {
    let scene = Scene::begin().await;
    let mut begun = scene.track.append_group().unwrap();
    write(&mut begun, 0..10);
    for (version, socket) in VERSIONS.into_iter().flat_map(|version| [(version, false), (version, true)]) {
        let (broadcast, _connection) = scene.dial(version, socket).await;
        let mut track = subscribe(&broadcast, Subscription::default()).await;
        next(&mut track).await.unwrap();
        drop(track);
        begun.finish().unwrap();
        begun = scene.track.append_group().unwrap();
        let newest = begun.sequence;
        write(&mut begun, 0..10);
        let mut track = subscribe(&broadcast, Subscription::default()).await;
        loop {
            let mut group = next(&mut track).await.unwrap();
            if group.sequence == newest {
                read(&mut group, 0..10).await;
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_71_datagrams_of_a_track_reach_its_watchers() {
    let mut scene = Scene::begin().await;
    let mut watching = Vec::new();
    for version in &VERSIONS[..2] {
        let (mut track, connection) = scene.watch(version, false, Subscription::default()).await;
        let received = async {
            loop {
                let time = Timestamp::from_millis(70).unwrap();
                scene.track.append_datagram(time, b"seven".to_vec()).unwrap();
                if let Ok(received) = timeout(Duration::from_millis(100), track.recv_datagram()).await {
                    return received.unwrap().unwrap();
                }
            }
        };
        let received = timeout(WITHIN, received).await.expect("no datagram arrives");
        assert_eq!((&received.payload[..], received.timestamp.as_millis()), (&b"seven"[..], 70), "{version}");
        watching.push((track, connection));
    }
    assert_eq!(scene.relay.metric("watched_tracks", &[]), 1.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_71_many_watchers_come_and_go_while_the_others_receive_each_frame() {
    const WATCHERS: usize = 40;
    let scene = Scene::begin().await;
    let mut group = scene.track.append_group().unwrap();
    write(&mut group, 0..3);
    let mut watching = JoinSet::new();
    for nth in 0..WATCHERS {
        let (mut track, connection) = scene.watch(VERSIONS[nth % 2], nth % 4 == 3, Subscription::default()).await;
        let leaves = nth % 3 == 0;
        watching.spawn(async move {
            let mut received = next(&mut track).await.unwrap();
            read(&mut received, 0..if leaves { nth } else { 2 * WATCHERS }).await;
            (!leaves).then_some((track, connection))
        });
        // Each time one more watcher has to get the frames that were there before.
        write(&mut group, 3 + nth..4 + nth);
    }
    for number in 3 + WATCHERS..2 * WATCHERS {
        write(&mut group, number..number + 1);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let staying: Vec<_> = watching.join_all().await.into_iter().flatten().collect();
    scene.relay.until("subscriptions", |count| count as usize == staying.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_75_small_frames_of_several_tracks_leave_a_busy_relay_together() {
    const TRACKS: usize = 20;
    const SESSIONS: usize = 8;
    /// With a frame each millisecond a relay writes 8000 a second.
    const FRAMES: usize = 1500;
    /// After these the relay has noticed.
    const BEFORE: usize = 500;
    let relay = Relay::with(limits()).await;
    let origin = moq_tokio::origin::spawn();
    let broadcast = origin.create_broadcast("lab/7/voices").unwrap();
    let mut tracks: Vec<_> =
        (0..TRACKS).map(|nth| broadcast.create_track(&*format!("voice {nth}"), None).unwrap()).collect();
    broadcast.announce(Default::default()).unwrap();
    let _publisher = publish(relay.url(&anything()), &[], &origin);
    let mut groups: Vec<_> = tracks.iter_mut().map(|track| track.append_group().unwrap()).collect();
    let mut readers = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..SESSIONS {
        let (origin, connection) = subscribe_with("moq-lite-06", relay.url(&anything()));
        let voices = timeout(WITHIN, origin.consume().routed_broadcast("lab/7/voices")).await.unwrap().unwrap();
        for nth in 0..TRACKS {
            let wanted = voices.track(&format!("voice {nth}")).unwrap().subscribe(Subscription::default());
            let mut track = timeout(WITHIN, wanted).await.unwrap().unwrap();
            readers.push(tokio::spawn(async move {
                let mut group = next(&mut track).await.unwrap();
                for number in 0..FRAMES / TRACKS {
                    let received =
                        timeout(WITHIN, group.read_frame()).await.expect("no frame arrives").unwrap().unwrap();
                    assert_eq!(received.payload.len(), 60 + number);
                }
            }));
        }
        kept.push((origin, connection));
    }
    let mut each = tokio::time::interval(Duration::from_millis(1));
    let mut sent_before = 0.0;
    for number in 0..FRAMES {
        each.tick().await;
        if number == BEFORE {
            sent_before = relay.metric("packets_sent_total", &["kind=\"client\""]);
        }
        let nth = number / TRACKS;
        let time = Timestamp::from_millis(number as u64).unwrap();
        groups[number % TRACKS].write_frame(time, vec![7; 60 + nth]).unwrap();
    }
    for reader in readers {
        reader.await.unwrap();
    }
    let packets = relay.metric("packets_sent_total", &["kind=\"client\""]) - sent_before;
    let frames = ((FRAMES - BEFORE) * SESSIONS) as f64;
    assert!(2.0 * packets < frames, "{packets} packets for {frames} frames");
    drop((tracks, kept));
}
