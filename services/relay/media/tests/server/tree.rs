use parley_media::server::Peer;
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

#[tokio::test]
async fn med_42_a_relay_that_is_reachable_again_is_connected_within_two_seconds() {
    let leaf = Relay::start().await;
    let origin = Relay::start().await;
    let (peer, address) = (origin.peer("relay-0"), origin.server().address.to_string());
    let directory = origin.kill();
    // A socket that never answers, as behind a network that loses all packets.
    let silent = loop {
        match tokio::net::UdpSocket::bind(&address).await {
            Ok(socket) => break socket,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    leaf.server().dial(vec![peer]);
    let mut dialled_from = std::collections::HashSet::new();
    while dialled_from.len() < 5 {
        let received = tokio::time::timeout(Duration::from_secs(10), silent.recv_from(&mut [0; 2048])).await;
        dialled_from.insert(received.expect("the relay is not dialled").unwrap().1);
    }
    drop(silent);
    let _origin = restart(&address, directory).await;
    let began = std::time::Instant::now();
    leaf.until("links_up", |up| up == 1.0).await;
    println!("connected after {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn med_41_a_new_cost_replaces_the_link_without_a_pause() {
    let (origin, leaf) = (Relay::start().await, Relay::start().await);
    leaf.dial(&[&origin]).await;
    let publisher = Publisher::start(origin.url(&anything()), &origin.hashes(), "lab/7/cam").await;
    let mut watcher = Watcher::start(leaf.url(&anything()), &leaf.hashes(), "lab/7/cam").await;
    watcher.frames(60).await;
    leaf.server().dial(vec![Peer { cost: 10, ..origin.peer("relay-0") }]);
    let gap = watcher.gap(Duration::from_secs(5)).await;
    println!("replaced link: {gap:?}, publisher's own {:?}", publisher.gap());
    assert!(gap < Duration::from_millis(500) + publisher.gap(), "{gap:?}");
    assert_eq!(origin.metric("sessions_ended_total", &["kind=\"link\""]), 1.0);
    assert_eq!((leaf.metric("links_up", &[]), origin.metric("sessions", &["kind=\"link\""])), (1.0, 1.0));
}

#[tokio::test]
async fn med_41_costs_that_change_in_quick_succession_replace_the_link_without_a_pause() {
    let (origin, leaf) = (Relay::start().await, Relay::start().await);
    leaf.dial(&[&origin]).await;
    let publisher = Publisher::start(origin.url(&anything()), &origin.hashes(), "lab/7/cam").await;
    let mut watcher = Watcher::start(leaf.url(&anything()), &leaf.hashes(), "lab/7/cam").await;
    watcher.frames(60).await;
    for cost in 2..=200 {
        leaf.server().dial(vec![Peer { cost, ..origin.peer("relay-0") }]);
    }
    let gap = watcher.gap(Duration::from_secs(5)).await;
    println!("replaced link: {gap:?}, publisher's own {:?}", publisher.gap());
    assert!(gap < Duration::from_millis(500) + publisher.gap(), "{gap:?}");
    // A link may be up, and be replaced, before the last cost is known.
    let ended = origin.metric("sessions_ended_total", &["kind=\"link\""]);
    assert!((1.0..=3.0).contains(&ended), "{ended} links ended");
    assert_eq!((leaf.metric("links_up", &[]), origin.metric("sessions", &["kind=\"link\""])), (1.0, 1.0));
}

#[tokio::test]
async fn med_42_a_silent_relay_whose_lease_changes_often_is_dialled_no_more_often() {
    let leaf = Relay::start().await;
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let first = Peer { address: Some(address), port: address.port(), ..leaf.peer("relay-0") };
    let began = std::time::Instant::now();
    let mut dialled_from = std::collections::HashSet::new();
    for at in 0..200 {
        let mut peer = Peer { cost: 1 + at / 3, ..first.clone() };
        // Its cost, its certificates and its key change in turn.
        peer.certificate_hashes.rotate_left(usize::from(at % 3 == 1));
        peer.key.push_str(&(at / 3).to_string());
        leaf.server().dial(vec![peer]);
        let received = tokio::time::timeout(Duration::from_millis(5), silent.recv_from(&mut [0; 2048])).await;
        dialled_from.extend(received.ok().map(|received| received.unwrap().1));
    }
    let most = 1 + began.elapsed().as_millis() / 250;
    println!("dialled {} times in {:?}", dialled_from.len(), began.elapsed());
    assert!((1..=most).contains(&(dialled_from.len() as u128)), "{} of {most}", dialled_from.len());
}

#[tokio::test]
async fn media_19_one_pair_of_origins_carries_all_broadcasts_between_two_regions() {
    let (near, far) = ([Relay::start().await, Relay::start().await], [Relay::start().await, Relay::start().await]);
    for (rank, relay) in near.iter().enumerate() {
        let cost = |far_rank: usize| 100 + 10 * (rank + far_rank) as u64;
        let to_far = |(at, other): (usize, &Relay)| other.peer_in_other_region(&format!("far-{at}"), cost(at));
        let mut peers: Vec<_> = far.iter().enumerate().map(to_far).collect();
        peers.extend((rank == 0).then(|| near[1].peer("near-1")));
        let count = peers.len();
        relay.server().dial(peers);
        relay.until("links_up", |up| up as usize == count).await;
    }
    far[0].dial(&[&far[1]]).await;
    let mut streams = Vec::new();
    for at in 0..6 {
        let (name, from) = (format!("lab/{at}/cam"), &near[at % 2]);
        streams.push((Publisher::start(from.url(&anything()), &from.hashes(), &name).await, Vec::new()));
        for to in &far {
            let mut watcher = Watcher::start(to.url(&anything()), &to.hashes(), &name).await;
            watcher.frames(60).await;
            streams[at].1.push(watcher);
        }
    }
    let received = |relay: &Relay| relay.metric("bytes_total", &["kind=\"region-link\"", "direction=\"in\""]);
    let published =
        || near.iter().map(|relay| relay.metric("bytes_total", &["kind=\"client\"", "direction=\"in\""])).sum();
    let before: (f64, f64, f64) = (received(&far[0]), received(&far[1]), published());
    for watcher in streams.iter_mut().flat_map(|(_, watchers)| watchers) {
        watcher.frames(60).await;
    }
    let after: (f64, f64, f64) = (received(&far[0]), received(&far[1]), published());
    let copies = (after.0 - before.0) / (after.2 - before.2);
    println!("{copies:.3} copies over the links between the regions");
    assert!(copies > 0.8 && copies <= 1.1, "{copies}");
    assert_eq!(after.1, before.1, "a second pair of origins carries media");
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
