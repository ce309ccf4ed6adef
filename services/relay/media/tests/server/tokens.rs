//! Invalid tokens against a relay that requires tokens: the session is refused (MED-12, MED-13), or ends within a second (MED-15).
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::client::{Publisher, Watcher, call, stay};
use crate::process::Process;

const SECRET: &str = "a secret of thirty-two bytes ...";
const REFUSED_WITHIN: Duration = Duration::from_secs(2);
const ENDED_WITHIN: Duration = Duration::from_secs(1);

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn signed(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), message.as_bytes());
    format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

/// A token for the broadcasts of laboratory 7, changed by `changes`: one for a room requires certain versions of MoQ (MED-76).
fn token(changes: &Value) -> String {
    let mut claims = json!({
        "aud": "parley:media", "sub": "ada", "iat": now(), "exp": now() + 60,
        "publish": ["lab/7/ada/*"], "subscribe": ["lab/7/**"],
    });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    signed(&json!({"alg": "HS256"}), &claims)
}

async fn guarded() -> Process {
    let file = std::env::temp_dir().join(format!("parley-media-secret-{}", std::process::id()));
    std::fs::write(&file, SECRET).unwrap();
    let secret = format!("--token-secret-file={}", file.display());
    Process::start(&["--access=token", &secret]).await
}

#[tokio::test]
async fn med_13_and_15_bad_tokens_are_refused_or_end_within_a_second() {
    let relay = guarded().await;
    let good = token(&json!({}));
    let unsigned =
        signed(&json!({"alg": "none"}), &json!({"aud": "parley:media", "exp": now() + 60, "publish": ["**"]}));
    let bare = format!("{}.", unsigned.rsplit_once('.').unwrap().0);
    for (what, bad, code) in [
        ("algorithm none", unsigned, "TOKEN_INVALID"),
        ("algorithm none, no signature", bare, "TOKEN_INVALID"),
        ("another key", format!("{}x", &good[..good.len() - 1]), "TOKEN_INVALID"),
        ("expired", token(&json!({"exp": now() - 1})), "TOKEN_EXPIRED"),
        ("for streams", token(&json!({"aud": "parley:streams"})), "TOKEN_INSUFFICIENT_SCOPE"),
        ("none", String::new(), "TOKEN_REQUIRED"),
    ] {
        let (before, begin) = (relay.metric("refusals_total", code).await, Instant::now());
        assert!(call(relay.url(&bad), &[]).await.is_err(), "{what}");
        let took = begin.elapsed();
        println!("{what}: refused in {took:?}");
        assert!(took < REFUSED_WITHIN, "{what}: {took:?}");
        assert_eq!(relay.metric("refusals_total", code).await, before + 1.0, "{what}");
    }

    let _publisher = Publisher::start(relay.url(&good), &[], "lab/7/ada/cam").await;
    let strays = [
        Publisher::start(relay.url(&good), &[], "lab/8/ada/cam").await,
        Publisher::start(relay.url(&token(&json!({"publish": []}))), &[], "lab/7/ada/screen").await,
    ];
    let all = token(&json!({"subscribe": ["**"]}));
    let room = token(&json!({"subscribe": ["lab/8/**"]}));
    let mute = token(&json!({"subscribe": []}));
    let mut nothing = [
        ("wrong room published", Watcher::start(relay.url(&all), &[], "lab/8/ada/cam").await),
        ("wrong direction published", Watcher::start(relay.url(&all), &[], "lab/7/ada/screen").await),
        ("wrong room watched", Watcher::start(relay.url(&room), &[], "lab/7/ada/cam").await),
        ("wrong direction watched", Watcher::start(relay.url(&mute), &[], "lab/7/ada/cam").await),
    ];
    Watcher::start(relay.url(&good), &[], "lab/7/ada/cam").await.frames(50).await;
    for (what, watcher) in &mut nothing {
        assert!(watcher.received_nothing(), "{what}");
    }
    drop(strays);

    let short = stay(relay.url(&token(&json!({"exp": now() + 3}))), &[]).await;
    let begin = Instant::now();
    let _ = tokio::time::timeout(Duration::from_secs(3) + ENDED_WITHIN, short.closed())
        .await
        .expect("the session outlives its token");
    println!("expired while live: ended after {:?} of 3 s at most", begin.elapsed());
    let mut live = Watcher::start(relay.url(&token(&json!({"sub": "eve"}))), &[], "lab/7/ada/cam").await;
    live.frames(10).await;
    let admin = signed(&json!({"alg": "HS256"}), &json!({"exp": now() + 60, "aud": "parley:streams", "admin": true}));
    let begin = Instant::now();
    let body = r#"{"sub": "eve"}"#;
    let answer = relay
        .request(&format!(
            "POST /v1/revocations HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer {admin}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    relay.until("sessions_ended_total", "TOKEN_REVOKED", |ended| ended == 1.0).await;
    println!("revoked while live: ended after {:?}", begin.elapsed());
    assert!(begin.elapsed() < ENDED_WITHIN, "the session outlives its revocation");
    assert_eq!(relay.metric("sessions_ended_total", "TOKEN_EXPIRED").await, 1.0);
}
