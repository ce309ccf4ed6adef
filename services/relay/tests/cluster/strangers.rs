//! Who is not let in on the link port, and what a peer may not send.
use super::nats::{Nats, settle};
use super::pod::{DEADLINE, Pod, start};
use futures_util::StreamExt;
use parley_relay::cluster::frames::{BATCH_MAX, Hello, Request, VERSION, acknowledgement, welcome};
use parley_relay::cluster::lease::{Key, Lease};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

fn hello(version: u8, name: &[u8]) -> Vec<u8> {
    [&[version][..], &[7; 32], &1_u64.to_be_bytes(), &[name.len() as u8], name].concat()
}

/// What the pod answers before it closes.
async fn answer(pod: &Pod, says: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(&pod.link).await.unwrap();
    stream.write_all(says).await.unwrap();
    let mut answer = Vec::new();
    let _ = timeout(DEADLINE, stream.read_to_end(&mut answer)).await.expect("not closed");
    answer
}

#[tokio::test]
async fn str_91_a_stranger_is_not_let_in_and_counted() {
    let nats = Nats::start().await;
    let hasty = Pod::start(&nats, &["--region=hasty", "--limit=link.openTimeout=300"]).await;
    let patient = Pod::start(&nats, &["--limit=link.openTimeout=30000"]).await;
    let cases = [
        (&patient, hello(VERSION, b"stranger"), "LINK_KEY"),
        (&patient, hello(VERSION - 1, b"stranger"), "LINK_VERSION"),
        (&patient, hello(VERSION, b""), "LINK_FRAME"),
        (&patient, hello(VERSION, &[0xff; 8]), "LINK_FRAME"),
        (&patient, b"GET / HTTP/1.1\r\n\r\n".to_vec(), "LINK_VERSION"),
        (&hasty, hello(VERSION, b"cut")[..20].to_vec(), "LINK_TIMEOUT"),
        (&hasty, vec![], "LINK_TIMEOUT"),
    ];
    for (pod, says, code) in cases {
        let name = format!("link_ended_total{{code=\"{code}\"}}");
        let before = pod.metric(&name).await;
        assert_eq!(answer(pod, &says).await, b"", "{code}");
        pod.until(&name, |ended| ended == before + 1).await;
    }
    for pod in [hasty, patient] {
        assert_eq!(pod.metric("links_sending").await, 0);
        assert_eq!(pod.get("/readyz").await.0, 200);
    }
}

/// Where all pods say their leases.
const LEASES: &str = "parley.v1.relay.lease.local.*";
const FAKE: &str = "parley.v1.relay.lease.local.fake";

/// What a pod says of itself.
async fn lease_of(nats: &Nats, name: &str) -> Lease {
    let client = async_nats::connect(&nats.url).await.unwrap();
    let mut leases = client.subscribe(LEASES).await.unwrap();
    let hearing = async {
        loop {
            let lease = Lease::read(&leases.next().await.unwrap().payload).unwrap();
            if lease.pod == name {
                return lease;
            }
        }
    };
    timeout(DEADLINE, hearing).await.unwrap()
}

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
    pods[0].join("/in/lab").await.say("still here").await;
    assert_eq!(reader.hear_text().await, "still here");
}

#[tokio::test]
async fn str_94_a_peer_that_asks_what_no_pod_would_loses_its_link_and_nobody_else_theirs() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[]).await;
    let key = lease_of(&nats, "p0").await.key;
    let want = |number| Request::Want { number, replay: true, topic: "/x".into() };
    let cases = [
        (vec![9], "LINK_FRAME"),
        ([&[1][..], &[0; 8], &[0, 0xff, 0xff]].concat(), "LINK_FRAME"),
        ([&[1][..], &[0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 1, 0xff]].concat(), "LINK_FRAME"),
        (requests(&[want(0)]), "LINK_NUMBER"),
        (requests(&[want(5), want(5)]), "LINK_NUMBER"),
        (requests(&[want(5), want(4)]), "LINK_NUMBER"),
        (requests(&[want(5), want(6)]), "LINK_NUMBER"),
        (requests(&[Request::Unwant { number: 1 }]), "LINK_NUMBER"),
    ];
    for (says, code) in cases {
        let name = format!("link_ended_total{{code=\"{code}\"}}");
        let before = pods[0].metric(&name).await;
        let hello = Hello { key: key.clone(), epoch: 1, pod: "rude".into() };
        let answer = answer(&pods[0], &[hello.bytes(), says].concat()).await;
        assert_eq!((answer.len(), answer.first()), (9, Some(&VERSION)), "{code}");
        pods[0].until(&name, |ended| ended == before + 1).await;
        pods[0].wanted(0).await;
    }
    assert_eq!(pods[0].metric("links_sending").await, 1);
    talk_crosses(&pods).await;
}

#[tokio::test]
async fn str_94_peers_that_never_stop_asking_do_not_keep_the_thread_from_others() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0", "--threads=1"]).await;
    let key = lease_of(&nats, "p0").await.key;
    let pings = requests(&[Request::Ping { stamp: 1, round_trip: 1 }]).repeat(20_000);
    for at in 0..3 {
        let hello = Hello { key: key.clone(), epoch: 1, pod: format!("rude{at}") };
        let mut stream = std::net::TcpStream::connect(&pod.link).unwrap();
        let mut answers = stream.try_clone().unwrap();
        std::io::Write::write_all(&mut stream, &hello.bytes()).unwrap();
        std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
        let pings = pings.clone();
        std::thread::spawn(move || while std::io::Write::write_all(&mut stream, &pings).is_ok() {});
    }
    pod.until("links_sending", |links| links == 3).await;
    for _ in 0..10 {
        assert_eq!(pod.get("/healthz").await.0, 200);
    }
}

#[tokio::test]
async fn str_97_a_newer_link_of_a_pod_ends_its_older_one_and_an_earlier_run_is_not_let_in() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0"]).await;
    let key = lease_of(&nats, "p0").await.key;
    let dial = async |epoch| {
        let mut stream = TcpStream::connect(&pod.link).await.unwrap();
        let hello = Hello { key: key.clone(), epoch, pod: "again".into() };
        stream.write_all(&hello.bytes()).await.unwrap();
        stream
    };
    let _first = dial(5).await;
    pod.until("links_sending", |links| links == 1).await;
    let _second = dial(6).await;
    pod.until("link_ended_total{code=\"LINK_REPLACED\"}", |ended| ended == 1).await;
    let _third = dial(5).await;
    pod.until("link_ended_total{code=\"LINK_EPOCH\"}", |ended| ended == 1).await;
    pod.until("links_sending", |links| links == 1).await;
}

#[tokio::test]
async fn str_94_a_peer_that_sends_what_no_pod_would_loses_its_link_and_nobody_else_theirs() {
    let nats = Nats::start().await;
    // It says its lease once.
    let pods = start(&nats, 2, &["--limit=lease.time=600000"]).await;
    let fake = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (key, link) = (Key::random(), fake.local_addr().unwrap());
    let lease =
        Lease { pod: "fake".into(), epoch: 7, zone: String::new(), link, key: key.clone(), gone: false, media: None };
    let client = async_nats::connect(&nats.url).await.unwrap();
    client.publish(FAKE, "{\"pod\":1}".into()).await.unwrap();
    client.publish(FAKE, lease.bytes().into()).await.unwrap();
    settle(&client).await;
    let batch = |number: u64, count: u32, length: u32, frames: &[u8]| {
        [&[16][..], &number.to_be_bytes(), &count.to_be_bytes(), &length.to_be_bytes(), frames].concat()
    };
    let cases = [
        (vec![VERSION + 1; 9], "LINK_VERSION"),
        (welcome(8).to_vec(), "LINK_EPOCH"),
        ([&welcome(7)[..], b"garbage"].concat(), "LINK_FRAME"),
        ([&welcome(7)[..], &batch(9, 1, 4, &[0x81, 2, 0xff, 0xff])].concat(), "LINK_FRAME"),
        ([&welcome(7)[..], &batch(9, 1, 4, b"\x81\x02hi")].concat(), "LINK_NUMBER"),
        ([&welcome(7)[..], &acknowledgement(9)].concat(), "LINK_NUMBER"),
        ([&welcome(7)[..], &batch(9, 1, BATCH_MAX as u32 + 1, b"")].concat(), "LINK_TOO_LARGE"),
    ];
    let mut counted = std::collections::HashMap::new();
    for (says, code) in cases {
        // Both pods dial; each is told the same.
        for _ in &pods {
            let (mut stream, _) = timeout(DEADLINE, fake.accept()).await.expect("not dialled").unwrap();
            let mut hello = vec![0; 44];
            stream.read_exact(&mut hello).await.unwrap();
            assert_eq!(Hello::read(&hello).unwrap().unwrap().0.key, key);
            stream.write_all(&says).await.unwrap();
            let _ = timeout(DEADLINE, stream.read_to_end(&mut Vec::new())).await.expect("not closed");
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
async fn str_133_a_lease_on_another_pods_subject_or_of_no_pods_address_is_not_dialled() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &["--pod=p0"]).await;
    // It hears leases by the time that it says its own.
    lease_of(&nats, "p0").await;
    let fake = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let link = fake.local_addr().unwrap();
    let lease =
        Lease { pod: "fake".into(), epoch: 7, zone: String::new(), link, key: Key::random(), gone: false, media: None };
    let client = async_nats::connect(&nats.url).await.unwrap();
    client.publish("parley.v1.relay.lease.local.rude", lease.bytes().into()).await.unwrap();
    let nowhere = Lease { link: "169.254.169.254:80".parse().unwrap(), ..lease.clone() };
    client.publish(FAKE, nowhere.bytes().into()).await.unwrap();
    for code in ["FOREIGN", "ADDRESS"] {
        pod.until(&format!("refused_leases_total{{code=\"{code}\"}}"), |refused| refused == 1).await;
    }
    assert_eq!(pod.metric("link_ended_total{code=\"LINK_UNREACHABLE\"}").await, 0);
    // The pod itself takes the same lease on its own subject.
    client.publish(FAKE, lease.bytes().into()).await.unwrap();
    timeout(DEADLINE, fake.accept()).await.expect("not dialled").unwrap();
}
