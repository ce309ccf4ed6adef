//! The port of a topic ends, or another one becomes it: the topic moves, and no reader receives a message twice.
use super::fake::{Fake, Tls};
use super::nats::Nats;
use super::pod::{Client, DEADLINE, Pod};
use super::regions::{PUBLIC, Region, join, linked, reached, start};
use parley_cluster::frames::{Header, Hello, Passage, Request};
use parley_net::ws::{Batch, Kind};
use parley_streams::{Hop, Stamp};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

/// Relays that lose a peer soon, and dial it seldom.
const QUICK: &[&str] =
    &["--link-listen-public=127.0.0.1:0", "--limit=lease.interval=100", "--limit=lease.duration=300"];

/// Sends numbers from `from` on until the reader receives one that was sent after the first `must`; each is greater than the one before. Returns the
/// next number to send, and how many were lost.
async fn resumes(camera: &mut Client, reader: &mut Client, from: u32, must: u32) -> (u32, u32) {
    let (mut next, mut last, mut received) = (from, from.checked_sub(1), 0);
    let resuming = async {
        loop {
            camera.send_text(&next.to_string()).await;
            next += 1;
            let Ok(text) = timeout(Duration::from_millis(5), reader.receive_text()).await else { continue };
            let number: u32 = text.parse().unwrap();
            assert!(last < Some(number), "{number} after {last:?}");
            (last, received) = (Some(number), received + 1);
            if number >= from + must {
                return;
            }
        }
    };
    timeout(DEADLINE, resuming).await.expect("the topic does not move");
    // What is still on its way.
    while last.unwrap() + 1 < next {
        let number: u32 = reader.receive_text().await.parse().unwrap();
        assert!(last < Some(number), "{number} after {last:?}");
        (last, received) = (Some(number), received + 1);
    }
    (next, next - from - received)
}

/// A topic of `region` whose port there is not the first pod, and which has a reader on a pod of `other` that is not its port there: its camera
/// and reader, and both ports.
async fn away_from_ports(from: &Region, to: &Region) -> (Client, Client, usize, usize) {
    for topic in 0..100 {
        let before = async |pods: &[Pod], name: &str| {
            let mut counts = Vec::new();
            for pod in pods {
                counts.push(pod.metric(name).await);
            }
            counts
        };
        let (sent, received) = ("ocean_sent_messages_total", "ocean_received_messages_total");
        let counts = (before(&from.pods, sent).await, before(&to.pods, received).await);
        let mut camera = from.pods[0].join(&format!("/in/{topic}")).await;
        let mut readers = [to.pods[0].join(&format!("/out/{topic}")).await];
        reached(&mut camera, &mut readers).await;
        let after = (before(&from.pods, sent).await, before(&to.pods, received).await);
        let changed =
            |before: Vec<u64>, after: Vec<u64>| before.iter().zip(&after).position(|(before, after)| before < after);
        let ports = (changed(counts.0, after.0).unwrap(), changed(counts.1, after.1).unwrap());
        if ports.0 > 0 && ports.1 > 0 {
            let [reader] = readers;
            return (camera, reader, ports.0, ports.1);
        }
    }
    panic!("every topic has a port on the first pods");
}

#[tokio::test]
async fn str_142_a_killed_port_of_either_region_is_replaced_and_no_message_arrives_twice() {
    let nats = Nats::start().await;
    let mut regions = start(&nats, &[("eu", 3), ("us", 3)], QUICK).await;
    let (mut camera, mut reader, from, to) = away_from_ports(&regions[0], &regions[1]).await;
    let (next, _) = resumes(&mut camera, &mut reader, 0, 50).await;
    regions[1].pods.remove(to).kill().await;
    let (next, lost) = resumes(&mut camera, &mut reader, next, 100).await;
    println!("{lost} lost with the port of the readers");
    regions[0].pods.remove(from).kill().await;
    let (_, lost) = resumes(&mut camera, &mut reader, next, 100).await;
    println!("{lost} lost with the port of the publisher");
}

#[tokio::test]
async fn str_142_a_port_that_drains_is_replaced_and_no_message_arrives_twice() {
    let nats = Nats::start().await;
    let regions = start(&nats, &[("eu", 3), ("us", 3)], QUICK).await;
    let (mut camera, mut reader, from, to) = away_from_ports(&regions[0], &regions[1]).await;
    let (mut next, _) = resumes(&mut camera, &mut reader, 0, 50).await;
    for port in [&regions[1].pods[to], &regions[0].pods[from]] {
        port.signal("TERM");
        let lost;
        (next, lost) = resumes(&mut camera, &mut reader, next, 200).await;
        println!("{lost} lost");
    }
}

#[tokio::test]
async fn str_142_topics_move_to_relays_that_join_and_no_message_arrives_twice() {
    let nats = Nats::start().await;
    let mut regions = start(&nats, &[("eu", 1), ("us", 1)], QUICK).await;
    let mut streams = Vec::new();
    for topic in 0..10 {
        let mut camera = regions[0].pods[0].join(&format!("/in/{topic}")).await;
        let mut readers = [regions[1].pods[0].join(&format!("/out/{topic}")).await];
        reached(&mut camera, &mut readers).await;
        let [reader] = readers;
        streams.push((camera, reader, 0));
    }
    for at in 1..3 {
        for (region, name) in [(0, "eu"), (1, "us")] {
            let pod = join(&nats, name, at, QUICK).await;
            regions[region].pods.push(pod);
            for (camera, reader, next) in &mut streams {
                *next = resumes(camera, reader, *next, 20).await.0;
            }
        }
    }
    linked(&regions).await;
    for (camera, reader, next) in &mut streams {
        *next = resumes(camera, reader, *next, 20).await.0;
    }
    // The topics did move.
    for (region, name) in [(0, "ocean_sent_messages_total"), (1, "ocean_received_messages_total")] {
        for pod in &regions[region].pods {
            assert!(pod.metric(name).await > 0, "{name}");
        }
    }
}

/// A fake port that was dialled.
struct Port {
    tls: Tls,
    input: Vec<u8>,
}

impl Port {
    async fn accept(listener: &TcpListener, fake: &Fake) -> Self {
        let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled").unwrap();
        let (mut tls, _) = fake.identity.accept(stream).await.unwrap();
        assert_eq!(Hello::receive(&mut tls).await.unwrap().pod, "eu_p0");
        tls.write_all(&Hello { pod: fake.lease.pod.clone() }.bytes()).await.unwrap();
        tls.flush().await.unwrap();
        Self { tls, input: Vec::new() }
    }

    /// Returns the number of the next subscription.
    async fn subscription(&mut self) -> u64 {
        loop {
            while let Some((request, size)) = Request::read(&self.input).unwrap() {
                self.input.drain(..size);
                if let Request::Subscribe { number, hop, replay, topic } = request {
                    assert_eq!((hop, replay, &*topic), (Some(Hop::Ocean), true, "/out/lab"));
                    return number;
                }
            }
            assert_ne!(self.tls.read_buf(&mut self.input).await.unwrap(), 0);
        }
    }

    /// Sends a message with the number and the stamp. Without a hop: as within a region.
    async fn send(&mut self, number: u64, hop: Option<Hop>, sequence: u64) {
        let batch = Batch::message(Kind::Text, format!("{sequence}").as_bytes());
        let passage = hop.map(|hop| Passage { hop, stamp: Stamp { origin: 7, sequence } });
        let header = Header::of(number, &batch, passage);
        self.tls.write_all(&[header.as_bytes(), batch.bytes()].concat()).await.unwrap();
        self.tls.flush().await.unwrap();
    }
}

/// Publishes a port of region `us`, and returns it when it was dialled, with its listener.
async fn us_port(nats: &Nats, name: &str) -> (Port, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let fake = Fake::abroad(listener.local_addr().unwrap(), "us", name);
    fake.publish_public_lease(nats, "us", name).await;
    (Port::accept(&listener, &fake).await, listener)
}

const HOP_INVALID: &str = "link_ended_total{code=\"LINK_HOP_INVALID\"}";

#[tokio::test]
async fn str_142_messages_that_a_new_port_sends_again_are_dropped_and_counted() {
    let nats = Nats::start().await;
    let pod = join(&nats, "eu", 0, PUBLIC).await;
    super::fake::public_lease_of(&nats, "eu_p0").await;
    let mut reader = pod.join("/out/lab").await;
    let (mut old, old_listener) = us_port(&nats, "a").await;
    let number = old.subscription().await;
    for sequence in [1, 2, 3] {
        old.send(number, Some(Hop::Ocean), sequence).await;
        assert_eq!(reader.receive_text().await, sequence.to_string());
    }
    let (mut new, _listener) = us_port(&nats, "b").await;
    // The second one is the port from now on, if not already since it was linked.
    drop((old, old_listener));
    let number = new.subscription().await;
    for sequence in [2, 3, 4] {
        new.send(number, Some(Hop::Ocean), sequence).await;
    }
    assert_eq!(reader.receive_text().await, "4");
    assert_eq!(pod.metric("ocean_duplicate_messages_total").await, 2);
    // A message of another hop than the requested one would go back.
    new.send(number, Some(Hop::Region), 5).await;
    pod.until(HOP_INVALID, |ended| ended == 1).await;
}

#[tokio::test]
async fn str_141_a_relay_of_another_region_sends_no_messages_as_if_they_were_of_this_one() {
    let nats = Nats::start().await;
    let pod = join(&nats, "eu", 0, PUBLIC).await;
    super::fake::public_lease_of(&nats, "eu_p0").await;
    let mut reader = pod.join("/out/lab").await;
    let names = ["a", "b", "c"];
    for (at, hop) in [None, Some(Hop::Region), Some(Hop::Inland)].into_iter().enumerate() {
        let (mut port, _listener) = us_port(&nats, names[at]).await;
        // The pod numbered the subscription in its region first.
        assert_eq!(port.subscription().await, at as u64 + 2);
        port.send(1, hop, 1).await;
        pod.until(HOP_INVALID, |ended| ended == at as u64 + 1).await;
    }
    let (mut port, _listener) = us_port(&nats, "d").await;
    let number = port.subscription().await;
    port.send(number, Some(Hop::Ocean), 2).await;
    // Nothing came before.
    assert_eq!(reader.receive_text().await, "2");
}
