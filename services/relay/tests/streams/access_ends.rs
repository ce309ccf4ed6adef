use super::guarded::{claims, enter, hs256, now, post, refusal, start, upgrade};
use super::pod::Pod;
use parley_net::codes::Code;
use serde_json::json;
use std::time::{Duration, Instant};

/// STR-113 and STR-114, for the socket of a token that expired or was revoked.
const WITHIN: Duration = Duration::from_secs(1);

fn token(name: &str, id: &str) -> String {
    hs256(&claims(json!({"sub": name, "jti": id})))
}

async fn revoke(pod: &Pod, whom: &str) -> (u16, String) {
    let admin = hs256(&claims(json!({"admin": true, "publish": null, "subscribe": null})));
    let (status, _, body) = post(pod, "/v1/revocations", &admin, "", whom).await;
    (status, body)
}

#[tokio::test]
async fn str_113_a_live_socket_ends_with_its_token_and_the_others_stay() {
    let pod = start(&[]).await;
    let (mut one, mut other) =
        (enter(&pod, "/lab/7", &token("a", "1")).await, enter(&pod, "/lab/7", &token("b", "2")).await);
    let end = now() + 5;
    let mut ends = enter(&pod, "/lab/7", &hs256(&claims(json!({"exp": end})))).await;
    one.send_text("before").await;
    assert_eq!((ends.receive_text().await.as_str(), other.receive_text().await.as_str()), ("before", "before"));
    assert!(now() < end, "the machine is too slow for this test");
    assert_eq!(ends.end().await, Code::TokenExpired.close());
    // In whole seconds, rounded down.
    assert!((end..=end + WITHIN.as_secs()).contains(&now()), "{} s after its end", now() - end);
    one.send_text("after").await;
    assert_eq!(other.receive_text().await, "after");
    pod.until_clients(2).await;
}

#[tokio::test]
async fn str_114_a_revocation_ends_and_refuses_sockets_of_its_token_only() {
    let pod = start(&[]).await;
    let mut gone = enter(&pod, "/lab/7", &token("ada", "1")).await;
    let (mut one, mut other) =
        (enter(&pod, "/lab/7", &token("ada", "2")).await, enter(&pod, "/lab/7", &token("eve", "3")).await);
    let began = Instant::now();
    assert_eq!(revoke(&pod, r#"{"jti":"1"}"#).await, (204, String::new()));
    assert_eq!(gone.end().await, Code::TokenRevoked.close());
    assert!(began.elapsed() < WITHIN, "closed {:?} after the request", began.elapsed());
    assert_eq!(upgrade(&pod, "/lab/7", &token("ada", "1")).await, refusal(Code::TokenRevoked));
    one.send_text("still here").await;
    assert_eq!(other.receive_text().await, "still here");
    assert_eq!(revoke(&pod, r#"{"sub":"ada"}"#).await.0, 204);
    assert_eq!(one.end().await, Code::TokenRevoked.close());
    assert_eq!(upgrade(&pod, "/lab/7", &token("ada", "4")).await, refusal(Code::TokenRevoked));
    assert_eq!(upgrade(&pod, "/lab/7", &token("1", "ada")).await.0, 101, "a name of another kind matches");
    pod.until_clients(1).await;
    let closed: u64 = pod
        .0
        .relay
        .counters
        .closed
        .iter()
        .filter(|(code, _)| *code == Code::TokenRevoked)
        .map(|(_, count)| count)
        .sum();
    assert_eq!(closed, 2);
}

#[tokio::test]
async fn str_114_only_an_admin_may_revoke_and_invalid_requests_are_refused() {
    let pod = start(&[]).await;
    let ask = async |token: &str, body: &str| post(&pod, "/v1/revocations", token, "", body).await.0;
    let admin = hs256(&claims(json!({"admin": true, "sub": "root"})));
    assert_eq!(ask(&token("ada", "1"), r#"{"sub":"eve"}"#).await, 403);
    assert_eq!(ask("x", r#"{"sub":"eve"}"#).await, 401);
    let crossbar = hs256(&claims(json!({"admin": true, "aud": "parley:streams/lab/7"})));
    assert_eq!(ask(&crossbar, r#"{"sub":"eve"}"#).await, 403);
    let long = format!(r#"{{"sub":"{}"}}"#, "s".repeat(129));
    for body in
        ["", "{}", "[]", "null", r#"{"sub":"a","jti":"b"}"#, r#"{"sub":1}"#, r#"{"sub":""}"#, r#"{"iss":"a"}"#, &long]
    {
        assert_eq!(ask(&admin, body).await, 400, "{body}");
    }
    assert_eq!(ask(&admin, &"x".repeat(4097)).await, 413);
    assert_eq!(ask(&admin, r#"{"sub":"root"}"#).await, 204);
    assert_eq!(ask(&admin, r#"{"sub":"eve"}"#).await, 403, "a revoked admin");
}

#[tokio::test]
async fn str_115_a_full_list_refuses_entries_and_loses_none() {
    let pod = start(&["--limit=pod.revocations=2"]).await;
    for name in ["a", "b", "a"] {
        assert_eq!(revoke(&pod, &format!(r#"{{"sub":"{name}"}}"#)).await.0, 204);
    }
    assert_eq!(revoke(&pod, r#"{"sub":"c"}"#).await, refusal(Code::TooManyRevocations));
    assert_eq!(upgrade(&pod, "/lab/7", &token("a", "1")).await, refusal(Code::TokenRevoked));
    assert_eq!(upgrade(&pod, "/lab/7", &token("c", "1")).await.0, 101);
}
