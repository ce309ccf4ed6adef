//! `parley-load room` against a service and a relay: exact where nothing fails, inexact where the relay fails.
use super::media::{Door, Scratch};
use super::parley::{run, signal, start};
use super::relay::ANYWHERE;
use super::service::Service;
use serde_json::{Value, json};
use std::process::Output;
use std::time::Duration;

const NAMES: [&str; 4] = ["load 1", "load 2", "load 3", "load 4"];

fn report_of(output: &Output) -> (Option<i32>, Value) {
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

fn arguments<'a>(page: &'a str, more: &'a str) -> Vec<&'a str> {
    let fixed = ["room", page, "--json", "-", "--participants", "4", "--warm-up", "0.3"];
    fixed.into_iter().chain(more.split(' ')).collect()
}

#[tokio::test]
async fn all_video_and_audio_reaches_its_watchers_and_all_participants_leave() {
    let scratch = Scratch::new("room");
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let page = service.page();
    let (code, report) = report_of(&run(&arguments(&page, "--tiles 2 --speakers 1 --for 2 --drain 20")).await);
    assert!(code == Some(0) || report["void"] == true, "{report}");
    assert_eq!(report["exact"], true, "{report}");
    // Four participants watch two videos of 15 frames per second, three watch one audio track of 25.
    for (what, least) in [("pictures", 4 * 2 * 15 * 2), ("voices", 3 * 25 * 2)] {
        let frames = &report[what];
        let (expected, delivered) = (frames["expected"].as_u64().unwrap(), frames["delivered"].as_u64().unwrap());
        assert!(expected == delivered && (least * 9 / 10..least * 2).contains(&expected), "{what}: {report}");
    }
    for field in ["delayMs", "rttMs", "jitterMs"] {
        assert!(report[field]["p50"].as_f64() > Some(0.0), "{field}: {report}");
    }
    assert_eq!((&report["loss"]["share"], &report["lateJoins"]), (&json!(0.0), &json!(0)), "{report}");
    assert_eq!(report["relays"], json!({ &door.address: 4 }));
    let (began, ended) = (report["window"]["beganMs"].as_u64().unwrap(), report["window"]["endedMs"].as_u64().unwrap());
    assert!((1900..4000).contains(&(ended - began)), "{report}");
    service.until_left(&NAMES).await;
}

#[tokio::test]
async fn a_killed_relay_is_detected() {
    let scratch = Scratch::new("room-dies");
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let page = service.page();
    let load = start(&arguments(&page, "--for 6 --drain 0.2"));
    service.until_here(4).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    signal(&door.relay.child, "KILL");
    let (code, report) = report_of(&load.end().await);
    assert_eq!((code, &report["exact"]), (Some(4), &json!(false)), "{report}");
    assert!(report["freezes"]["count"].as_u64() > Some(0), "{report}");
    assert!(report["freezes"]["longestMs"].as_f64() > Some(500.0), "{report}");
    assert!(report["loss"]["share"].as_f64() > Some(0.05), "{report}");
}

#[tokio::test]
async fn ctrl_c_ends_a_load_with_a_report_and_all_participants_leave() {
    let scratch = Scratch::new("room-ends");
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let page = service.page();
    let load = start(&arguments(&page, "--for 600 --drain 20"));
    service.until_here(4).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (_, report) = report_of(&load.interrupt().await);
    assert_eq!((&report["interrupted"], &report["exact"]), (&json!(true), &json!(true)), "{report}");
    service.until_left(&NAMES).await;
}

#[tokio::test]
async fn a_refused_join_ends_the_load_with_an_error() {
    let service = Service::start(&[]).await;
    let page = service.page();
    let errors = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let output = run(&["room", &page, "--participants", "1"]).await;
    assert!(output.status.code() == Some(1) && errors(&output).contains("--participants must be"), "{output:?}");
    let output = run(&["room", &page.replace("/r/", "/live/")]).await;
    assert!(output.status.code() == Some(2) && errors(&output).contains("must be https://HOST/r/ROOM"), "{output:?}");
    let output = run(&arguments(&page, "--for 1")).await;
    assert!(output.status.code() == Some(1) && errors(&output).contains("RELAY_UNAVAILABLE"), "{output:?}");
    service.refuse("ROOM_FULL");
    let output = run(&arguments(&page, "--for 1")).await;
    assert!(output.status.code() == Some(3) && errors(&output).contains("ROOM_FULL (403)"), "{output:?}");
}
