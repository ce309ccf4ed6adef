//! Who is at the other end of a link, and what the network between two pods sees of it.
use super::fake::{Fake, lease_of, rest, without_certificate};
use super::nats::Nats;
use super::pod::{DEADLINE, Pod, linked, start};
use super::wire::Wire;
use parley_cluster::frames::Hello;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::timeout;

const REFUSED: &str = "link_ended_total{code=\"LINK_CERTIFICATE_INVALID\"}";

#[tokio::test]
async fn str_136_a_dialer_that_is_not_the_pod_it_says_is_refused_and_counted() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.openTimeout=500"]).await;
    let (pod, lease) = (&pods[0], lease_of(&nats, "p0").await);
    // It is in TLS 1.3 that a client is done before its certificate was looked at.
    if let Ok(stream) = without_certificate(pod).await {
        assert_eq!(rest(stream).await, b"");
    }
    pod.until(REFUSED, |refused| refused == 1).await;
    let (known, unknown) = (Fake::new("known", 1), Fake::new("unknown", 1));
    known.say(&nats).await;
    let cases = [(&unknown, "unknown"), (&unknown, "known"), (&known, "unknown"), (&known, "p1"), (&known, "p0")];
    for (at, (fake, name)) in cases.into_iter().enumerate() {
        assert_eq!(rest(fake.dial_as(name, pod, &lease, b"").await).await, b"", "{name}");
        pod.until(REFUSED, |refused| refused == at as u64 + 2).await;
    }
    // The pod whose name was taken in vain keeps its link.
    assert_eq!((pod.metric("links_sending").await, pod.metric("links_receiving").await), (1, 1));
    let hello = Hello { pod: "p0".into() }.bytes();
    let mut answer = vec![0; hello.len()];
    known.dial(pod, &lease, b"").await.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, hello);
}

#[tokio::test]
async fn str_136_a_lease_with_another_pods_certificate_gets_its_pod_no_link_and_that_pod_keeps_its_own() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.openTimeout=500"]).await;
    let of_p1 = lease_of(&nats, "p1").await;
    let mut thief = Fake::new("thief", 1);
    (thief.lease.certificate, thief.lease.link) = (of_p1.certificate, of_p1.link);
    thief.say(&nats).await;
    // Each dials p1 under the thief's name, and hears who is there.
    for pod in &pods {
        pod.until(REFUSED, |refused| refused >= 1).await;
    }
    let lease = lease_of(&nats, "p0").await;
    assert_eq!(rest(thief.dial(&pods[0], &lease, b"").await).await, b"");
    linked(&pods).await;
}

#[tokio::test]
async fn str_136_a_listener_with_another_certificate_than_its_lease_says_is_not_spoken_to() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0"]).await;
    lease_of(&nats, "p0").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (said, other) = (Fake::at(listener.local_addr().unwrap(), "fake", 1), Fake::new("fake", 1));
    said.say(&nats).await;
    let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled").unwrap();
    // The dialer's own certificate, and with it its hello, would come after the listener's.
    assert!(timeout(DEADLINE, other.identity.accept(stream)).await.expect("not refused").is_err());
    pod.until(REFUSED, |refused| refused == 1).await;
    assert_eq!(pod.metric("links_receiving").await, 0);
    let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled again").unwrap();
    let (mut stream, _) = said.identity.accept(stream).await.unwrap();
    assert_eq!(Hello::receive(&mut stream).await, Ok(Hello { pod: "p0".into() }));
}

#[tokio::test]
async fn str_137_a_dialer_whose_lease_comes_after_it_is_waited_for() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0", "--limit=link.openTimeout=30000"]).await;
    let (lease, early) = (lease_of(&nats, "p0").await, Fake::new("early", 1));
    let mut stream = early.dial(&pod, &lease, b"").await;
    let mut answer = [0; 1];
    assert!(timeout(Duration::from_millis(300), stream.read(&mut answer)).await.is_err(), "answered a stranger");
    let said = Instant::now();
    early.say(&nats).await;
    timeout(DEADLINE, stream.read_exact(&mut answer)).await.expect("not let in").unwrap();
    assert!(said.elapsed() < Duration::from_secs(5));
    pod.until("links_sending", |links| links == 1).await;
}

#[tokio::test]
async fn str_137_pods_are_linked_about_a_second_after_the_later_one_came() {
    let nats = Nats::start().await;
    // Leases that are said by the interval alone would come too late.
    let flags = ["--limit=lease.interval=60000", "--limit=lease.duration=120000"];
    let mut pods = vec![Pod::start(&nats, &[&flags[..], &["--pod=p0"]].concat()).await];
    pods[0].until("nats_connected", |connected| connected == 1).await;
    pods.push(Pod::start(&nats, &[&flags[..], &["--pod=p1"]].concat()).await);
    let came = Instant::now();
    linked(&pods).await;
    assert!(came.elapsed() < Duration::from_millis(1500), "{:?}", came.elapsed());
}

#[tokio::test]
async fn str_138_the_network_between_two_pods_reads_neither_names_nor_messages() {
    let nats = Nats::start().await;
    let wire = Wire::new().await;
    let sends = Pod::start(&nats, &["--pod=sends-in-private", &format!("--link-advertise={}", wire.address)]).await;
    wire.lead_to(&sends.link);
    let hears = Pod::start(&nats, &["--pod=hears-in-private"]).await;
    let pods = [sends, hears];
    linked(&pods).await;
    let mut reader = pods[1].join("/out/secret-topic").await;
    pods[0].wanted(1).await;
    let mut camera = pods[0].join("/in/secret-topic").await;
    for _ in 0..100 {
        camera.say("a message that is nobody else's").await;
        assert_eq!(reader.hear_text().await, "a message that is nobody else's");
    }
    let seen = wire.seen();
    // All of it went over the wire.
    assert!(seen.len() > 100 * 31, "{} bytes", seen.len());
    for readable in ["in-private", "secret-topic", "nobody else's", "message"] {
        let found = seen.windows(readable.len()).any(|window| window == readable.as_bytes());
        assert!(!found, "{readable}");
    }
}
