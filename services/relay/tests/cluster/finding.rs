//! Discovery: pods that start and end, with and without NATS.
use super::nats::Nats;
use super::pod::{Pod, linked, start};
use std::net::Ipv6Addr;

#[tokio::test]
async fn str_90_a_later_pod_is_found_without_configuration() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 2, &[]).await;
    let mut camera = pods[0].join("/in/lab").await;
    pods.push(Pod::start(&nats, &["--pod=later"]).await);
    linked(&pods).await;
    let mut reader = pods[2].join("/out/lab").await;
    pods[0].wanted(1).await;
    camera.send_text("found").await;
    assert_eq!(reader.receive_text().await, "found");
}

#[tokio::test]
async fn str_147_str_90_pods_find_each_other_and_link_over_ipv6() {
    let nats = Nats::start_at(Ipv6Addr::LOCALHOST.into()).await;
    let pods = start(&nats, 2, &["--link-listen=[::1]:0"]).await;
    assert!(pods[0].link.starts_with("[::1]:"), "{}", pods[0].link);
    let mut reader = pods[0].join("/out/lab").await;
    pods[1].wanted(1).await;
    pods[1].join("/in/lab").await.send_text("over IPv6").await;
    assert_eq!(reader.receive_text().await, "over IPv6");
}

#[tokio::test]
async fn str_90_a_lease_is_published_as_soon_as_nats_connects() {
    let nats = Nats::start().await;
    // The next lease would be too late.
    let pods = start(&nats, 2, &["--limit=lease.interval=60000", "--limit=lease.duration=120000"]).await;
    linked(&pods).await;
}

#[tokio::test]
async fn str_90_the_permissions_of_the_relays_user_on_nats_are_sufficient() {
    let nats = Nats::start_as_in_the_chart().await;
    let stranger = Pod::start(&nats, &["--pod=stranger"]).await;
    let pods = start(&nats, 2, &[]).await;
    let mut reader = pods[0].join("/out/lab").await;
    pods[1].wanted(1).await;
    pods[1].join("/in/lab").await.send_text("allowed").await;
    assert_eq!(reader.receive_text().await, "allowed");
    assert_eq!((stranger.metric("nats_connected").await, stranger.metric("links_receiving").await), (0, 0));
}

#[tokio::test]
async fn str_90_pods_of_two_regions_do_not_link() {
    let nats = Nats::start().await;
    let east = Pod::start(&nats, &["--region=east"]).await;
    let west = Pod::start(&nats, &["--region=west"]).await;
    let more = [west, Pod::start(&nats, &["--region=west"]).await];
    linked(&more).await;
    assert_eq!((east.metric("links_receiving").await, east.metric("links_sending").await), (0, 0));
}

#[tokio::test]
async fn str_97_without_nats_a_pod_serves_its_clients_and_is_ready() {
    let mut nats = Nats::start().await;
    nats.kill().await;
    let pod = Pod::start(&nats, &[]).await;
    assert_eq!(pod.get("/readyz").await.0, 200);
    assert_eq!(pod.metric("nats_connected").await, 0);
    let (mut camera, mut reader) = (pod.join("/in/lab").await, pod.join("/out/lab").await);
    camera.send_text("alone").await;
    assert_eq!(reader.receive_text().await, "alone");
    nats.restart().await;
    let pods = [pod, Pod::start(&nats, &[]).await];
    linked(&pods).await;
}

#[tokio::test]
async fn str_97_without_nats_links_stay_and_new_pods_are_found_after_it_reconnects() {
    let mut nats = Nats::start().await;
    // Leases lapse within the test.
    let flags = ["--limit=lease.interval=100", "--limit=lease.duration=300"];
    let mut pods = start(&nats, 2, &flags).await;
    let (mut reader, mut camera) = (pods[0].join("/out/lab").await, pods[1].join("/in/lab").await);
    pods[1].wanted(1).await;
    nats.kill().await;
    pods[0].until("nats_connected", |connected| connected == 0).await;
    pods.push(Pod::start(&nats, &[&flags[..], &["--pod=p2"]].concat()).await);
    for number in 0..200 {
        camera.send_text(&number.to_string()).await;
        assert_eq!(reader.receive_text().await, number.to_string());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(pods[0].get("/readyz").await.0, 200);
    assert_eq!(pods[2].metric("links_receiving").await, 0);
    nats.restart().await;
    linked(&pods).await;
    let mut new = pods[2].join("/out/lab").await;
    pods[1].wanted(2).await;
    camera.send_text("back").await;
    assert_eq!((new.receive_text().await, reader.receive_text().await), ("back".into(), "back".into()));
    let ended = pods[0].metrics().await;
    assert!(!ended.keys().any(|name| name.contains("LINK_IDLE_TIMEOUT") || name.contains("LINK_CLOSED")), "{ended:?}");
}
