use std::time::Duration;

use crate::client::{Publisher, Watcher};
use crate::relay::{Relay, anything, limits};

/// Of watchers at each leaf.
const CROWD: usize = 150;
const SPAN: Duration = Duration::from_secs(5);
/// Between two frames of 1 kB: 300 watchers of that are little work, on a busy machine too.
const PACE: Duration = Duration::from_millis(250);

/// What crossed: payload, and bytes on the wire.
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_40_two_crowds_cost_the_origin_what_two_watchers_do_and_a_link_carries_one_copy() {
    let most = parley_media::Limits { sessions: 1000, address_sessions: 1000, handshakes: 1000, ..limits() };
    let relay = async || Relay::with(most.clone()).await;
    let leaves = Leaves { near: relay().await, far: relay().await, origin: relay().await };
    leaves.near.dial(&[&leaves.origin]).await;
    leaves.far.dial(&[&leaves.origin]).await;
    let url = leaves.near.url(&anything());
    let _publisher = Publisher::paced(url, &leaves.near.hashes(), "lab/7/cam", PACE, 8).await;
    let mut watchers = Vec::new();
    for leaf in [&leaves.near, &leaves.far] {
        let mut watcher = Watcher::start(leaf.url(&anything()), &leaf.hashes(), "lab/7/cam").await;
        watcher.frames(8).await;
        watchers.push(watcher);
    }
    let few = leaves.span().await;
    for leaf in [&leaves.near, &leaves.far] {
        for _ in 1..CROWD {
            watchers.push(Watcher::start(leaf.url(&anything()), &leaf.hashes(), "lab/7/cam").await);
        }
    }
    for watcher in &mut watchers[2..] {
        watcher.frames(1).await;
    }
    let many = leaves.span().await;
    println!("1 + 1 watchers: {few:?}; {CROWD} + {CROWD}: {many:?}");
    for crossed in [few, many] {
        // A frame may be on its way at either end of the span.
        let most = 1.1 * crossed.published + 2000.0;
        assert!(crossed.into_origin <= most && crossed.out_of_origin <= most, "{crossed:?}");
        assert!(crossed.out_of_origin >= 0.8 * crossed.published, "{crossed:?}");
    }
    // Headers, acknowledgements and pings weigh more at 32 kbit/s than at a rate of video.
    assert!(many.on_the_wire <= 1.4 * many.published + 2000.0, "{many:?}");
    assert!(many.out_of_origin <= 1.1 * few.out_of_origin + 2000.0, "{few:?} {many:?}");
    assert_eq!(leaves.near.door().state().sessions, CROWD + 1);
}
