use std::time::Duration;

use crate::client::{Publisher, Watcher};
use crate::relay::{Relay, anything, limits, token};

#[tokio::test]
async fn med_40_a_broadcast_crosses_from_leaf_to_origin_to_leaf() {
    let (origin, near, far) = (Relay::start().await, Relay::start().await, Relay::start().await);
    near.dial(&[&origin]).await;
    far.dial(&[&origin]).await;
    let _publisher = Publisher::start(near.url(&anything()), &near.hashes(), ".hidden/7/cam").await;
    let mut watcher = Watcher::start(far.url(&token("", ".hidden/7/*")), &far.hashes(), ".hidden/7/cam").await;
    watcher.frames(60).await;
    assert_eq!(origin.metric("sessions", &["kind=\"link\""]), 2.0);
    assert!(origin.metric("bytes_total", &["kind=\"link\"", "direction=\"out\""]) >= 60_000.0);
    assert!(far.metric("bytes_total", &["kind=\"link\"", "direction=\"in\""]) >= 60_000.0);
    assert_eq!((far.metric("links_desired", &[]), origin.server().state().sessions), (1.0, 0));
    far.until("link_rtt_seconds", |rtt| rtt > 0.0).await;
}

#[tokio::test]
async fn med_41_a_link_that_is_no_longer_configured_is_closed() {
    let (origin, leaf) = (Relay::start().await, Relay::start().await);
    leaf.dial(&[&origin]).await;
    origin.until("sessions", |count| count == 1.0).await;
    leaf.server().dial(Vec::new());
    origin.until("sessions", |count| count == 0.0).await;
}

#[tokio::test]
async fn med_42_a_restarted_relay_is_connected_with_its_new_certificate() {
    let (origin, leaf) = (Relay::start().await, Relay::start().await);
    leaf.dial(&[&origin]).await;
    origin.until("sessions", |count| count == 1.0).await;
    let mut announced = origin.peer("relay-0");
    announced.certificate_hashes.rotate_left(1);
    leaf.server().dial(vec![announced]);

    let address = origin.server().address.to_string();
    let before = origin.hashes();
    let directory = origin.kill();
    std::fs::remove_dir_all(&directory).unwrap();
    leaf.until("links_up", |up| up == 0.0).await;
    let origin = restart(&address, directory).await;
    assert!(origin.hashes().iter().all(|hash| !before.contains(hash)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(leaf.metric("links_up", &[]), 0.0, "the link accepts an unknown certificate");
    leaf.dial(&[&origin]).await;

    let _publisher = Publisher::start(origin.url(&anything()), &origin.hashes(), "lab/7/cam").await;
    Watcher::start(leaf.url(&anything()), &leaf.hashes(), "lab/7/cam").await.frames(30).await;
}

/// Starts a relay on the port of the killed one, once the port is free.
async fn restart(address: &str, directory: std::path::PathBuf) -> Relay {
    let socket = async {
        while std::net::UdpSocket::bind(address).is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), socket).await.expect("the port is still in use");
    Relay::on(address, directory, limits()).await
}

#[tokio::test]
async fn med_40_of_two_routes_the_costly_one_carries_nothing() {
    let (near, costly, publishing, watching) =
        (Relay::start().await, Relay::start().await, Relay::start().await, Relay::start().await);
    for leaf in [&publishing, &watching] {
        let mut peers = vec![near.peer("near"), costly.peer("costly")];
        peers[1].cost = 100;
        leaf.server().dial(peers);
        leaf.until("links_up", |up| up == 2.0).await;
    }
    // By the hash alone, each route would carry some of them.
    let mut streams = Vec::new();
    for at in 0..4 {
        let name = format!("lab/{at}/cam");
        let publisher = Publisher::start(publishing.url(&anything()), &publishing.hashes(), &name).await;
        let mut watcher = Watcher::start(watching.url(&anything()), &watching.hashes(), &name).await;
        watcher.frames(60).await;
        streams.push((publisher, watcher));
    }
    let carried = |relay: &Relay| relay.metric("bytes_total", &["direction=\"out\""]);
    let before = carried(&costly);
    for (_, watcher) in &mut streams {
        watcher.frames(30).await;
    }
    assert_eq!(carried(&costly), before, "the costly route carries media");
    assert!(carried(&near) >= 4.0 * 60_000.0);
}
