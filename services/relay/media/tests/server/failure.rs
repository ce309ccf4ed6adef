use std::time::Duration;

use crate::client::{Publisher, Watcher, call};
use crate::relay::{Relay, anything, limits};

/// Two leaves and two origins. A broadcast is published on one leaf and watched on the other; `carrying` is the origin through which it goes.
struct Tree {
    publisher: Publisher,
    watcher: Watcher,
    carrying: Relay,
    _standby: Relay,
    _leaves: [Relay; 2],
}

impl Tree {
    async fn start() -> Self {
        let (one, two) = (Relay::start().await, Relay::start().await);
        let leaves = [Relay::start().await, Relay::start().await];
        one.dial(&[&two]).await;
        for leaf in &leaves {
            leaf.dial(&[&one, &two]).await;
        }
        let publisher = Publisher::start(leaves[0].url(&anything()), &leaves[0].hashes(), "lab/7/cam").await;
        let mut watcher = Watcher::start(leaves[1].url(&anything()), &leaves[1].hashes(), "lab/7/cam").await;
        // The first route may differ from the final one.
        watcher.frames(100).await;
        let carried = |relay: &Relay| relay.metric("bytes_total", &["direction=\"out\""]);
        let before = [carried(&one), carried(&two)];
        watcher.frames(50).await;
        let (carrying, standby, still) =
            if carried(&one) > before[0] { (one, two, before[1]) } else { (two, one, before[0]) };
        assert_eq!(carried(&standby), still, "both origins carry the broadcast");
        Self { publisher, watcher, carrying, _standby: standby, _leaves: leaves }
    }
}

#[tokio::test]
async fn med_43_media_resumes_within_a_second_after_an_origin_is_killed() {
    let mut tree = Tree::start().await;
    let directory = tree.carrying.kill();
    let gap = tree.watcher.gap(Duration::from_secs(5)).await;
    std::fs::remove_dir_all(directory).unwrap();
    println!("killed origin: {gap:?}, publisher's own {:?}", tree.publisher.gap());
    assert!(gap < Duration::from_secs(1) + tree.publisher.gap(), "{gap:?}");
}

#[tokio::test]
async fn med_50_media_pauses_less_than_a_fifth_of_a_second_when_an_origin_drains() {
    let mut tree = Tree::start().await;
    let draining = tree.carrying.drain(None);
    let early = tree.watcher.gap(Duration::from_secs(1)).await;
    let carried = || tree.carrying.metric("bytes_total", &["direction=\"out\""]);
    let before = carried();
    let gap = tree.watcher.gap(Duration::from_secs(4)).await.max(early);
    assert_eq!(carried(), before, "media goes through the draining origin");
    println!("drained origin: {gap:?}, publisher's own {:?}", tree.publisher.gap());
    assert!(gap < Duration::from_millis(200) + tree.publisher.gap(), "{gap:?}");
    draining.await.unwrap();
}

#[tokio::test]
async fn med_51_a_draining_relay_accepts_no_session_and_redirects_clients() {
    let (leaf, other) = (Relay::start().await, Relay::start().await);
    leaf.dial(&[&other]).await;
    let hashes = [leaf.hashes(), other.hashes()].concat();
    let publisher = Publisher::start(other.url(&anything()), &hashes, "lab/7/cam").await;
    let mut watcher = Watcher::start(leaf.url(&anything()), &hashes, "lab/7/cam").await;
    watcher.frames(30).await;
    let draining = leaf.drain(Some(format!("https://{}/", other.server().address)));
    leaf.until("draining", |draining| draining == 1.0).await;
    assert!(call(leaf.url(&anything()), &leaf.hashes()).await.is_err());
    assert_eq!(leaf.metric("refusals_total", &["GOAWAY"]), 1.0);
    let gap = watcher.gap(Duration::from_secs(4)).await;
    println!("drained leaf: {gap:?}, publisher's own {:?}", publisher.gap());
    assert!(gap < Duration::from_millis(500) + publisher.gap(), "{gap:?}");
    draining.await.unwrap();
    assert_eq!(other.server().state().sessions, 2);
}

#[tokio::test]
async fn med_50_a_relay_without_clients_and_subscriptions_ends_before_its_window() {
    let leaf = Relay::with(parley_media::Limits { drain_window: 60_000, ..limits() }).await;
    let other = Relay::start().await;
    leaf.dial(&[&other]).await;
    other.dial(&[&leaf]).await;
    leaf.until("sessions", |sessions| sessions == 1.0).await;
    tokio::time::timeout(Duration::from_secs(10), leaf.drain(None))
        .await
        .expect("the relay waits for its links")
        .unwrap();
}
