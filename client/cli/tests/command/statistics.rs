//! `parley stream stats`. Rules STR-60 and STR-61.
use super::parley::{run, start};
use super::relay::{ANYWHERE, Relay};

#[tokio::test]
async fn str_61_statistics_are_shown_once_as_json() {
    let relay = Relay::start(ANYWHERE, "").await;
    let _hears = start(&["stream", "sub", &relay.url("/out/cam")]);
    relay.until_sockets(1).await;
    let output = run(&["stream", "stats", &relay.url(""), "--once"]).await;
    assert!(output.status.success(), "{output:?}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["clients"][0]["topic"], "/out/cam");
}

#[tokio::test]
async fn str_61_statistics_are_shown_repeatedly() {
    let relay = Relay::start(ANYWHERE, "").await;
    let mut stats = start(&["stream", "stats", &relay.url("/ws"), "--every", "200"]);
    let mut lines = Vec::new();
    while lines.iter().filter(|byte| **byte == b'\n').count() < 3 {
        lines.extend(stats.read(1).await);
    }
    assert!(stats.interrupt().await.status.success());
}
