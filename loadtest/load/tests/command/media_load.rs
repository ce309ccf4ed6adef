//! `parley-load media` against a relay: exact where nothing fails, inexact where the relay fails.
use super::media::{Door, Scratch};
use super::parley::{run, signal, start};
use super::relay::{ANYWHERE, DEADLINE};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A relay with media, and its URL.
struct Media {
    door: Door,
    url: String,
    _scratch: Scratch,
}

impl Media {
    async fn start(flags: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let scratch = Scratch::new(&format!("load-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let door = Door::start(ANYWHERE, &scratch, flags).await;
        Self { url: format!("https://{}/", door.address), door, _scratch: scratch }
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut arguments = vec!["media", "--relay", &self.url, "--hash", &self.door.hash, "--json", "-"];
        arguments.extend(["--warm-up", "0.2"]);
        if !more.contains(&"--drain") {
            arguments.extend(["--drain", "20"]);
        }
        arguments.extend(more);
        arguments
    }

    async fn load(&self, more: &[&str]) -> (Option<i32>, Value) {
        report_of(&run(&self.arguments(more)).await)
    }
}

fn report_of(output: &Output) -> (Option<i32>, Value) {
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

fn number(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"))
}

#[tokio::test]
async fn every_frame_of_every_publisher_reaches_every_watcher() {
    let media = Media::start("").await;
    let pid = media.door.relay.child.id().unwrap().to_string();
    let load = ["--audio", "--publishers", "3", "--watchers", "4", "--seconds", "1.5", "--pid", &pid];
    let (code, report) = media.load(&load).await;
    assert!(code == Some(0) || report["void"] == true, "{report}");
    assert_eq!((&report["exact"], number(&report, "missing")), (&true.into(), 0), "{report}");
    assert!(number(&report, "expected") > 4 * 3 * 50 && number(&report, "skippedGroups") == 0, "{report}");
    assert_eq!(report["each"].as_array().unwrap().len(), 4);
    for field in ["latencyMs", "firstFrameMs", "rttMs"] {
        assert!(report[field]["p50"].as_f64() > Some(0.0), "{field} in {report}");
    }
    let path = &report["paths"][0];
    assert_eq!((&path["from"], &path["to"], &report["paths"][1]), (&"".into(), &"".into(), &Value::Null), "{report}");
    assert!(number(path, "frames") > 0 && path["meanMs"].as_f64() > Some(0.0), "{report}");
    assert!(report["server"]["cpuSeconds"].as_f64() > Some(0.0), "{report}");
}

#[tokio::test]
async fn participants_of_a_room_receive_the_video_of_all_others() {
    let media = Media::start("").await;
    let (_, report) = media.load(&["--room", "3", "--seconds", "1.5"]).await;
    assert_eq!((&report["exact"], number(&report, "missing")), (&true.into(), 0), "{report}");
    assert!(number(&report, "expected") > 3 * 2 * 30, "{report}");
    let rate = report["megabitsPerSecond"].as_f64().unwrap();
    assert!((0.8..1.3).contains(&rate), "{rate} Mbit/s");
}

#[tokio::test]
async fn a_killed_relay_is_detected() {
    let media = Media::start("").await;
    let load = start(&media.arguments(&["--audio", "--seconds", "4", "--drain", "0.5"]));
    tokio::time::sleep(Duration::from_secs(2)).await;
    signal(&media.door.relay.child, "KILL");
    let (code, report) = report_of(&load.end().await);
    assert_eq!((code, &report["exact"]), (Some(4), &false.into()), "{report}");
    assert!(number(&report, "missing") > 0 && number(&report, "freezes") > 0, "{report}");
}

#[tokio::test]
async fn ctrl_c_ends_a_load_with_a_report() {
    let media = Media::start("").await;
    let load = start(&media.arguments(&["--audio", "--seconds", "600"]));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let output = tokio::time::timeout(DEADLINE, load.interrupt()).await.expect("it does not end");
    let (_, report) = report_of(&output);
    assert_eq!((&report["interrupted"], &report["exact"]), (&true.into(), &true.into()), "{report}");
    assert!(number(&report, "delivered") > 0, "{report}");
}

#[tokio::test]
async fn a_refused_token_ends_the_load_without_showing_the_token() {
    let secret = std::env::temp_dir().join(format!("parley-load-{}.secret", std::process::id()));
    std::fs::write(&secret, "a secret of thirty-two bytes ...").unwrap();
    let media = Media::start(&format!("--access=token --token-secret-file={}", secret.display())).await;
    std::fs::remove_file(secret).unwrap();
    let url = format!("{}?jwt=secret", media.url);
    let output = run(&["media", "--audio", "--relay", &url, "--hash", &media.door.hash]).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains(&media.url) && !errors.contains("secret"), "{errors}");
}

#[tokio::test]
async fn an_unknown_network_namespace_ends_the_load() {
    let url = "https://127.0.0.1:1/#parley-no-such-namespace";
    let output = run(&["media", "--audio", "--relay", url]).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("in network namespace parley-no-such-namespace: no such network namespace"), "{errors}");
}

#[tokio::test]
async fn a_certificate_with_another_hash_is_rejected() {
    let media = Media::start("").await;
    let other = BASE64_STANDARD.encode([7; 32]);
    let output = run(&["media", "--audio", "--relay", &media.url, "--hash", &other]).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("cannot be reached"), "{errors}");
}
