//! `parley-load sockets`.
use super::parley::run;
use super::relay::{ANYWHERE, Relay};

async fn report(relay: &Relay, more: &[&str]) -> (Option<i32>, serde_json::Value) {
    let (url, pid) = (relay.url(""), relay.child.id().unwrap().to_string());
    let fixed = ["sockets", "--url", &url, "--pid", &pid, "--json", "-"];
    let output = run(&[&fixed[..], more].concat()).await;
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

#[tokio::test]
async fn the_memory_of_idle_sockets_is_reported() {
    let relay = Relay::start(ANYWHERE, "").await;
    let (code, report) = report(&relay, &["--count", "50", "--hold", "0.2"]).await;
    assert_eq!((code, &report["opened"], &report["mostAtOnce"]), (Some(0), &50.into(), &50.into()), "{report}");
    assert!(report["memory"]["withKb"].as_u64() >= report["memory"]["beforeKb"].as_u64(), "{report}");
    relay.until_sockets(0).await;
}

#[tokio::test]
async fn connections_open_and_close() {
    let relay = Relay::start(ANYWHERE, "").await;
    let churn = ["--churn", "300", "--per-second", "1000", "--stay", "0.2", "--topics", "5"];
    let (code, report) = report(&relay, &churn).await;
    assert_eq!((code, &report["opened"], &report["closed"]), (Some(0), &300.into(), &0.into()), "{report}");
    assert!(report["received"].as_u64() > Some(0), "{report}");
    relay.until_sockets(0).await;
}

#[tokio::test]
async fn refused_connections_are_reported() {
    let relay = Relay::start(ANYWHERE, "--limit=pod.sockets=20").await;
    let (code, report) = report(&relay, &["--count", "30", "--hold", "0"]).await;
    assert_eq!((code, &report["opened"]), (Some(4), &20.into()), "{report}");
    assert_eq!(report["errors"][r#"refused: 503 {"code":"POD_FULL"}"#], 10, "{report}");
}
