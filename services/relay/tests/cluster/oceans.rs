//! Messages between regions: how often they cross, and what a slow or silent region costs the others.
use super::nats::Nats;
use super::pod::{Client, Pod};
use super::regions::{PUBLIC, Region, join, linked, reached, start, sum};
use crate::resident;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;

const MESSAGES: u64 = 100;
const SIZE: usize = 4600;

fn pods(regions: &[Region]) -> impl Iterator<Item = &Pod> {
    regions.iter().flat_map(|region| &region.pods)
}

/// Sends messages, and each reader receives all of them and nothing else.
async fn stream(camera: &mut Client, readers: &mut [Client]) {
    for at in 0..MESSAGES {
        let message = Message::binary(vec![at as u8; SIZE]);
        camera.send(message.clone()).await;
        for reader in readers.iter_mut() {
            assert!(reader.receive().await == message, "message {at}");
        }
    }
}

#[tokio::test]
async fn str_140_a_topic_crosses_the_ocean_once_whatever_the_number_of_readers() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 2)], PUBLIC).await;
    let mut readers = Vec::new();
    for pod in &regions[1].pods {
        for _ in 0..10 {
            readers.push(pod.join("/out/lab").await);
        }
    }
    let mut camera = regions[0].pods[0].join("/in/lab").await;
    reached(&mut camera, &mut readers).await;
    let before =
        (sum(pods(&regions), "ocean_sent_messages_total").await, sum(pods(&regions), "ocean_sent_bytes_total").await);
    stream(&mut camera, &mut readers).await;
    let after =
        (sum(pods(&regions), "ocean_sent_messages_total").await, sum(pods(&regions), "ocean_sent_bytes_total").await);
    assert_eq!(after.0 - before.0, MESSAGES);
    // A header of 34 bytes for each.
    assert_eq!(after.1 - before.1, MESSAGES * (SIZE as u64 + 4 + 34));
    assert_eq!(sum(&regions[0].pods, "ocean_received_messages_total").await, 0);
}

#[tokio::test]
async fn str_141_with_three_regions_each_message_arrives_once_and_crosses_each_ocean_once() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 2), ("ap", 1)], PUBLIC).await;
    let (mut readers, mut cameras) = (Vec::new(), Vec::new());
    for pod in pods(&regions) {
        readers.push(pod.join("/out/lab").await);
    }
    for region in &regions {
        let mut camera = region.pods[0].join("/in/lab").await;
        reached(&mut camera, &mut readers).await;
        cameras.push(camera);
    }
    for camera in &mut cameras {
        let before = sum(pods(&regions), "ocean_sent_messages_total").await;
        stream(camera, &mut readers).await;
        assert_eq!(sum(pods(&regions), "ocean_sent_messages_total").await - before, 2 * MESSAGES);
    }
}

#[tokio::test]
async fn str_140_a_topic_without_readers_in_another_region_does_not_cross() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 1)], PUBLIC).await;
    let (_other, mut camera) = (regions[1].pods[0].join("/out/other").await, regions[0].pods[0].join("/in/lab").await);
    let mut readers = [regions[0].pods[1].join("/out/lab").await];
    // The region has subscribed by then.
    let mut there = [regions[1].pods[0].join("/out/third").await];
    reached(&mut regions[0].pods[0].join("/in/third").await, &mut there).await;
    let before = sum(pods(&regions), "ocean_sent_messages_total").await;
    reached(&mut camera, &mut readers).await;
    stream(&mut camera, &mut readers).await;
    assert_eq!(sum(pods(&regions), "ocean_sent_messages_total").await, before);
}

#[tokio::test]
async fn str_139_relays_without_a_public_address_have_no_part_in_oceans_and_use_the_ports_of_their_region() {
    let nats = Nats::start().await;
    let eu = [join(&nats, "eu", 0, PUBLIC).await, join(&nats, "eu", 1, &[]).await];
    let us = [join(&nats, "us", 0, PUBLIC).await];
    // A region without any: as before.
    let ap = join(&nats, "ap", 0, &[]).await;
    for pod in [&eu[0], &us[0]] {
        pod.until("ocean_links_receiving", |links| links == 1).await;
        pod.until("ocean_links_sending", |links| links == 1).await;
    }
    let _alone = ap.join("/out/lab").await;
    let mut readers = [eu[1].join("/out/lab").await, us[0].join("/out/lab").await];
    for pod in [&eu[1], &us[0]] {
        let mut camera = pod.join("/in/lab").await;
        reached(&mut camera, &mut readers).await;
        stream(&mut camera, &mut readers).await;
    }
    assert_eq!(sum([&eu[1], &ap], "ocean_links_receiving").await, 0);
    assert_eq!(ap.metric("link_received_messages_total").await, 0);
}

#[tokio::test]
async fn str_143_a_region_that_is_frozen_holds_no_first_reader() {
    let nats = Nats::start().await;
    let flags = [PUBLIC, &["--limit=link.subscribeTimeout=10000", "--limit=link.idleTimeout=600000"]].concat();
    let regions = start(&nats, &[("eu", 1), ("us", 1)], &flags).await;
    regions[1].pods[0].signal("STOP");
    let began = Instant::now();
    let _first = regions[0].pods[0].join("/out/lab").await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(regions[0].pods[0].metric("upgrade_hold_seconds_count").await, 0);
}

#[tokio::test]
async fn str_145_a_slow_region_delays_no_reader_here_and_its_backlog_is_bounded_and_counted() {
    const LARGE: usize = 50_000;
    let nats = Nats::start().await;
    let flags = [
        PUBLIC,
        &["--limit=link.idleTimeout=600000", "--limit=link.bytes=20000000", "--limit=link.ocean.backlogBytes=21000000"],
    ];
    let regions = start(&nats, &[("eu", 1), ("us", 1)], &flags.concat()).await;
    let [here, there] = [0, 1].map(|at| &regions[at].pods[0]);
    let (mut far, mut near, mut camera) =
        (there.join("/out/lab").await, here.join("/out/lab").await, here.join("/in/lab").await);
    here.until("ocean_subscriptions", |count| count == 1).await;
    there.signal("STOP");
    let before = resident::of(here.pid());
    for number in 0..2000_u32 {
        let message = Message::binary([&number.to_be_bytes()[..], &[7; LARGE]].concat());
        camera.send(message.clone()).await;
        assert!(near.receive().await == message);
    }
    let metrics = here.metrics().await;
    assert!(metrics["ocean_queued_bytes"] <= 20e6 && metrics["ocean_queued_bytes"] > 10e6, "{metrics:?}");
    assert!(metrics["ocean_dropped_messages_total"] > 1000.0, "{metrics:?}");
    assert_eq!((metrics["link_dropped_messages_total"], metrics["dropped_messages_total"]), (0.0, 0.0));
    let grown = resident::of(here.pid()).saturating_sub(before);
    assert!(grown < 60_000, "{grown} KB");
    there.signal("CONT");
    let mut last = None;
    while last != Some(1999) {
        let Message::Binary(bytes) = far.receive().await else { panic!("text") };
        let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        assert!(last < Some(number) && bytes.len() == LARGE + 4);
        last = Some(number);
    }
}

#[tokio::test]
async fn str_144_the_first_readers_of_a_region_receive_the_kept_messages_of_others_once() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 2)], &[PUBLIC, &["--replay=/out/lab/=3"]].concat()).await;
    for topic in 0..4 {
        let mut camera = regions[0].pods[0].join(&format!("/in/lab/{topic}")).await;
        for number in 0..5 {
            camera.send_text(&number.to_string()).await;
        }
        regions[0].pods[0].until("received_messages_total", |received| received == 5 + 6 * topic).await;
        let mut readers = Vec::new();
        for pod in &regions[1].pods {
            let mut reader = pod.join(&format!("/out/lab/{topic}")).await;
            for expected in ["2", "3", "4"] {
                assert_eq!(reader.receive_text().await, expected, "topic {topic}");
            }
            readers.push(reader);
        }
        camera.send_text("now").await;
        for reader in &mut readers {
            assert_eq!(reader.receive_text().await, "now");
        }
    }
}

#[tokio::test]
async fn str_139_a_region_that_starts_later_is_linked_without_a_restart() {
    let nats = Nats::start().await;
    let mut regions = start(&nats, &[("eu", 1)], PUBLIC).await;
    let mut camera = regions[0].pods[0].join("/in/lab").await;
    regions.push(Region { pods: vec![join(&nats, "us", 0, PUBLIC).await] });
    linked(&regions).await;
    let mut readers = [regions[1].pods[0].join("/out/lab").await];
    reached(&mut camera, &mut readers).await;
}

#[tokio::test]
async fn str_145_a_topic_is_open_on_its_ports_while_it_crosses_and_no_longer() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 2), ("us", 2)], PUBLIC).await;
    let mut readers = Vec::new();
    for pod in &regions[1].pods {
        readers.push(pod.join("/out/lab").await);
    }
    let mut camera = regions[0].pods[0].join("/in/lab").await;
    reached(&mut camera, &mut readers).await;
    assert_eq!(sum(&regions[0].pods, "ocean_subscriptions").await, 1);
    drop((camera, readers));
    for pod in pods(&regions) {
        for name in ["topics", "ocean_subscriptions", "link_subscriptions"] {
            pod.until(name, |count| count == 0).await;
        }
    }
}

#[tokio::test]
async fn str_145_a_port_refuses_topics_over_pod_topics_and_counts_them() {
    let nats = Nats::start().await;
    let eu = join(&nats, "eu", 0, &[PUBLIC, &["--limit=pod.topics=1"]].concat()).await;
    let us = join(&nats, "us", 0, PUBLIC).await;
    for pod in [&eu, &us] {
        pod.until("ocean_links_receiving", |links| links == 1).await;
    }
    let mut readers = [us.join("/out/first").await];
    eu.until("ocean_subscriptions", |count| count == 1).await;
    let _second = us.join("/out/second").await;
    eu.until("link_subscription_refusals_total", |refused| refused == 1).await;
    reached(&mut eu.join("/in/first").await, &mut readers).await;
    assert_eq!((eu.metric("topics").await, eu.metric("ocean_links_sending").await), (1, 1));
}
