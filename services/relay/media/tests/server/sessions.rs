use std::time::{Duration, Instant};

use crate::client::{Publisher, Watcher, call, stay};
use crate::relay::{Relay, anything, limits, token};

#[tokio::test]
async fn med_10_a_watcher_receives_the_published_bytes() {
    let relay = Relay::start().await;
    let _publisher = Publisher::start(relay.url(&token("lab/7/*", "")), &relay.hashes(), "lab/7/cam").await;
    let mut watcher = Watcher::start(relay.url(&token("", "lab/**")), &relay.hashes(), "lab/7/cam").await;
    watcher.frames(60).await;
    assert_eq!(relay.server().state().sessions, 2);
    assert_eq!(relay.metric("sessions", &["kind=\"client\"", "transport=\"quic\""]), 2.0);
    assert_eq!(relay.metric("broadcasts", &["kind=\"client\""]), 1.0);
    assert!(relay.metric("bytes_total", &["kind=\"client\"", "direction=\"in\""]) >= 60_000.0);
    assert!(relay.metric("bytes_total", &["kind=\"client\"", "direction=\"out\""]) >= 60_000.0);
    assert!(relay.metric("groups_total", &["direction=\"out\""]) >= 2.0);
    assert!(relay.metric("cache_bytes", &[]) >= 1000.0);
    assert!(relay.metric("packets_sent_total", &["kind=\"client\""]) > 60.0);
    drop(watcher);
    relay.until("sessions_ended_total", |ended| ended == 1.0).await;
    assert!(
        relay.metric("bytes_total", &["direction=\"out\""]) >= 60_000.0,
        "the bytes of an ended session are not counted"
    );
}

#[tokio::test]
async fn med_11_websocket_carries_the_same() {
    let relay = Relay::start().await;
    let _publisher = Publisher::start(relay.websocket(&anything()), &[], "lab/7/cam").await;
    let mut watcher = Watcher::start(relay.websocket(&anything()), &[], "lab/7/cam").await;
    watcher.frames(60).await;
    assert_eq!(relay.metric("sessions", &["transport=\"websocket\""]), 2.0);
}

#[tokio::test]
async fn med_10_med_11_media_over_ipv6() {
    let relay = Relay::at("[::1]:0", limits()).await;
    let hashes = relay.hashes();
    let _publisher = Publisher::start(relay.url(&anything()), &hashes, "lab/7/cam").await;
    for (url, hashes) in [(relay.url(&anything()), &hashes[..]), (relay.websocket(&anything()), &[])] {
        Watcher::start(url, hashes, "lab/7/cam").await.frames(60).await;
    }
}

#[tokio::test]
async fn str_147_a_relay_on_all_addresses_carries_media_over_both_families() {
    let relay = Relay::at("[::]:0", limits()).await;
    let port = relay.server().address.port();
    let at = |host: &str| {
        let mut url = relay.url(&anything());
        url.set_host(Some(host)).unwrap();
        url.set_port(Some(port)).unwrap();
        url
    };
    let _publisher = Publisher::start(at("127.0.0.1"), &relay.hashes(), "lab/7/cam").await;
    Watcher::start(at("[::1]"), &relay.hashes(), "lab/7/cam").await.frames(60).await;
}

#[tokio::test]
async fn links_of_relays_over_ipv6_carry_media() {
    let relays = [Relay::at("[::1]:0", limits()).await, Relay::at("[::]:0", limits()).await];
    relays[1].dial(&[&relays[0]]).await;
    let _publisher = Publisher::start(relays[0].url(&anything()), &relays[0].hashes(), "lab/7/cam").await;
    let mut url = relays[1].url(&anything());
    url.set_host(Some("[::1]")).unwrap();
    Watcher::start(url, &relays[1].hashes(), "lab/7/cam").await.frames(60).await;
}

#[tokio::test]
async fn med_12_a_token_allows_its_broadcasts_and_directions_only() {
    let relay = Relay::start().await;
    let start = async |token: String, name| Publisher::start(relay.url(&token), &relay.hashes(), name).await;
    let watch = async |token: String, name| Watcher::start(relay.url(&token), &relay.hashes(), name).await;
    let _publishers = [
        start(token("lab/7/*", ""), "lab/7/cam").await,
        start(token("lab/7/*", ""), "lab/8/cam").await,
        start(token("", "lab/**"), "lab/7/screen").await,
    ];
    let mut refused = [
        watch(token("", "lab/8/*"), "lab/7/cam").await,
        watch(token("lab/7/*", ""), "lab/7/cam").await,
        watch(anything(), "lab/8/cam").await,
        watch(anything(), "lab/7/screen").await,
    ];
    watch(token("", "lab/7/*"), "lab/7/cam").await.frames(30).await;
    assert!(refused.iter_mut().all(Watcher::received_nothing));
}

#[tokio::test]
async fn med_13_a_session_without_credential_or_with_a_path_is_refused_and_counted() {
    let relay = Relay::start().await;
    let plain: url::Url = format!("https://{}/", relay.server().address).parse().unwrap();
    let mut deep = relay.url(&anything());
    deep.set_path("/lab/7");
    let mut key = plain.clone();
    key.query_pairs_mut().append_pair("key", "of another region");
    for (url, code, number) in [
        (plain, "TOKEN_MISSING", "Unauthorized"),
        (key, "KEY_INVALID", "Unauthorized"),
        (deep, "PATH_INVALID", "App(404)"),
        (relay.url(&token("lab/**/7", "")), "TOKEN_INVALID", "Unauthorized"),
    ] {
        let error = format!("{:?}", call(url, &relay.hashes()).await.unwrap_err());
        assert!(error.contains(number), "{code}: {error}");
        assert_eq!(relay.metric("refusals_total", &[code]), 1.0, "{code}");
    }
    assert_eq!(relay.server().state().sessions, 0);
}

#[tokio::test]
async fn med_15_a_session_whose_token_was_revoked_ends_within_two_seconds() {
    let relay = Relay::start().await;
    let (mine, other) = (token("", "lab/*"), anything());
    let session = stay(relay.url(&mine), &relay.hashes()).await;
    let stays = stay(relay.url(&other), &relay.hashes()).await;
    let begin = Instant::now();
    relay.revoke(&mine);
    assert!(tokio::time::timeout(Duration::from_secs(2), session.closed()).await.is_ok(), "{:?}", begin.elapsed());
    relay.until("sessions_ended_total", |ended| ended == 1.0).await;
    assert_eq!(relay.metric("sessions_ended_total", &["kind=\"client\"", "TOKEN_REVOKED"]), 1.0);
    assert!(stays.connected());
}

#[tokio::test]
async fn med_16_the_number_of_sessions_is_limited() {
    let relay = Relay::with(parley_media::Limits { sessions: 2, ..limits() }).await;
    let _first = stay(relay.url(&anything()), &relay.hashes()).await;
    let second = stay(relay.url(&anything()), &relay.hashes()).await;
    relay.until("sessions", |count| count == 2.0).await;
    assert!(call(relay.url(&anything()), &relay.hashes()).await.is_err());
    assert_eq!(relay.metric("refusals_total", &["TOO_MANY_SESSIONS"]), 1.0);
    drop(second);
    relay.until("sessions", |count| count == 1.0).await;
    let third = stay(relay.url(&anything()), &relay.hashes()).await;
    relay.until("sessions", |count| count == 2.0).await;
    assert!(third.connected());
}

#[tokio::test]
async fn med_17_only_the_session_with_too_many_broadcasts_ends() {
    let relay = Relay::with(parley_media::Limits { broadcasts: 1, ..limits() }).await;
    let good = Publisher::start(relay.url(&anything()), &relay.hashes(), "lab/7/cam").await;
    let mut watcher = Watcher::start(relay.url(&anything()), &relay.hashes(), "lab/7/cam").await;
    let origin = moq_tokio::origin::spawn();
    let broadcasts: Vec<_> = (0..2).map(|at| origin.create_broadcast(format!("flood/{at}")).unwrap()).collect();
    for broadcast in &broadcasts {
        broadcast.announce(Default::default()).unwrap();
    }
    let _flood = crate::client::publish(relay.url(&anything()), &relay.hashes(), &origin);
    relay.until("sessions_ended_total", |ended| ended >= 1.0).await;
    assert_eq!(relay.metric("sessions_ended_total", &["TOO_MANY_BROADCASTS"]), 1.0);
    watcher.frames(30).await;
    assert!(good.connection.connected());
}

#[tokio::test]
async fn med_18_the_cache_is_bounded_in_bytes() {
    let relay = Relay::with(parley_media::Limits { cache_bytes: 64 << 10, ..limits() }).await;
    let _publisher = Publisher::start(relay.url(&anything()), &relay.hashes(), "lab/7/cam").await;
    let mut watcher = Watcher::start(relay.url(&anything()), &relay.hashes(), "lab/7/cam").await;
    watcher.frames(250).await;
    let kept = relay.metric("cache_bytes", &[]);
    assert!((10_000.0..130_000.0).contains(&kept), "{kept} bytes of 250 kB are cached");
}

#[tokio::test]
async fn med_18_only_the_session_with_an_endless_group_ends() {
    let relay = Relay::with(parley_media::Limits { cache_bytes: 64 << 10, ..limits() }).await;
    let address = relay.url(&token("**", ""));
    let start = async |name, pace, frames| {
        Publisher::paced(address.clone(), &relay.hashes(), name, Duration::from_millis(pace), frames).await
    };
    let good = start("lab/7/cam", 20, 5).await;
    let mut watcher = Watcher::start(relay.url(&token("", "**")), &relay.hashes(), "lab/7/cam").await;
    let endless = start("lab/7/endless", 2, u64::MAX).await;
    let _seen = Watcher::start(relay.url(&anything()), &relay.hashes(), "lab/7/endless").await;
    relay.until("sessions_ended_total", |ended| ended >= 1.0).await;
    assert!(relay.metric("sessions_ended_total", &["MEMORY_LIMIT_EXCEEDED"]) >= 1.0);
    watcher.frames(30).await;
    assert_eq!(good.connection.epoch(), 1, "the other publisher had to reconnect");
    drop(endless);
}

#[tokio::test]
async fn med_60_metrics_are_prometheus_text() {
    let (relay, other) = (Relay::start().await, Relay::start().await);
    relay.dial(&[&other]).await;
    let _client = stay(relay.url(&anything()), &relay.hashes()).await;
    assert!(call(relay.url(&token("x*", "")), &relay.hashes()).await.is_err());
    let text = relay.metrics();
    let mut types = std::collections::HashMap::new();
    let mut samples = std::collections::HashSet::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            assert!(types.insert(name, kind).is_none(), "{name} has two families");
            assert!(matches!(kind, "gauge" | "counter"), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            assert!(text.contains(&format!("# HELP {name} ")), "{name} has no help");
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            assert!(types.contains_key(sample.split('{').next().unwrap()) && value.parse::<f64>().is_ok(), "{line}");
            assert!(samples.insert(sample), "{sample} is there twice");
        }
    }
    for direction in ["in", "out"] {
        for kind in ["client", "link"] {
            let sample = format!("parley_media_bytes_total{{kind=\"{kind}\",direction=\"{direction}\"}}");
            assert!(samples.contains(sample.as_str()), "{sample} is not in\n{text}");
        }
    }
    assert!(text.contains("parley_media_refusals_total{code=\"TOKEN_INVALID\"} 1\n"), "{text}");
    assert!(text.contains("parley_media_links_desired 1\n"), "{text}");
}

#[tokio::test]
async fn med_26_a_broadcast_with_two_publishers_continues_when_one_ends() {
    let relay = Relay::start().await;
    let start = async || Publisher::start(relay.url(&anything()), &relay.hashes(), "live/lab").await;
    let one = start().await;
    let mut watcher = Watcher::start(relay.url(&anything()), &relay.hashes(), "live/lab").await;
    watcher.frames(30).await;
    let two = start().await;
    watcher.frames(30).await;
    drop(one);
    relay.until("sessions_ended_total", |ended| ended == 1.0).await;
    watcher.frames(60).await;
    assert_eq!((two.connection.epoch(), relay.server().state().sessions), (1, 2));
}
