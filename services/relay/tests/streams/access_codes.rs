use super::guarded::{claims, code, hs256, now, post, refusal, start};
use super::pod::Pod;
use super::raw::{UPGRADE, request};
use parley_net::codes::Code;
use serde_json::{Value, json};
use std::time::Duration;

async fn open(pod: &Pod, path: &str, code: &str) -> (u16, String) {
    let (status, _, body) = request(pod, &format!("GET {path}?code={code} HTTP/1.1\r\n{UPGRADE}\r\n")).await;
    (status, body)
}

#[tokio::test]
async fn str_110_a_code_has_a_lifetime_and_expires_after_it() {
    let pod = start(&["--limit=code.lifetime=1000"]).await;
    let (status, head, body) = post(&pod, "/v1/codes/lab/7", &hs256(&claims(json!({}))), "", "").await;
    assert!(status == 201 && head.contains("Cache-Control: no-store"), "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["expiresIn"], 1);
    tokio::time::sleep(Duration::from_millis(1001)).await;
    assert_eq!(open(&pod, "/lab/7", body["code"].as_str().unwrap()).await, refusal(Code::CodeInvalid));
}

#[tokio::test]
async fn str_110_a_code_has_the_permissions_of_its_token() {
    let pod = start(&[]).await;
    let end = now() + 3;
    let ends = hs256(&claims(json!({"exp": end})));
    let admin = hs256(&claims(json!({"admin": true})));
    let (old, revoked) =
        (code(&pod, "/lab/7", &ends).await, code(&pod, "/lab/7", &hs256(&claims(json!({"sub": "eve"})))).await);
    assert_eq!(post(&pod, "/v1/revocations", &admin, "", r#"{"sub":"eve"}"#).await.0, 204);
    assert_eq!(open(&pod, "/lab/7", &revoked).await, refusal(Code::TokenRevoked));
    pod.until("the token is over", || now() >= end).await;
    assert_eq!(open(&pod, "/lab/7", &old).await, refusal(Code::TokenExpired));
}

#[tokio::test]
async fn str_111_the_number_of_codes_of_a_pod_is_limited() {
    let pod = start(&["--limit=pod.codes=2", "--limit=code.lifetime=2000"]).await;
    let token = hs256(&claims(json!({})));
    let _two = (code(&pod, "/lab/7", &token).await, code(&pod, "/lab/7", &token).await);
    let (status, head, body) = post(&pod, "/v1/codes/lab/7", &token, "", "").await;
    assert_eq!((status, body), refusal(Code::TooManyCodes));
    assert!(head.contains("Retry-After: "));
    tokio::time::sleep(Duration::from_millis(2001)).await;
    code(&pod, "/lab/7", &token).await;
}

#[tokio::test]
async fn str_112_only_pages_of_allowed_origins_may_request_codes() {
    let pod = start(&["--origins=https://lab.example"]).await;
    let token = hs256(&claims(json!({})));
    let allowed = "Access-Control-Allow-Origin: https://lab.example\r\n";
    let ask = |origin: &str| {
        format!(
            "OPTIONS /v1/codes/lab/7 HTTP/1.1\r\nHost: relay\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\r\n"
        )
    };
    let (status, head, _) = request(&pod, &ask("https://lab.example")).await;
    assert_eq!(status, 204);
    for line in [
        allowed,
        "Access-Control-Allow-Methods: POST\r\n",
        "Access-Control-Allow-Headers: Authorization\r\n",
        "Vary: Origin\r\n",
    ] {
        assert!(head.contains(line), "{line} is not in {head}");
    }
    assert!(!head.contains("Content-Length"));
    let (status, head, _) = post(&pod, "/v1/codes/lab/7", &token, "Origin: https://lab.example\r\n", "").await;
    assert!(status == 201 && head.contains(allowed), "{head}");
    let (status, head, _) = post(&pod, "/v1/codes/lab/7", "x", "Origin: https://lab.example\r\n", "").await;
    assert!(status == 401 && head.contains(allowed) && head.contains("WWW-Authenticate: Bearer\r\n"), "{head}");
    let (status, head, body) = request(&pod, &ask("https://evil.example")).await;
    assert_eq!((status, body), refusal(Code::OriginDenied));
    assert!(!head.contains("Access-Control"), "{head}");
    let (status, head, _) = post(&pod, "/v1/codes/lab/7", &token, "Origin: https://evil.example\r\n", "").await;
    assert!(status == 403 && !head.contains("Access-Control"), "{head}");
    assert_eq!(post(&pod, "/v1/codes/lab/7", &token, "", "").await.0, 201);
}

#[tokio::test]
async fn str_110_each_refusal_of_the_code_route_has_a_documented_code() {
    let pod = start(&[]).await;
    let token = hs256(&claims(json!({"publish": ["**"], "subscribe": ["**"]})));
    for (path, expected) in [
        ("/v1/codes", 405),
        ("/v1/codesx", 405),
        ("/v1/codes/", 400),
        ("/v1/codes/in", 400),
        ("/v1/codes/../stats", 400),
        ("/v1/codes/stats", 400),
        ("/v1/codes/v1/codes/x", 400),
        ("/v1/codes/%00", 400),
        ("/v1/codes//x", 400),
        ("/v1/codes/lab/%F0%9F%8E%A5?code=x", 201),
    ] {
        assert_eq!(post(&pod, path, &token, "", "").await.0, expected, "{path}");
    }
    let unnamed = "POST /v1/codes/lab/7 HTTP/1.1\r\nHost: relay\r\n\r\n";
    let (status, _, body) = request(&pod, unnamed).await;
    assert_eq!((status, body), refusal(Code::TokenRequired));
    assert_eq!(request(&pod, "GET /v1/codes/lab/7 HTTP/1.1\r\nHost: relay\r\n\r\n").await.0, 404);
}

#[tokio::test]
async fn str_111_one_of_many_sockets_with_one_code_opens() {
    let pod = start(&[]).await;
    let made = code(&pod, "/lab/7", &hs256(&claims(json!({})))).await;
    let head = format!("GET /lab/7?code={made} HTTP/1.1\r\n{UPGRADE}\r\n");
    let mut tries = Vec::new();
    for _ in 0..20 {
        let mut raw = super::raw::Raw::connect(&pod).await;
        raw.write(head.as_bytes()).await;
        tries.push(raw);
    }
    let mut came_in = 0;
    for raw in &mut tries {
        came_in += usize::from(raw.head().await.starts_with("HTTP/1.1 101 "));
    }
    assert_eq!(came_in, 1);
}
