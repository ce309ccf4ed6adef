use super::pod::start;
use super::raw::{get, request};

#[tokio::test]
async fn str_62_the_statistics_page_is_self_contained_and_its_policy_allows_nothing_else() {
    let pod = start(&[]).await;
    let (status, head, body) = get(&pod, "/stats").await;
    assert_eq!(status, 200);
    let policy = head.lines().find(|line| line.starts_with("Content-Security-Policy: ")).unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("script-src 'self'") && policy.contains("ws://relay")
    );
    assert!(
        !policy.contains("unsafe") && !body.contains("style=") && !body.contains("<style") && !body.contains("onclick")
    );
    for own in ["/stats/stats.css", "/stats/stats.js", "/stats/stats.svg"] {
        assert!(body.contains(own));
        assert_eq!(get(&pod, own).await.0, 200);
    }
    let evil = "GET /stats HTTP/1.1\r\nHost: x; script-src *\r\n\r\n";
    assert!(!request(&pod, evil).await.1.contains("script-src *"));
}

#[tokio::test]
async fn str_63_metrics_count_what_happened() {
    let pod = start(&[]).await;
    let (mut one, mut other) = (pod.join("/x").await, pod.join("/x").await);
    pod.until_clients(2).await;
    one.send_text("hello").await;
    other.receive_text().await;
    get(&pod, "/../x").await;
    let (status, head, text) = get(&pod, "/metrics").await;
    assert!(status == 200 && head.contains("text/plain; version=0.0.4"));
    for line in [
        "parley_relay_sockets 2",
        "parley_relay_topics 1",
        "parley_relay_received_messages_total 1",
        "parley_relay_received_bytes_total 5",
        "parley_relay_delivered_messages_total 1",
        "parley_relay_delivered_bytes_total 5",
        "parley_relay_dropped_messages_total 0",
        "parley_relay_queued_bytes 0",
        "parley_relay_refusals_total{code=\"TOPIC_INVALID\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    for head in [
        "# HELP parley_relay_sockets Open WebSockets on topics\n# TYPE parley_relay_sockets gauge\n",
        "# TYPE parley_relay_refusals_total counter\n",
    ] {
        assert_eq!(text.matches(head).count(), 1, "{head} is not once in\n{text}");
    }
}

#[tokio::test]
async fn str_64_health_and_readiness_answer() {
    let pod = start(&[]).await;
    assert_eq!(get(&pod, "/healthz").await.0, 200);
    assert_eq!(get(&pod, "/readyz").await.0, 200);
    let (status, head, body) = request(&pod, "HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((status, body.as_str()), (200, ""));
    assert!(head.contains("Content-Length: 3"));
    assert_eq!(get(&pod, "/favicon.ico").await.0, 404);
}
