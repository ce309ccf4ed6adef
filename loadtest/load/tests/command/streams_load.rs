//! `parley-load streams` and `bench` against a relay, and against servers that each do one thing wrong: the load must detect each fault.
use super::fake::{Server, Socket};
use super::parley::run;
use super::relay::{ANYWHERE, Relay};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// What a server sends to readers for a message of a publisher. Its arguments: the number of the message, its bytes, and memory that lasts from
/// message to message.
type Behavior = fn(usize, &[u8], &mut Vec<u8>) -> Vec<Message>;

/// The readers, with the path of each.
type Readers = Arc<Mutex<Vec<(String, UnboundedSender<Message>)>>>;

fn binary(bytes: &[u8]) -> Message {
    Message::binary(bytes.to_vec())
}

/// Relays messages as `behavior` says.
async fn serve(server: Server, behavior: Behavior) {
    let readers = Readers::default();
    loop {
        let socket = server.socket().await;
        let path = server.asked.lock().unwrap().take().unwrap().uri().path().to_owned();
        let readers = Arc::clone(&readers);
        match path.strip_prefix("/in") {
            Some(topic) => drop(tokio::spawn(publish(socket, format!("/out{topic}"), readers, behavior))),
            None => {
                let (sender, mut messages) = unbounded_channel();
                readers.lock().unwrap().push((path, sender));
                let mut socket = socket;
                tokio::spawn(async move {
                    while let Some(message) = messages.recv().await {
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    }
}

async fn publish(mut socket: Socket, topic: String, readers: Readers, behavior: Behavior) {
    let mut kept = Vec::new();
    let mut number = 0;
    while let Some(Ok(Message::Binary(bytes))) = socket.next().await {
        let messages = behavior(number, &bytes, &mut kept);
        number += 1;
        for (_, reader) in readers.lock().unwrap().iter().filter(|(path, _)| *path == topic) {
            for message in &messages {
                let _ = reader.send(message.clone());
            }
        }
    }
}

/// The exit code and the report of a short load of 2 topics with 2 readers each.
async fn measure(behavior: Behavior) -> (Option<i32>, Value) {
    measure_with(behavior, &[]).await
}

async fn measure_with(behavior: Behavior, more: &[&str]) -> (Option<i32>, Value) {
    let server = Server::start().await;
    let url = server.url("");
    let serving = tokio::spawn(serve(server, behavior));
    let outcome = load(&url, more).await;
    serving.abort();
    outcome
}

/// The flags of a load whose messages all arrive: it waits for them also on a slow machine.
const LONG_DRAIN: [&str; 2] = ["--drain", "20"];

/// The flags that a test does not override.
const DEFAULTS: [[&str; 2]; 7] = [
    ["--topics", "2"],
    ["--readers", "2"],
    ["--bytes", "200"],
    ["--rate", "100"],
    ["--seconds", "0.5"],
    ["--warm-up", "0.1"],
    ["--drain", "1"],
];

async fn load(url: &str, more: &[&str]) -> (Option<i32>, Value) {
    let mut arguments = vec!["streams", "--url", url, "--json", "-"];
    arguments.extend(DEFAULTS.iter().filter(|[flag, _]| !more.contains(flag)).flatten());
    arguments.extend(more);
    let output = run(&arguments).await;
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

fn number(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// Asserts that exactly these counts of faults are not zero.
fn only_faults(report: &Value, names: &[&str]) {
    for name in ["missing", "duplicated", "corrupt", "outOfOrder", "extra", "closed"] {
        assert_eq!(number(report, name) > 0, names.contains(&name), "{name} in {report}");
    }
    assert_eq!(report["exact"], names.is_empty(), "{report}");
}

#[tokio::test]
async fn a_correct_server_is_exact() {
    let (code, report) = measure_with(|_, bytes, _| vec![binary(bytes)], &LONG_DRAIN).await;
    only_faults(&report, &[]);
    assert_eq!((code, report["ratio"].as_f64()), (Some(0), Some(1.0)), "{report}");
    assert!(number(&report, "sent") > 50 && number(&report, "expected") == 2 * number(&report, "sent"), "{report}");
    assert!(report["latencyMs"]["p50"].as_f64() > Some(0.0), "{report}");
}

#[tokio::test]
async fn fragments_are_reassembled() {
    let halves: Behavior = |_, bytes, _| {
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        let frame = |bytes: &[u8], kind, last| Message::Frame(Frame::message(bytes.to_vec(), OpCode::Data(kind), last));
        vec![frame(first, Data::Binary, false), frame(rest, Data::Continue, true)]
    };
    let (code, report) = measure_with(halves, &LONG_DRAIN).await;
    only_faults(&report, &[]);
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn lost_messages_are_detected() {
    let (code, report) = measure(|number, bytes, _| if number % 10 == 3 { vec![] } else { vec![binary(bytes)] }).await;
    only_faults(&report, &["missing"]);
    assert_eq!(number(&report, "missing"), number(&report, "expected") - number(&report, "delivered"), "{report}");
    assert!(code == Some(4) && report["ratio"].as_f64() < Some(0.95), "{report}");
}

#[tokio::test]
async fn lost_messages_at_the_end_are_detected() {
    let (code, report) = measure(|number, bytes, _| if number > 5 { vec![] } else { vec![binary(bytes)] }).await;
    only_faults(&report, &["missing"]);
    assert_eq!((code, number(&report, "delivered")), (Some(4), 4 * 6), "{report}");
}

#[tokio::test]
async fn duplicated_messages_are_detected() {
    let (code, report) = measure(|number, bytes, _| vec![binary(bytes); if number % 10 == 3 { 2 } else { 1 }]).await;
    only_faults(&report, &["duplicated"]);
    assert_eq!((code, report["ratio"].as_f64()), (Some(4), Some(1.0)), "{report}");
}

#[tokio::test]
async fn one_changed_bit_is_detected() {
    let (code, report) = measure(|number, bytes, _| {
        let mut bytes = bytes.to_vec();
        let last = bytes.len() - 1;
        bytes[last] ^= u8::from(number % 10 == 3);
        vec![binary(&bytes)]
    })
    .await;
    only_faults(&report, &["corrupt", "missing"]);
    assert_eq!((code, number(&report, "corrupt")), (Some(4), number(&report, "missing")), "{report}");
}

#[tokio::test]
async fn concatenated_messages_are_detected() {
    let (code, report) = measure(|number, bytes, kept| {
        kept.extend_from_slice(bytes);
        if number % 2 == 0 { vec![] } else { vec![binary(&std::mem::take(kept))] }
    })
    .await;
    only_faults(&report, &["corrupt", "missing"]);
    assert_eq!((code, number(&report, "delivered")), (Some(4), 0), "{report}");
}

#[tokio::test]
async fn split_messages_are_detected() {
    let (code, report) = measure(|number, bytes, _| {
        let (first, rest) = bytes.split_at(if number % 10 == 3 { 100 } else { bytes.len() });
        [first, rest].into_iter().filter(|part| !part.is_empty()).map(binary).collect()
    })
    .await;
    only_faults(&report, &["corrupt", "missing"]);
    assert_eq!((code, number(&report, "corrupt")), (Some(4), 2 * number(&report, "missing")), "{report}");
}

#[tokio::test]
async fn reordered_messages_are_detected() {
    let (code, report) = measure(|number, bytes, kept| match number % 10 {
        3 => {
            *kept = bytes.to_vec();
            vec![]
        }
        4 => vec![binary(bytes), binary(kept)],
        _ => vec![binary(bytes)],
    })
    .await;
    // The server may keep the last message.
    assert!(number(&report, "outOfOrder") > 0 && number(&report, "missing") <= 4, "{report}");
    assert!(code == Some(4) && number(&report, "duplicated") == 0, "{report}");
}

#[tokio::test]
async fn binary_messages_sent_as_text_are_detected() {
    // Most payloads are not UTF-8, so `Message::text` cannot make the frame.
    let (code, report) =
        measure(|_, bytes, _| vec![Message::Frame(Frame::message(bytes.to_vec(), OpCode::Data(Data::Text), true))])
            .await;
    only_faults(&report, &["corrupt", "missing"]);
    assert_eq!(code, Some(4));
}

#[tokio::test]
async fn messages_that_no_publisher_sent_are_detected() {
    let (code, report) = measure(|_, bytes, _| vec![binary(bytes), binary(b"advertisement")]).await;
    only_faults(&report, &["corrupt"]);
    assert_eq!((code, report["ratio"].as_f64()), (Some(4), Some(1.0)), "{report}");
}

#[tokio::test]
async fn messages_of_another_topic_are_detected() {
    static OTHER: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let (code, report) = measure(|number, bytes, _| {
        let mut other = OTHER.lock().unwrap();
        let stray = std::mem::replace(&mut *other, bytes.to_vec());
        // Publishers of the two topics alternate: the previous message is usually of the other topic.
        if number % 10 == 3 { vec![binary(bytes), binary(&stray)] } else { vec![binary(bytes)] }
    })
    .await;
    assert!(number(&report, "extra") > 0 && number(&report, "missing") == 0 && code == Some(4), "{report}");
}

#[tokio::test]
async fn closed_sockets_are_detected() {
    let (code, report) =
        measure(|number, bytes, _| if number == 5 { vec![Message::Close(None)] } else { vec![binary(bytes)] }).await;
    assert!(number(&report, "closed") == 4 && number(&report, "missing") > 0 && code == Some(4), "{report}");
}

#[tokio::test]
async fn a_closed_loop_continues_after_a_lost_message() {
    let server = Server::start().await;
    let url = server.url("");
    let lossy: Behavior = |number, bytes, _| if number == 20 { vec![] } else { vec![binary(bytes)] };
    let serving = tokio::spawn(serve(server, lossy));
    let (code, report) = load(&url, &["--rate", "0", "--window", "1", "--seconds", "3"]).await;
    serving.abort();
    assert_eq!((code, number(&report, "missing"), number(&report, "stalls") > 0), (Some(4), 4, true), "{report}");
    assert!(number(&report, "delivered") > 4 * 21, "{report}");
}

#[tokio::test]
async fn a_busy_generator_voids_the_measurement() {
    let relay = Relay::start(ANYWHERE, "").await;
    let (code, report) = load(&relay.url(""), &[&["--void-above", "0"], &LONG_DRAIN[..]].concat()).await;
    assert_eq!((code, &report["void"], &report["exact"]), (Some(5), &true.into(), &true.into()), "{report}");
}

#[tokio::test]
async fn str_10_the_relay_is_exact_under_any_load() {
    let relay = Relay::start(ANYWHERE, "").await;
    let pid = relay.child.id().unwrap().to_string();
    for load_of in [
        vec!["--paths", "plain"],
        vec!["--rate", "0", "--window", "16"],
        vec!["--rate", "0", "--window", "2", "--bytes", "1000000"],
        vec!["--bytes", "4583", "--readers", "30", "--pid", &pid],
    ] {
        let (code, report) = load(&relay.url(""), &[&load_of, &LONG_DRAIN[..]].concat()).await;
        only_faults(&report, &[]);
        // The measurement may be void, as other tests use the machine.
        assert!(matches!(code, Some(0 | 5)), "{load_of:?}: {report}");
        assert_eq!(report["server"].is_null(), !load_of.contains(&"--pid"), "{report}");
    }
}

#[tokio::test]
async fn a_bench_runs_the_selected_rows() {
    let relay = Relay::start(ANYWHERE, "").await;
    let (url, pid) = (relay.url(""), relay.child.id().unwrap().to_string());
    let fixed = ["bench", "--url", &url, "--pid", &pid, "--seconds", "0.3", "--warm-up", "0", "--json", "-"];
    let output = run(&[&fixed[..], &["--row", "100B-1-to-1", "--row", "video-1-to-100"]].concat()).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(matches!(output.status.code(), Some(0 | 5)), "{report}");
    assert_eq!((&report[0]["row"], &report[1]["row"]), (&"video-1-to-100".into(), &"100B-1-to-1".into()));
    assert!(report[2].is_null() && report[1]["server"]["cpuSeconds"].as_f64() > Some(0.0), "{report}");
}
