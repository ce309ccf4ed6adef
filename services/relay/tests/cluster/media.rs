//! Pods that carry media find each other and publish leases. Titles cite the rules of SPEC.md.
use super::nats::{Nats, PASSWORD, settle};
use super::pod::{DEADLINE, Pod, linked};
use futures_util::StreamExt;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// The leases of the region's media relays, as signaling receives them.
struct Words(async_nats::Subscriber);

impl Words {
    async fn hear(nats: &Nats) -> Self {
        let options = async_nats::ConnectOptions::with_user_and_password("signaling".into(), PASSWORD.into());
        let client = options.connect(&nats.url).await.unwrap();
        let words = client.subscribe("parley.v1.media.relay.local.*").await.unwrap();
        settle(&client).await;
        Self(words)
    }

    /// Returns the next lease of a relay.
    async fn of(&mut self, relay: &str) -> Value {
        let hearing = async {
            loop {
                let word: Value = serde_json::from_slice(&self.0.next().await.unwrap().payload).unwrap();
                if word["relay"] == relay {
                    return word;
                }
            }
        };
        timeout(DEADLINE, hearing).await.expect("the relay publishes no lease")
    }
}

async fn carries(nats: &Nats, name: &str, flags: &[&str]) -> Pod {
    let name = format!("--pod={name}");
    let usual = [&name, "--media-listen=127.0.0.1:0", "--limit=media.linkIdleTimeout=15000"];
    Pod::start(nats, &[&usual[..], flags].concat()).await
}

/// Waits until the pod has dialled this number of links for media.
async fn has_links(pod: &Pod, wanted: u64) {
    let wait = async {
        let has = |text: &str, name: &str| text.lines().any(|line| line == format!("parley_media_{name} {wanted}"));
        loop {
            let (_, text) = pod.get("/metrics").await;
            if has(&text, "links_desired") && has(&text, "links_up") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("the pod never had {wanted} links"));
}

#[tokio::test]
async fn media_1_a_relay_publishes_its_lease_until_it_publishes_that_it_drains() {
    let nats = Nats::start_as_in_the_chart().await;
    let mut words = Words::hear(&nats).await;
    let mut pod = carries(&nats, "one", &["--limit=media.sessions=7"]).await;
    let word = words.of("one").await;
    assert_eq!((&word["role"], &word["sessions"], &word["capacity"]), (&"origin".into(), &0.into(), &7.into()));
    assert!(word["url"].as_str().unwrap().starts_with("https://127.0.0.1:"), "{word}");
    assert_eq!(word["certificateHashes"].as_array().unwrap().len(), 2, "{word}");
    assert_eq!((&words.of("one").await["epoch"], &word["draining"]), (&word["epoch"], &Value::Null));
    pod.signal("TERM");
    let mut last = words.of("one").await;
    while last["draining"].is_null() {
        last = words.of("one").await;
    }
    assert_eq!((&last["draining"], &last["epoch"]), (&true.into(), &word["epoch"]));
    assert!(pod.ended().await.success());
    assert!(
        timeout(Duration::from_secs(3), words.of("one")).await.is_err(),
        "the relay publishes a lease after it drained"
    );
}

#[tokio::test]
async fn relays_form_a_tree_and_a_later_relay_joins_it() {
    let nats = Nats::start_as_in_the_chart().await;
    let mut pods = vec![carries(&nats, "a", &[]).await, carries(&nats, "b", &[]).await];
    has_links(&pods[0], 1).await;
    has_links(&pods[1], 0).await;
    pods.push(carries(&nats, "leaf", &["--media-role=leaf"]).await);
    linked(&pods).await;
    has_links(&pods[2], 2).await;
    has_links(&pods[0], 1).await;
    // It is dialled again at its new address, with its new certificates and key.
    pods.remove(1).kill().await;
    pods.push(carries(&nats, "b", &[]).await);
    linked(&pods).await;
    has_links(&pods[0], 1).await;
    has_links(&pods[1], 2).await;
}

#[tokio::test]
async fn media_18_an_origin_is_linked_to_the_origins_of_another_region_and_a_leaf_is_not() {
    let nats = Nats::start_as_in_the_chart().await;
    let a = carries(&nats, "a", &[]).await;
    let leaf = carries(&nats, "leaf", &["--media-role=leaf"]).await;
    let far = carries(&nats, "far", &["--region=other"]).await;
    // `local_a` is less than `other_far`.
    has_links(&a, 1).await;
    has_links(&leaf, 1).await;
    has_links(&far, 0).await;
    let (_, text) = a.get("/metrics").await;
    assert!(text.contains("parley_media_link_rtt_seconds{peer=\"other_far\"}"), "{text}");
    // It is dialled again at its new address, with its new certificates and key.
    far.kill().await;
    let far = carries(&nats, "far", &["--region=other"]).await;
    has_sessions(&far, "region-link", 1).await;
    has_links(&a, 1).await;
}

/// Waits until relays have dialled this number of links to the pod.
async fn has_sessions(pod: &Pod, kind: &str, wanted: u64) {
    let line = format!("parley_media_sessions{{kind=\"{kind}\",transport=\"quic\"}} {wanted}");
    let wait = async {
        while !pod.get("/metrics").await.1.lines().any(|found| found == line) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("no such line: {line}"));
}

#[tokio::test]
async fn media_17_an_origin_of_another_region_at_a_host_that_is_not_allowed_is_not_dialled() {
    let nats = Nats::start_as_in_the_chart().await;
    let a = carries(&nats, "a", &["--media-hosts=relay.example"]).await;
    let _far = carries(&nats, "far", &["--region=other"]).await;
    let refused = async {
        while !a.log().contains("origin of another region refused") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(DEADLINE, refused).await.expect("the origin is not refused");
    let (_, text) = a.get("/metrics").await;
    assert!(!text.contains("parley_media_origin_refusals_total 0\n"), "{text}");
    assert!(text.contains("parley_media_origin_refusals_total "), "{text}");
    has_links(&a, 0).await;
}

#[tokio::test]
async fn media_21_relays_of_one_name_are_not_ready() {
    let nats = Nats::start_as_in_the_chart().await;
    for role in ["--media-role=origin", "--media-role=leaf"] {
        let one = carries(&nats, "one", &[role, "--limit=lease.duration=3000"]).await;
        is_ready(&one, true).await;
        let other = carries(&nats, "one", &[role, "--limit=lease.interval=100"]).await;
        for pod in [&one, &other] {
            is_ready(pod, false).await;
        }
        other.kill().await;
        is_ready(&one, true).await;
        let lines = one.log().matches("another relay has the name of this one").count();
        assert_eq!(lines, 1, "{role}");
        one.kill().await;
    }
}

async fn is_ready(pod: &Pod, ready: bool) {
    let wait = async {
        while (pod.get("/readyz").await.0 == 200) != ready {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("ready is never {ready}"));
}
