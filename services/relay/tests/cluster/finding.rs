//! Pods come and go, and NATS with them.
use super::nats::Nats;
use super::pod::{Pod, linked, start};

#[tokio::test]
async fn str_90_a_pod_that_comes_later_is_found_without_any_setting() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 2, &[]).await;
    let mut camera = pods[0].join("/in/lab").await;
    pods.push(Pod::start(&nats, &["--pod=later"]).await);
    linked(&pods).await;
    let mut reader = pods[2].join("/out/lab").await;
    pods[0].wanted(1).await;
    camera.say("found").await;
    assert_eq!(reader.hear_text().await, "found");
}

#[tokio::test]
async fn str_90_a_lease_is_said_as_soon_as_the_server_is_there() {
    let nats = Nats::start().await;
    // The next one would come too late.
    let pods = start(&nats, 2, &["--limit=lease.interval=60000", "--limit=lease.duration=120000"]).await;
    linked(&pods).await;
}

#[tokio::test]
async fn str_90_what_the_relays_user_may_do_on_nats_is_enough() {
    let nats = Nats::start_as_in_the_chart().await;
    let stranger = Pod::start(&nats, &["--pod=stranger"]).await;
    let pods = start(&nats, 2, &[]).await;
    let mut reader = pods[0].join("/out/lab").await;
    pods[1].wanted(1).await;
    pods[1].join("/in/lab").await.say("allowed").await;
    assert_eq!(reader.hear_text().await, "allowed");
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
    camera.say("alone").await;
    assert_eq!(reader.hear_text().await, "alone");
    nats.again().await;
    let pods = [pod, Pod::start(&nats, &[]).await];
    linked(&pods).await;
}

#[tokio::test]
async fn str_97_nats_away_cuts_no_link_and_new_pods_are_found_once_it_is_back() {
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
        camera.say(&number.to_string()).await;
        assert_eq!(reader.hear_text().await, number.to_string());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(pods[0].get("/readyz").await.0, 200);
    assert_eq!(pods[2].metric("links_receiving").await, 0);
    nats.again().await;
    linked(&pods).await;
    let mut new = pods[2].join("/out/lab").await;
    pods[1].wanted(2).await;
    camera.say("back").await;
    assert_eq!((new.hear_text().await, reader.hear_text().await), ("back".into(), "back".into()));
    let ended = pods[0].metrics().await;
    assert!(!ended.keys().any(|name| name.contains("LINK_IDLE_TIMEOUT") || name.contains("LINK_CLOSED")), "{ended:?}");
}
