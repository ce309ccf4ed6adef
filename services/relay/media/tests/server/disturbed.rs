//! Watchers on bad paths, slow ones, ones that stop reading and greedy ones: the others notice nothing.
use moq_net::origin::Consumer;
use moq_net::track::Subscription;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout, timeout_at};

use crate::client::{GROUP, Publisher, numbered, subscribe};
use crate::misbehaving::not_reading;
use crate::relay::{Relay, anything, limits};
use crate::udp_path::{Quality, UdpPath};

const NAME: &str = "lab/7/cam";
/// How long everything goes on together.
const TIME: Duration = Duration::from_secs(10);
/// 90 ms round trip.
const FAR: Duration = Duration::from_millis(45);
/// The pause of a slow reader after each frame: it reads a tenth of them.
const SLOW: Duration = Duration::from_millis(200);
/// How many broadcasts a greedy watcher subscribes to besides: more than fits into its window over `FAR`.
const OTHERS: usize = 14;

/// The frames that a watcher received: each of them whole, and in each group in order from the first one on.
struct Received {
    /// The time and the number of each.
    frames: Vec<(Instant, u64)>,
    subscriptions: usize,
}

impl Received {
    fn longest_gap(&self) -> Duration {
        self.frames.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap_or(TIME)
    }

    /// The share of the frames between its first and its last one.
    fn share(&self) -> f64 {
        let numbers = || self.frames.iter().map(|(_, number)| *number);
        self.frames.len() as f64 / (numbers().max().unwrap() - numbers().min().unwrap() + 1) as f64
    }
}

/// Watches in a session of its own, and wants each frame.
async fn watch(url: url::Url) -> Received {
    let (origin, _connection) = subscribe(url);
    read(&origin.consume(), NAME, Subscription::default().with_max_age(TIME), Duration::ZERO).await
}

/// Reads a broadcast for `TIME`, with a pause after each frame. Panics where a frame is not whole or not in order.
async fn read(origin: &Consumer, name: &str, wish: Subscription, pause: Duration) -> Received {
    let broadcast = timeout(TIME, origin.routed_broadcast(name)).await.unwrap().unwrap();
    let mut received = Received { frames: Vec::new(), subscriptions: 0 };
    let end = tokio::time::Instant::now() + TIME;
    let reading = async {
        loop {
            let mut track = broadcast.track("video").unwrap().subscribe(wish.clone()).await.unwrap();
            received.subscriptions += 1;
            while let Ok(Some(mut group)) = track.recv_group().await {
                let mut expected = None;
                // A group that is reset ends early: its next frame is an error.
                while let Ok(Some(frame)) = group.read_frame().await {
                    let number = u64::from_be_bytes(frame.payload[..8].try_into().unwrap());
                    assert_eq!(frame.payload, numbered(number), "frame {number} is not whole");
                    assert_eq!(number, expected.unwrap_or(number - number % GROUP), "the order in a group");
                    expected = Some(number + 1);
                    received.frames.push((Instant::now(), number));
                    sleep(pause).await;
                }
            }
        }
    };
    let _ = timeout_at(end, reading).await;
    received
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_73_watchers_with_loss_slow_stopped_and_greedy_ones_disturb_no_other() {
    let relay = Relay::with(parley_media::Limits { send_bytes: 64 << 10, ..limits() }).await;
    let publisher = Publisher::start(relay.url(&anything()), &[], NAME).await;
    let mut others = Vec::new();
    for at in 0..OTHERS {
        others.push(Publisher::start(relay.url(&anything()), &[], &format!("other/{at}")).await);
    }
    let address = relay.server().address;
    let lossy = UdpPath::to(address, Quality { lost_percent: 2, delay: FAR }).await;
    let lossier = UdpPath::to(address, Quality { lost_percent: 5, delay: FAR }).await;
    let far = UdpPath::to(address, Quality { lost_percent: 0, delay: FAR }).await;
    // What the machine adds to gaps is seen at a relay of its own.
    let quiet = Relay::start().await;
    let undisturbed = Publisher::start(quiet.url(&anything()), &[], NAME).await;
    let _stopped = not_reading(relay.url(&anything()), NAME);
    let (everything, _connection) = subscribe(far.through(relay.url(&anything())));
    let mut greedy = JoinSet::new();
    for at in 0..OTHERS {
        let origin = everything.consume();
        greedy
            .spawn(async move { read(&origin, &format!("other/{at}"), Subscription::default(), Duration::ZERO).await });
    }
    let (late, _connection) = subscribe(relay.url(&anything()));
    let late = late.consume();
    let (alone, near, socket, two, five, slow) = tokio::join!(
        watch(quiet.url(&anything())),
        watch(relay.url(&anything())),
        watch(relay.websocket(&anything())),
        watch(lossy.through(relay.url(&anything()))),
        watch(lossier.through(relay.url(&anything()))),
        read(&late, NAME, Subscription::default(), SLOW),
    );
    assert_eq!(alone.share(), 1.0, "alone");
    let second = Duration::from_secs(1);
    let own = publisher.gap().max(undisturbed.gap()).max(alone.longest_gap().min(second));
    for (which, received, gap) in [
        ("near", &near, second / 4),
        ("WebSocket", &socket, second / 4),
        ("2 % lost", &two, second),
        ("5 % lost", &five, second),
        ("slow", &slow, second),
    ] {
        let (share, longest) = (received.share(), received.longest_gap());
        println!("{which}: {share:.3} of the frames, longest gap {longest:?}, the machine's own {own:?}");
        assert_eq!(received.subscriptions, 1, "{which}: had to subscribe again");
        assert!(longest < gap + own, "{which}: no frame for {longest:?}");
        assert!(share == 1.0 || which == "slow", "{which}: {share:.3} of the frames");
    }
    assert!(slow.share() < 0.5, "the slow watcher was not slow");
    for received in greedy.join_all().await {
        assert!(!received.frames.is_empty(), "the greedy watcher received nothing of a broadcast");
    }
}
