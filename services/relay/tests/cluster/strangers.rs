//! Refused connections to the link port, and messages that end a link.
use super::fake::{Fake, lease_of, rest};
use super::nats::{Nats, settle};
use super::pod::{DEADLINE, Pod, start};
use parley_cluster::frames::{Hello, MAX_BATCH, Request, VERSION, acknowledgement};
use parley_cluster::lease::Lease;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// A fatal TLS alert in plain text: its type, version and length, followed by the reason.
const ALERT: [u8; 6] = [21, 3, 3, 0, 2, 2];

#[tokio::test]
async fn str_91_an_unknown_client_is_refused_and_counted() {
    let nats = Nats::start().await;
    let hasty = Pod::start(&nats, &["--region=hasty", "--limit=link.openTimeout=300"]).await;
    let patient = Pod::start(&nats, &["--limit=link.openTimeout=30000"]).await;
    let cases: [(&Pod, &[u8], &str); 4] = [
        (&patient, b"GET / HTTP/1.1\r\n\r\n", "LINK_VERSION_MISMATCH"),
        // The bytes before TLS.
        (&patient, &[&[2][..], &[7; 32], &1_u64.to_be_bytes(), b"\x08stranger"].concat(), "LINK_VERSION_MISMATCH"),
        (&hasty, &[22, 3, 1], "LINK_TIMEOUT"),
        (&hasty, b"", "LINK_TIMEOUT"),
    ];
    for (pod, says, code) in cases {
        let name = format!("link_ended_total{{code=\"{code}\"}}");
        let before = pod.metric(&name).await;
        let mut stream = TcpStream::connect(&pod.link).await.unwrap();
        stream.write_all(says).await.unwrap();
        let answer = rest(stream).await;
        assert!(answer.is_empty() || answer.starts_with(&ALERT), "{code}: {answer:x?}");
        pod.until(&name, |ended| ended == before + 1).await;
    }
    for pod in [hasty, patient] {
        assert_eq!(pod.metric("links_sending").await, 0);
        assert_eq!(pod.get("/readyz").await.0, 200);
    }
}

#[tokio::test]
async fn str_91_a_pod_without_a_hello_of_this_version_is_refused_and_counted() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0", "--limit=link.openTimeout=1000"]).await;
    let lease = lease_of(&nats, "p0").await;
    let fake = Fake::new("fake", 1);
    fake.publish_lease(&nats).await;
    let cases: [(&[u8], &str); 4] = [
        (&[VERSION - 1, 4, b'f', b'a', b'k', b'e'], "LINK_VERSION_MISMATCH"),
        (&[VERSION, 0], "LINK_PROTOCOL_ERROR"),
        (&[VERSION, 1, 0xff], "LINK_PROTOCOL_ERROR"),
        (&[VERSION, 4, b'f'], "LINK_TIMEOUT"),
    ];
    for (says, code) in cases {
        let name = format!("link_ended_total{{code=\"{code}\"}}");
        let stream = TcpStream::connect(&pod.link).await.unwrap();
        let mut stream = fake.identity.connect(stream, lease.certificate).await.unwrap();
        stream.write_all(says).await.unwrap();
        let before = pod.metric(&name).await;
        assert_eq!(rest(stream).await, b"", "{code}");
        pod.until(&name, |ended| ended > 0 && ended >= before).await;
    }
    assert_eq!(pod.metric("links_sending").await, 0);
}

const FAKE: &str = "parley.v1.relay.lease.local.fake";

fn requests(requests: &[Request]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for request in requests {
        request.write(&mut bytes);
    }
    bytes
}

async fn talk_crosses(pods: &[Pod]) {
    let mut reader = pods[1].join("/out/lab").await;
    pods[0].wanted(1).await;
    pods[0].join("/in/lab").await.send_text("still here").await;
    assert_eq!(reader.receive_text().await, "still here");
}

#[tokio::test]
async fn str_94_an_invalid_request_ends_the_link_of_its_peer_only() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[]).await;
    let lease = lease_of(&nats, "p0").await;
    let rude = Fake::new("rude", 1);
    rude.publish_lease(&nats).await;
    let want = |number| Request::Subscribe { number, hop: None, replay: true, topic: "/x".into() };
    let cases = [
        (vec![9], "LINK_PROTOCOL_ERROR"),
        ([&[1][..], &[0; 8], &[0, 0xff, 0xff]].concat(), "LINK_PROTOCOL_ERROR"),
        ([&[1][..], &[0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 1, 0xff]].concat(), "LINK_PROTOCOL_ERROR"),
        (requests(&[want(0)]), "LINK_SUBSCRIPTION_ID"),
        (requests(&[want(5), want(5)]), "LINK_SUBSCRIPTION_ID"),
        (requests(&[want(5), want(4)]), "LINK_SUBSCRIPTION_ID"),
        (requests(&[want(5), want(6)]), "LINK_SUBSCRIPTION_ID"),
        (requests(&[Request::Unsubscribe { number: 1 }]), "LINK_SUBSCRIPTION_ID"),
    ];
    for (says, code) in cases {
        let name = format!("link_ended_total{{code=\"{code}\"}}");
        let before = pods[0].metric(&name).await;
        let answer = rest(rude.dial(&pods[0], &lease, &says).await).await;
        assert_eq!(answer, Hello { pod: "p0".into() }.bytes(), "{code}");
        pods[0].until(&name, |ended| ended == before + 1).await;
        pods[0].wanted(0).await;
    }
    assert_eq!(pods[0].metric("links_sending").await, 1);
    talk_crosses(&pods).await;
}

#[tokio::test]
async fn str_94_peers_that_send_requests_without_end_do_not_block_the_thread() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0", "--threads=1"]).await;
    let lease = lease_of(&nats, "p0").await;
    let pings = requests(&[Request::Ping { stamp: 1, round_trip: 1 }]).repeat(20_000);
    for at in 0..3 {
        let rude = Fake::new(&format!("rude{at}"), 1);
        rude.publish_lease(&nats).await;
        let (mut answers, mut asks) = tokio::io::split(rude.dial(&pod, &lease, b"").await);
        let pings = pings.clone();
        // They run on their own threads: the single thread of a test would limit them.
        let both = async move {
            let asking = async { while asks.write_all(&pings).await.is_ok() {} };
            tokio::join!(asking, async { drop(tokio::io::copy(&mut answers, &mut tokio::io::sink()).await) });
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(both);
        });
    }
    pod.until("links_sending", |links| links == 3).await;
    for _ in 0..10 {
        assert_eq!(pod.get("/healthz").await.0, 200);
    }
}

#[tokio::test]
async fn str_97_a_newer_link_of_a_pod_ends_the_older_one_and_an_earlier_epoch_is_refused() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0"]).await;
    let lease = lease_of(&nats, "p0").await;
    let dial = async |fake: &Fake| fake.dial(&pod, &lease, b"").await;
    let [earlier, later] = [5, 6].map(|epoch| Fake::new("again", epoch));
    earlier.publish_lease(&nats).await;
    let _first = dial(&earlier).await;
    pod.until("links_sending", |links| links == 1).await;
    let _second = dial(&earlier).await;
    pod.until("link_ended_total{code=\"LINK_REPLACED\"}", |ended| ended == 1).await;
    later.publish_lease(&nats).await;
    let _third = dial(&later).await;
    pod.until("link_ended_total{code=\"LINK_REPLACED\"}", |ended| ended == 2).await;
    let _fourth = dial(&earlier).await;
    pod.until("link_ended_total{code=\"LINK_CERTIFICATE_INVALID\"}", |ended| ended == 1).await;
    pod.until("links_sending", |links| links == 1).await;
}

#[tokio::test]
async fn str_94_an_invalid_batch_ends_the_link_of_its_peer_only() {
    let nats = Nats::start().await;
    // It publishes its lease once.
    let pods = start(&nats, 2, &["--limit=lease.duration=600000"]).await;
    let fake = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let pod = Fake::at(fake.local_addr().unwrap(), "fake", 7);
    let client = async_nats::connect(&nats.url).await.unwrap();
    client.publish(FAKE, "{\"pod\":1}".into()).await.unwrap();
    settle(&client).await;
    pod.publish_lease(&nats).await;
    let batch = |number: u64, count: u32, length: u32, frames: &[u8]| {
        [&[16][..], &number.to_be_bytes(), &count.to_be_bytes(), &length.to_be_bytes(), frames].concat()
    };
    let hello = Hello { pod: "fake".into() }.bytes();
    let own = [lease_of(&nats, "p0").await, lease_of(&nats, "p1").await];
    let cases = [
        (vec![VERSION + 1; 9], "LINK_VERSION_MISMATCH"),
        (Hello { pod: "other".into() }.bytes(), "LINK_CERTIFICATE_INVALID"),
        ([&hello[..], b"garbage"].concat(), "LINK_PROTOCOL_ERROR"),
        ([&hello[..], &batch(9, 1, 4, &[0x81, 2, 0xff, 0xff])].concat(), "LINK_PROTOCOL_ERROR"),
        ([&hello[..], &batch(9, 1, 4, b"\x81\x02hi")].concat(), "LINK_SUBSCRIPTION_ID"),
        ([&hello[..], &acknowledgement(9)].concat(), "LINK_SUBSCRIPTION_ID"),
        ([&hello[..], &batch(9, 1, MAX_BATCH as u32 + 1, b"")].concat(), "LINK_TOO_LARGE"),
    ];
    let mut counted = std::collections::HashMap::new();
    for (says, code) in cases {
        // Both pods dial, and both receive the same bytes.
        for _ in &pods {
            let (stream, _) = timeout(DEADLINE, fake.accept()).await.expect("not dialled").unwrap();
            let (mut stream, certificate) = pod.identity.accept(stream).await.unwrap();
            let hello = Hello::receive(&mut stream).await.unwrap();
            assert!(own.iter().any(|lease| lease.pod == hello.pod && lease.certificate == certificate));
            stream.write_all(&says).await.unwrap();
            stream.flush().await.unwrap();
            rest(stream).await;
            *counted.entry(code).or_insert(0) += 1;
        }
    }
    for (code, times) in counted {
        let name = format!("link_ended_total{{code=\"{code}\"}}");
        let all = async || pods[0].metric(&name).await + pods[1].metric(&name).await;
        while all().await < times {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    talk_crosses(&pods).await;
}

#[tokio::test]
async fn str_133_a_lease_on_the_subject_of_another_pod_or_with_an_invalid_address_is_not_dialled() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0"]).await;
    // The pod receives leases by the time it publishes its own.
    lease_of(&nats, "p0").await;
    let fake = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let lease = Fake::at(fake.local_addr().unwrap(), "fake", 7).lease;
    let client = async_nats::connect(&nats.url).await.unwrap();
    client.publish("parley.v1.relay.lease.local.rude", lease.bytes().into()).await.unwrap();
    let nowhere = Lease { link: "169.254.169.254:80".parse().unwrap(), ..lease.clone() };
    client.publish(FAKE, nowhere.bytes().into()).await.unwrap();
    for code in ["FOREIGN", "ADDRESS"] {
        pod.until(&format!("lease_refusals_total{{code=\"{code}\"}}"), |refused| refused == 1).await;
    }
    assert_eq!(pod.metric("link_ended_total{code=\"LINK_UNREACHABLE\"}").await, 0);
    // The pod accepts the same lease on the right subject.
    client.publish(FAKE, lease.bytes().into()).await.unwrap();
    timeout(DEADLINE, fake.accept()).await.expect("not dialled").unwrap();
}
