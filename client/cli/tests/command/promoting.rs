//! `parley region promote` at a pod. Rule HOME-12.
use super::parley::run;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A pod of `us` that answers one promotion; the address, and what it was asked.
async fn pod(status: &'static str, answer: Value) -> (String, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let list = json!({ "region": "us", "regions": [{ "name": "us", "url": "https://us.example.com" }] });
    let serves = tokio::spawn(async move {
        let mut asked = Vec::new();
        for (status, answer) in [("200 OK", list), (status, answer)] {
            let Ok((mut stream, _)) = listener.accept().await else { break };
            let mut head = vec![0; 4096];
            let mut size = stream.read(&mut head).await.unwrap();
            // The body may come by itself.
            if head.starts_with(b"POST") && !head[..size].ends_with(b"}") {
                size += stream.read(&mut head[size..]).await.unwrap();
            }
            asked.push(String::from_utf8_lossy(&head[..size]).into_owned());
            let body = answer.to_string();
            let whole =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
            stream.write_all(whole.as_bytes()).await.unwrap();
        }
        asked
    });
    (url, serves)
}

#[tokio::test]
async fn home_12_a_region_is_promoted_at_a_pod_of_it() {
    let (url, serves) = pod("200 OK", json!({ "home": "eu", "by": "us", "ok": true, "term": 3 })).await;
    let output = run(&["region", "promote", "us", "--for", "eu", "--without", "ap,sa", "--pod", &url]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "us answers for the rooms of eu from now on (term 3)\n");
    let asked = serves.await.unwrap();
    assert!(asked[1].starts_with("POST /admin/homes/eu/promote "), "{asked:?}");
    assert!(asked[1].ends_with(r#"{"without":["ap","sa"]}"#), "{asked:?}");
}

#[tokio::test]
async fn home_12_a_refusal_names_the_regions_in_question() {
    let answer = json!({ "home": "eu", "by": "us", "ok": false, "refused": "REGION_SILENT", "regions": ["ap"] });
    let (url, _serves) = pod("409 Conflict", answer).await;
    let output = run(&["region", "promote", "us", "--for", "eu", "--pod", &url]).await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("REGION_SILENT: ap does not answer") && said.contains("--without ap"), "{said}");
}

#[tokio::test]
async fn home_12_nothing_is_asked_of_a_pod_of_another_region() {
    let (url, serves) = pod("200 OK", json!({})).await;
    let output = run(&["region", "promote", "ap", "--for", "eu", "--pod", &url]).await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a pod of us, not of ap"), "{output:?}");
    serves.abort();
    assert!(serves.await.is_err(), "the second request never came");
}
