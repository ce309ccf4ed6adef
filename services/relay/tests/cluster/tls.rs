//! Authentication and encryption of links.
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
async fn str_136_a_dialer_that_is_not_the_pod_it_claims_to_be_is_refused_and_counted() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.openTimeout=500"]).await;
    let (pod, lease) = (&pods[0], lease_of(&nats, "p0").await);
    // In TLS 1.3 the handshake of a client completes before the server verifies its certificate.
    if let Ok(stream) = without_certificate(pod).await {
        assert_eq!(rest(stream).await, b"");
    }
    pod.until(REFUSED, |refused| refused == 1).await;
    let (known, unknown) = (Fake::new("known", 1), Fake::new("unknown", 1));
    known.publish_lease(&nats).await;
    let cases = [(&unknown, "unknown"), (&unknown, "known"), (&known, "unknown"), (&known, "p1"), (&known, "p0")];
    for (at, (fake, name)) in cases.into_iter().enumerate() {
        assert_eq!(rest(fake.dial_as(name, pod, &lease, b"").await).await, b"", "{name}");
        pod.until(REFUSED, |refused| refused == at as u64 + 2).await;
    }
    // The pod whose name was forged keeps its link.
    assert_eq!((pod.metric("links_sending").await, pod.metric("links_receiving").await), (1, 1));
    let hello = Hello { pod: "p0".into() }.bytes();
    let mut answer = vec![0; hello.len()];
    known.dial(pod, &lease, b"").await.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, hello);
}

#[tokio::test]
async fn str_136_a_lease_with_the_certificate_of_another_pod_gets_no_link_and_the_other_pod_keeps_its_own() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.openTimeout=500"]).await;
    let of_p1 = lease_of(&nats, "p1").await;
    let mut thief = Fake::new("thief", 1);
    (thief.lease.certificate, thief.lease.link) = (of_p1.certificate, of_p1.link);
    thief.publish_lease(&nats).await;
    // Each pod dials p1 under the forged name, and authenticates p1.
    for pod in &pods {
        pod.until(REFUSED, |refused| refused >= 1).await;
    }
    let lease = lease_of(&nats, "p0").await;
    assert_eq!(rest(thief.dial(&pods[0], &lease, b"").await).await, b"");
    linked(&pods).await;
}

#[tokio::test]
async fn str_136_a_listener_with_another_certificate_than_in_its_lease_receives_nothing() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0"]).await;
    lease_of(&nats, "p0").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (said, other) = (Fake::at(listener.local_addr().unwrap(), "fake", 1), Fake::new("fake", 1));
    said.publish_lease(&nats).await;
    let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled").unwrap();
    // The certificate of the dialer, and its hello, would arrive after that of the listener.
    assert!(timeout(DEADLINE, other.identity.accept(stream)).await.expect("not refused").is_err());
    pod.until(REFUSED, |refused| refused == 1).await;
    assert_eq!(pod.metric("links_receiving").await, 0);
    let (stream, _) = timeout(DEADLINE, listener.accept()).await.expect("not dialled again").unwrap();
    let (mut stream, _) = said.identity.accept(stream).await.unwrap();
    assert_eq!(Hello::receive(&mut stream).await, Ok(Hello { pod: "p0".into() }));
}

#[tokio::test]
async fn str_137_a_dialer_waits_until_its_lease_arrives() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0", "--limit=link.openTimeout=30000"]).await;
    let (lease, early) = (lease_of(&nats, "p0").await, Fake::new("early", 1));
    let mut stream = early.dial(&pod, &lease, b"").await;
    let mut answer = [0; 1];
    assert!(
        timeout(Duration::from_millis(300), stream.read(&mut answer)).await.is_err(),
        "an unknown dialer was answered"
    );
    let said = Instant::now();
    early.publish_lease(&nats).await;
    timeout(DEADLINE, stream.read_exact(&mut answer)).await.expect("not accepted").unwrap();
    assert!(said.elapsed() < Duration::from_secs(5));
    pod.until("links_sending", |links| links == 1).await;
}

#[tokio::test]
async fn str_137_pods_are_linked_about_a_second_after_the_later_one_started() {
    let nats = Nats::start().await;
    // Leases that are published at the interval only would be too late.
    let flags = ["--limit=lease.interval=60000", "--limit=lease.duration=120000"];
    let mut pods = vec![Pod::start(&nats, &[&flags[..], &["--pod=p0"]].concat()).await];
    pods[0].until("nats_connected", |connected| connected == 1).await;
    pods.push(Pod::start(&nats, &[&flags[..], &["--pod=p1"]].concat()).await);
    let came = Instant::now();
    linked(&pods).await;
    assert!(came.elapsed() < Duration::from_millis(1500), "{:?}", came.elapsed());
}

#[tokio::test]
async fn str_138_a_link_exposes_neither_names_nor_messages() {
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
        camera.send_text("a secret message").await;
        assert_eq!(reader.receive_text().await, "a secret message");
    }
    let seen = wire.seen();
    // All of it went through the proxy.
    assert!(seen.len() > 100 * 16, "{} bytes", seen.len());
    for readable in ["in-private", "secret-topic", "a secret message", "message"] {
        let found = seen.windows(readable.len()).any(|window| window == readable.as_bytes());
        assert!(!found, "{readable}");
    }
}
