//! A relay that requires tokens serves statistics to operators only.
use super::guarded::{claims, hs256, join_without_token, refusal, start, upgrade, verdict};
use super::raw::{get, request};
use parley_access::Revocation;
use parley_net::codes::Code;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::ClientRequestBuilder;
use tokio_tungstenite::tungstenite::Message;

fn operator() -> String {
    hs256(&claims(json!({ "stats": true, "publish": null, "subscribe": null, "sub": "operator" })))
}

#[tokio::test]
async fn str_132_the_statistics_socket_requires_a_token_for_statistics() {
    let pod = start(&[]).await;
    let elsewhere = hs256(&claims(json!({ "stats": true, "aud": "parley:media" })));
    for (token, code) in [
        (hs256(&claims(json!({}))), Code::TokenInsufficientScope),
        (hs256(&claims(json!({ "admin": true }))), Code::TokenInsufficientScope),
        (elsewhere, Code::TokenInsufficientScope),
        ("x".into(), Code::TokenInvalid),
    ] {
        assert_eq!(upgrade(&pod, "/ws", &token).await, refusal(code), "{code:?}");
        let mut client = join_without_token(&pod, "/ws").await;
        client.send_text(&token).await;
        let answer = verdict(&mut client).await;
        assert_eq!((&answer["authorised"], &answer["reason"]), (&false.into(), &code.name().into()));
        assert_eq!(client.end().await, code.close());
    }
    // A relay with open access would answer this at once.
    let mut client = join_without_token(&pod, "/ws").await;
    client.send_text(r#"{"push":1000}"#).await;
    assert_eq!(verdict(&mut client).await["authorised"], false);
    pod.until("no client waits", || pod.0.relay.access.as_ref().unwrap().unauthenticated() == 0).await;
}

#[tokio::test]
async fn str_132_an_operator_authenticates_by_header_or_first_message() {
    let pod = start(&["--limit=stats.interval=20"]).await;
    let by_header =
        |request: ClientRequestBuilder| request.with_header("Authorization", format!("Bearer {}", operator()));
    let mut watches = pod.join_with("/ws", by_header).await;
    watches.send_text(r#"{"push":20}"#).await;
    let pushed: Value = serde_json::from_str(&watches.receive_text().await).unwrap();
    assert!(pushed["uptimeMs"].is_u64());
    let mut client = join_without_token(&pod, "/ws").await;
    client.send_text(&operator()).await;
    client.send_text(r#"{"push":20}"#).await;
    assert_eq!(verdict(&mut client).await["authorised"], true);
    let pushed: Value = serde_json::from_str(&client.receive_text().await).unwrap();
    assert!(pushed["uptimeMs"].is_u64());
    let subject = Revocation::Subject("operator".into());
    let ports = pod.0.relay.access.as_ref().unwrap();
    let admin = hs256(&claims(json!({ "admin": true })));
    ports.revoke(admin.as_bytes(), subject).await.unwrap();
    assert_eq!((watches.end().await, client.end().await), (4445, 4445));
}

#[tokio::test]
async fn str_132_metrics_on_the_port_of_clients_require_a_token_and_the_page_has_no_data() {
    let pod = start(&["--ops-listen=127.0.0.1:0"]).await;
    assert_eq!(get(&pod, "/metrics").await.0, Code::TokenRequired.http());
    let with = |token: &str| format!("GET /metrics HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer {token}\r\n\r\n");
    assert_eq!(request(&pod, &with(&hs256(&claims(json!({}))))).await.0, Code::TokenInsufficientScope.http());
    assert!(request(&pod, &with(&operator())).await.2.contains("\nparley_relay_sockets 0\n"));
    for path in ["/healthz", "/readyz", "/stats"] {
        assert_eq!(get(&pod, path).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn str_100_and_132_a_relay_with_open_access_serves_statistics_without_a_token() {
    let pod = super::pod::start(&[]).await;
    let mut watches = pod.join("/ws").await;
    watches.send(Message::text(r#"{"push":1000}"#)).await;
    assert!(serde_json::from_str::<Value>(&watches.receive_text().await).unwrap()["uptimeMs"].is_u64());
    assert_eq!(get(&pod, "/metrics").await.0, 200);
}
