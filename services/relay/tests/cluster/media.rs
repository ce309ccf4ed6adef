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
