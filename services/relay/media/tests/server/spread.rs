use std::time::Duration;

use crate::client::{Publisher, Watcher};
use crate::relay::{Relay, anything, limits};

/// The number of watchers at each leaf.
const CROWD: usize = 150;
const SPAN: Duration = Duration::from_secs(5);
const BROADCAST: &str = "lab/7/cam";
/// An interval of frames of 1 kB: 300 watchers are little work, on a busy machine too.
const SLOW: Duration = Duration::from_millis(250);
/// The interval of a video of 1 Mbit/s. At lower rates, headers, acknowledgements and pings are a larger share.
const VIDEO: Duration = Duration::from_millis(8);

/// Transferred bytes: payload, and bytes on the wire.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    published: f64,
    into_origin: f64,
    out_of_origin: f64,
    on_the_wire: f64,
}

struct Leaves {
    near: Relay,
    far: Relay,
    origin: Relay,
}

impl Leaves {
    fn now(&self) -> Crossed {
        let link = |relay: &Relay, name, direction| relay.metric(name, &["kind=\"link\"", direction]);
        Crossed {
            published: self.near.metric("bytes_total", &["kind=\"client\"", "direction=\"in\""]),
            into_origin: link(&self.origin, "bytes_total", "direction=\"in\""),
            out_of_origin: link(&self.origin, "bytes_total", "direction=\"out\""),
            on_the_wire: link(&self.far, "wire_bytes_total", "direction=\"in\""),
        }
    }

    async fn span(&self) -> Crossed {
        let before = self.now();
        tokio::time::sleep(SPAN).await;
        let now = self.now();
        Crossed {
            published: now.published - before.published,
            into_origin: now.into_origin - before.into_origin,
            out_of_origin: now.out_of_origin - before.out_of_origin,
            on_the_wire: now.on_the_wire - before.on_the_wire,
        }
    }
}

/// A broadcast that is published at one leaf, goes through the origin, and is watched at both leaves.
struct Spread {
    leaves: Leaves,
    _publisher: Publisher,
    watchers: Vec<Watcher>,
}

impl Spread {
    /// Starts with a watcher at each leaf, and a frame of 1 kB every `pace`.
    async fn start(pace: Duration, limits: parley_media::Limits) -> Self {
        let relay = async || Relay::with(limits.clone()).await;
        let leaves = Leaves { near: relay().await, far: relay().await, origin: relay().await };
        leaves.near.dial(&[&leaves.origin]).await;
        leaves.far.dial(&[&leaves.origin]).await;
        let url = leaves.near.url(&anything());
        let publisher = Publisher::paced(url, &leaves.near.hashes(), BROADCAST, pace, 8).await;
        let mut spread = Self { leaves, _publisher: publisher, watchers: Vec::new() };
        spread.watch(1).await;
        for watcher in &mut spread.watchers {
            watcher.frames(8).await;
        }
        spread
    }

    /// Adds `more` watchers at each leaf.
    async fn watch(&mut self, more: usize) {
        let first = self.watchers.len();
        for leaf in [&self.leaves.near, &self.leaves.far] {
            for _ in 0..more {
                self.watchers.push(Watcher::start(leaf.url(&anything()), &leaf.hashes(), BROADCAST).await);
            }
        }
        for watcher in &mut self.watchers[first..] {
            watcher.frames(1).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_40_the_load_of_the_origin_does_not_depend_on_watchers_and_a_link_carries_one_copy() {
    let most = parley_media::Limits { sessions: 1000, address_sessions: 1000, handshakes: 1000, ..limits() };
    let mut spread = Spread::start(SLOW, most).await;
    let few = spread.leaves.span().await;
    spread.watch(CROWD - 1).await;
    let many = spread.leaves.span().await;
    println!("1 + 1 watchers: {few:?}; {CROWD} + {CROWD}: {many:?}");
    for crossed in [few, many] {
        // A frame may be in flight at either end of the measurement.
        let most = 1.1 * crossed.published + 2000.0;
        assert!(crossed.into_origin <= most && crossed.out_of_origin <= most, "{crossed:?}");
        assert!(crossed.out_of_origin >= 0.8 * crossed.published, "{crossed:?}");
    }
    assert!(many.out_of_origin <= 1.1 * few.out_of_origin + 2000.0, "{few:?} {many:?}");
    assert_eq!(spread.leaves.near.server().state().sessions, CROWD + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_40_a_link_adds_less_than_a_tenth_to_a_video_on_the_wire() {
    let spread = Spread::start(VIDEO, limits()).await;
    let crossed = spread.leaves.span().await;
    println!("{:.3} copies on the wire: {crossed:?}", crossed.on_the_wire / crossed.published);
    assert!(crossed.on_the_wire <= 1.1 * crossed.published + 2000.0, "{crossed:?}");
    assert!(crossed.on_the_wire >= 0.9 * crossed.published, "{crossed:?}");
}
