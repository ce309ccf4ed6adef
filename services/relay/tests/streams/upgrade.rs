use super::pod::start;
use super::raw::{Raw, UPGRADE, get, request};
use parley_net::codes::Code;

async fn upgrade(pod: &super::pod::Pod, target: &str, more: &str) -> (u16, String) {
    let (status, _, body) = request(pod, &format!("GET {target} HTTP/1.1\r\n{UPGRADE}{more}\r\n")).await;
    (status, body)
}

#[tokio::test]
async fn str_20_null_and_any_other_subprotocol_is_echoed() {
    let pod = start(&[]).await;
    for name in ["null", "mqtt"] {
        assert_eq!(
            pod.join_with("/x", |request| request.with_sub_protocol(name)).await.protocol.as_deref(),
            Some(name)
        );
    }
    assert_eq!(pod.join("/x").await.protocol, None);
}

#[tokio::test]
async fn str_4_invalid_paths_are_refused_with_a_code() {
    let pod = start(&[]).await;
    let (mut one, mut other) = (pod.join("/x").await, pod.join("/x").await);
    pod.until_clients(2).await;
    let tricks = [
        "/../x",
        "/%2e%2e/x",
        "/a/%2E/x",
        "/x%00",
        "//x",
        "/x/",
        "/%",
        "/%ff",
        "/a\\..\\x",
        "/in",
        "/out/",
        "/",
        "http://relay/x",
    ];
    for target in tricks {
        assert_eq!(upgrade(&pod, target, "").await, (400, r#"{"code":"TOPIC_INVALID"}"#.into()), "{target}");
    }
    assert_eq!(upgrade(&pod, &format!("/{}", "x".repeat(600)), "").await.0, 400);
    assert_eq!(
        upgrade(&pod, &format!("/{}", "x".repeat(65_536)), "").await,
        (431, r#"{"code":"HEADERS_TOO_LARGE"}"#.into())
    );
    assert_eq!(pod.0.relay.topics.count(), 1);
    one.send_text("still here").await;
    assert_eq!(other.receive_text().await, "still here");
}

#[tokio::test]
async fn str_5_reserved_names_are_refused_as_topics() {
    let pod = start(&[]).await;
    for name in ["/stats", "/metrics", "/healthz", "/readyz", "/ws/x", "/STATS/x", "/api"] {
        assert_eq!(upgrade(&pod, name, "").await, (400, r#"{"code":"TOPIC_RESERVED"}"#.into()), "{name}");
    }
}

#[tokio::test]
async fn str_7_the_number_of_topics_of_a_pod_is_limited() {
    let pod = start(&["--limit=pod.topics=2"]).await;
    let _kept = (pod.join("/a").await, pod.join("/out/b").await);
    pod.until_clients(2).await;
    assert_eq!(upgrade(&pod, "/c", "").await, (503, r#"{"code":"TOO_MANY_TOPICS"}"#.into()));
    let _one_more = pod.join("/in/b").await;
    pod.until_clients(3).await;
}

#[tokio::test]
async fn str_21_a_head_that_is_too_slow_or_too_large_is_refused() {
    let pod = start(&["--limit=headers.timeout=300"]).await;
    let mut slow = Raw::connect(&pod).await;
    slow.write(b"GET /x HTTP/1.1\r\nHost: ").await;
    assert!(slow.head().await.starts_with("HTTP/1.1 408 "));
    let mut silent = Raw::connect(&pod).await;
    assert!(silent.head().await.starts_with("HTTP/1.1 408 "));
    drop((slow, silent));
    pod.until("all gone", || pod.0.relay.addresses.total() == 0).await;
    let pod = start(&["--limit=headers.bytes=2048"]).await;
    let mut large = Raw::connect(&pod).await;
    large.write(format!("GET /x HTTP/1.1\r\nCookie: {}", "x".repeat(4000)).as_bytes()).await;
    assert!(large.head().await.starts_with("HTTP/1.1 431 "));
    drop(large);
    pod.until("it is gone", || pod.0.relay.addresses.total() == 0).await;
}

#[tokio::test]
async fn str_21_invalid_http_is_refused() {
    let pod = start(&[]).await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\x00\x00\x00\x00\r\n\r\n",
        b"HELLO\r\n\r\n",
        b"GET /x HTTP/0.9\r\n\r\n",
    ] {
        let mut raw = Raw::connect(&pod).await;
        raw.write(garbage).await;
        assert!(raw.head().await.starts_with("HTTP/1.1 400 "), "{garbage:?}");
    }
    let (status, head, _) = request(&pod, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").await;
    assert!(status == 405 && head.contains("Allow: GET, HEAD"), "{head}");
    let old = format!("GET /x HTTP/1.1\r\n{}\r\n", UPGRADE.replace("13", "8"));
    assert_eq!(request(&pod, &old).await.0, 426);
}

#[tokio::test]
async fn str_22_only_pages_of_allowed_origins_may_connect() {
    let pod = start(&["--origins=https://lab.example"]).await;
    assert_eq!(
        upgrade(&pod, "/x", "Origin: https://evil.example\r\n").await,
        (403, r#"{"code":"ORIGIN_DENIED"}"#.into())
    );
    assert_eq!(upgrade(&pod, "/ws", "Origin: null\r\n").await.0, 403);
    let origin = |request: tokio_tungstenite::tungstenite::ClientRequestBuilder| {
        request.with_header("Origin", "https://lab.example")
    };
    pod.join_with("/x", origin).await;
    pod.join("/x").await;
}

#[tokio::test]
async fn str_23_sockets_are_limited_for_each_address_and_in_total() {
    let pod = start(&["--limit=address.sockets=2", "--limit=pod.sockets=3", "--trusted-proxies=1"]).await;
    let from = |address: &'static str| {
        move |request: tokio_tungstenite::tungstenite::ClientRequestBuilder| {
            request.with_header("X-Forwarded-For", address)
        }
    };
    let mut kept = vec![pod.join_with("/x", from("1.1.1.1")).await, pod.join_with("/x", from("1.1.1.1")).await];
    pod.until_clients(2).await;
    assert_eq!(
        upgrade(&pod, "/x", "X-Forwarded-For: 9.9.9.9, 1.1.1.1\r\n").await,
        (429, r#"{"code":"TOO_MANY_SOCKETS"}"#.into())
    );
    pod.until("refused ones gone", || pod.0.relay.addresses.total() == 2).await;
    kept.push(pod.join_with("/x", from("2.2.2.2")).await);
    pod.until_clients(3).await;
    assert_eq!(upgrade(&pod, "/x", "X-Forwarded-For: 3.3.3.3\r\n").await, (503, r#"{"code":"POD_FULL"}"#.into()));
    kept.remove(0);
    pod.until_clients(2).await;
    pod.until("room again", || pod.0.relay.addresses.total() == 2).await;
    kept.push(pod.join_with("/x", from("1.1.1.1")).await);
    let refused: u64 = pod
        .0
        .relay
        .counters
        .refused
        .iter()
        .filter(|(code, _)| matches!(code, Code::PodFull | Code::TooManySockets))
        .map(|(_, count)| count)
        .sum();
    assert_eq!(refused, 2);
}

#[tokio::test]
async fn str_24_a_topic_without_an_upgrade_answers_upgrade_required() {
    let pod = start(&[]).await;
    let (status, head, body) = get(&pod, "/demo").await;
    assert_eq!((status, body.as_str()), (426, r#"{"code":"UPGRADE_REQUIRED"}"#));
    assert!(head.contains("Upgrade: websocket"));
}

#[tokio::test]
async fn str_23_silent_connections_are_limited_as_sockets_are() {
    let pod = start(&["--limit=address.sockets=4", "--limit=headers.timeout=60000"]).await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(pod.tcp().await);
    }
    let total = || pod.0.relay.addresses.total();
    pod.until("all that one address may have", || total() == 4 + 256).await;
    // The last ones were dropped without an answer.
    let last = &mut Raw(silent.pop().unwrap());
    assert_eq!(last.head().await, "");
    assert_eq!(total(), 4 + 256);
}
