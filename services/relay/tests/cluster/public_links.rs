//! The link port for other regions: who is let in there, and what may be requested.
use super::fake::{Fake, lease_of, public_lease_of, rest};
use super::nats::{Nats, settle};
use super::pod::{DEADLINE, Pod};
use super::regions::{PUBLIC, join, reached, start};
use parley_cluster::frames::{Header, Hello, Request};
use parley_cluster::lease::Lease;
use parley_net::ws::{Batch, Kind};
use parley_streams::Hop;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const REFUSED: &str = "link_ended_total{code=\"LINK_CERTIFICATE_INVALID\"}";
const NOWHERE: &str = "127.0.0.1:1";

fn subscribe(hop: Option<Hop>) -> Vec<u8> {
    let mut bytes = Vec::new();
    Request::Subscribe { number: 1, hop, replay: false, topic: "/out/lab".into() }.write(&mut bytes);
    bytes
}

async fn ended(pod: &Pod, code: &str, times: u64) {
    pod.until(&format!("link_ended_total{{code=\"{code}\"}}"), |ended| ended == times).await;
}

#[tokio::test]
async fn str_139_a_dialer_without_the_certificate_of_its_public_lease_is_refused_and_counted() {
    let nats = Nats::start().await;
    let flags = [PUBLIC, &["--limit=link.openTimeout=500"]].concat();
    let regions = start(&nats, &[("eu", 1), ("us", 1)], &flags).await;
    let pod = &regions[0].pods[0];
    let lease = public_lease_of(&nats, "eu_p0").await;
    let link = lease.link.to_string();
    let known = Fake::abroad(NOWHERE.parse().unwrap(), "ap", "known");
    known.publish_public_lease(&nats, "ap", "known").await;
    let unknown = Fake::abroad(NOWHERE.parse().unwrap(), "ap", "unknown");
    let cases =
        [(&unknown, "ap_unknown"), (&unknown, "ap_known"), (&known, "us_p0"), (&known, "known"), (&known, "p0")];
    for (at, (fake, name)) in cases.into_iter().enumerate() {
        assert_eq!(rest(fake.dial_at(&link, name, &lease, b"").await).await, b"", "{name}");
        pod.until(REFUSED, |refused| refused == at as u64 + 1).await;
    }
    // A pod of another region is not known at the port of this one.
    assert_eq!(rest(known.dial_at(&pod.link, "ap_known", &lease, b"").await).await, b"");
    pod.until(REFUSED, |refused| refused == 6).await;
    // The region whose name was forged keeps its links.
    let mut readers = [regions[1].pods[0].join("/out/lab").await];
    reached(&mut pod.join("/in/lab").await, &mut readers).await;
}

#[tokio::test]
async fn str_139_a_listener_with_another_certificate_than_in_its_public_lease_receives_nothing() {
    let nats = Nats::start().await;
    let pod = join(&nats, "eu", 0, PUBLIC).await;
    public_lease_of(&nats, "eu_p0").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let said = Fake::abroad(listener.local_addr().unwrap(), "us", "a");
    let other = Fake::abroad(listener.local_addr().unwrap(), "us", "a");
    said.publish_public_lease(&nats, "us", "a").await;
    let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled").unwrap();
    assert!(timeout(DEADLINE, other.identity.accept(stream)).await.expect("not refused").is_err());
    pod.until(REFUSED, |refused| refused == 1).await;
    assert_eq!(pod.metric("ocean_links_receiving").await, 0);
}

#[tokio::test]
async fn str_133_a_public_lease_on_the_subject_of_another_region_is_refused_and_counted() {
    let nats = Nats::start().await;
    let pod = join(&nats, "eu", 0, PUBLIC).await;
    public_lease_of(&nats, "eu_p0").await;
    let fake = Fake::abroad(NOWHERE.parse().unwrap(), "us", "a");
    let client = async_nats::connect(&nats.url).await.unwrap();
    let without = Lease { reach: Default::default(), ..fake.lease.clone() };
    for (region, name, lease) in [("ap", "a", &fake.lease), ("us", "b", &fake.lease), ("us", "us_a", &without)] {
        client.publish(format!("parley.v1.relay.public.{region}.{name}"), lease.bytes().into()).await.unwrap();
    }
    settle(&client).await;
    pod.until("lease_refusals_total{code=\"FOREIGN\"}", |refused| refused == 3).await;
    assert_eq!(pod.metric("link_ended_total{code=\"LINK_UNREACHABLE\"}").await, 0);
}

#[tokio::test]
async fn str_139_regions_and_pods_over_the_limits_are_refused_and_counted() {
    let nats = Nats::start().await;
    let limits = ["--limit=link.regions=2", "--limit=link.ocean.peers=1", "--limit=lease.duration=600000"];
    let pod = join(&nats, "eu", 0, &[PUBLIC, &limits].concat()).await;
    public_lease_of(&nats, "eu_p0").await;
    for (region, name) in [("us", "a"), ("us", "b"), ("ap", "a"), ("sa", "a")] {
        Fake::abroad(NOWHERE.parse().unwrap(), region, name).publish_public_lease(&nats, region, name).await;
    }
    pod.until("lease_refusals_total{code=\"FULL\"}", |refused| refused == 2).await;
}

#[tokio::test]
async fn str_139_connections_of_one_network_beyond_its_share_are_closed() {
    let nats = Nats::start().await;
    let limits = ["--limit=link.ocean.peers=1", "--limit=link.openTimeout=60000"];
    let pod = join(&nats, "eu", 0, &[PUBLIC, &limits].concat()).await;
    let link = public_lease_of(&nats, "eu_p0").await.link;
    let mut silent = Vec::new();
    for _ in 0..5 {
        silent.push(TcpStream::connect(link).await.unwrap());
    }
    // Two for each pod: one that it dialled before, and a new one.
    ended(&pod, "LINK_FULL", 3).await;
}

#[tokio::test]
async fn str_141_a_peer_gets_only_messages_of_the_hop_that_its_link_carries() {
    let nats = Nats::start().await;
    let pod = join(&nats, "eu", 0, PUBLIC).await;
    let lease = public_lease_of(&nats, "eu_p0").await;
    let abroad = Fake::abroad(NOWHERE.parse().unwrap(), "us", "a");
    abroad.publish_public_lease(&nats, "us", "a").await;
    let hello = Hello { pod: "eu_p0".into() }.bytes();
    for (times, hop) in [None, Some(Hop::Region), Some(Hop::Inland)].into_iter().enumerate() {
        let link = abroad.dial_at(&lease.link.to_string(), "us_a", &lease, &subscribe(hop)).await;
        assert_eq!(rest(link).await, hello, "{hop:?}");
        ended(&pod, "LINK_HOP_INVALID", times as u64 + 1).await;
    }
    let _link = abroad.dial_at(&lease.link.to_string(), "us_a", &lease, &subscribe(Some(Hop::Ocean))).await;
    pod.until("ocean_subscriptions", |count| count == 1).await;
    // The pod is a port of the topic now.
    assert_eq!(pod.metric("topics").await, 1);
    // A pod of its own region may not cross the ocean, and a pod that is no port serves none.
    let alone = Pod::start(&nats, &["--pod=alone"]).await;
    let (near, lease) = (Fake::new("near", 1), lease_of(&nats, "alone").await);
    near.publish_lease(&nats).await;
    for (times, hop) in [Hop::Ocean, Hop::Inland].into_iter().enumerate() {
        let hello = Hello { pod: "alone".into() }.bytes();
        assert_eq!(rest(near.dial(&alone, &lease, &subscribe(Some(hop))).await).await, hello, "{hop:?}");
        ended(&alone, "LINK_HOP_INVALID", times as u64 + 1).await;
    }
}

#[tokio::test]
async fn str_146_a_pod_of_before_gets_no_request_by_hop_and_its_messages_cross() {
    let nats = Nats::start().await;
    let pod = join(&nats, "local", 0, PUBLIC).await;
    let us = join(&nats, "us", 0, PUBLIC).await;
    us.until("ocean_links_receiving", |links| links == 1).await;
    let mut reader = us.join("/out/lab").await;
    pod.until("ocean_subscriptions", |count| count == 1).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut before = Fake::at(listener.local_addr().unwrap(), "before", 1);
    before.lease.reach = Default::default();
    before.publish_lease(&nats).await;
    let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled").unwrap();
    let (mut stream, _) = before.identity.accept(stream).await.unwrap();
    Hello::receive(&mut stream).await.unwrap();
    stream.write_all(&Hello { pod: "before".into() }.bytes()).await.unwrap();
    let (mut input, mut subscription) = (Vec::new(), None);
    while subscription.is_none() {
        stream.flush().await.unwrap();
        assert_ne!(stream.read_buf(&mut input).await.unwrap(), 0);
        while let Some((request, size)) = Request::read(&input).unwrap() {
            input.drain(..size);
            if let Request::Subscribe { number, hop, .. } = request {
                assert_eq!(hop, None);
                subscription = Some(number);
            }
        }
    }
    for text in ["one", "two"] {
        let batch = Batch::message(Kind::Text, text.as_bytes());
        let header = Header::of(subscription.unwrap(), &batch, None);
        stream.write_all(&[header.as_bytes(), batch.bytes()].concat()).await.unwrap();
        stream.flush().await.unwrap();
        assert_eq!(reader.receive_text().await, text);
    }
}
