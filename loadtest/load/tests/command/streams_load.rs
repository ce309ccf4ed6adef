//! The generator against servers that each do one thing wrong: a load that cannot fail measures nothing.
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

/// What a server makes of a publisher's messages: given the message's number and itself, what a reader gets.
type Deed = fn(usize, &[u8], &mut Vec<u8>) -> Vec<Message>;

/// Who hears, by path.
type Readers = Arc<Mutex<Vec<(String, UnboundedSender<Message>)>>>;

fn whole(bytes: &[u8]) -> Message {
    Message::binary(bytes.to_vec())
}

/// Relays, and does the deed; every so often, so that most goes well.
async fn serve(server: Server, deed: Deed) {
    let readers = Readers::default();
    loop {
        let socket = server.socket().await;
        let path = server.asked.lock().unwrap().take().unwrap().uri().path().to_owned();
        let readers = Arc::clone(&readers);
        match path.strip_prefix("/in") {
            Some(topic) => drop(tokio::spawn(publish(socket, format!("/out{topic}"), readers, deed))),
            None => {
                let (say, mut hear) = unbounded_channel();
                readers.lock().unwrap().push((path, say));
                let mut socket = socket;
                tokio::spawn(async move {
                    while let Some(message) = hear.recv().await {
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    }
}

async fn publish(mut socket: Socket, topic: String, readers: Readers, deed: Deed) {
    let mut kept = Vec::new();
    let mut number = 0;
    while let Some(Ok(Message::Binary(bytes))) = socket.next().await {
        let messages = deed(number, &bytes, &mut kept);
        number += 1;
        for (_, say) in readers.lock().unwrap().iter().filter(|(path, _)| *path == topic) {
            for message in &messages {
                let _ = say.send(message.clone());
            }
        }
    }
}

/// The exit code and the report of a short load of 2 topics with 2 readers each.
async fn judged(deed: Deed) -> (Option<i32>, Value) {
    judged_with(deed, &[]).await
}

async fn judged_with(deed: Deed, more: &[&str]) -> (Option<i32>, Value) {
    let server = Server::start().await;
    let url = server.url("");
    let serving = tokio::spawn(serve(server, deed));
    let outcome = load(&url, more).await;
    serving.abort();
    outcome
}

/// Where everything comes, however late on a slow machine: then the load ends.
const PATIENT: [&str; 2] = ["--drain", "20"];

/// What a load is where a test does not say otherwise.
const USUALLY: [[&str; 2]; 7] = [
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
    arguments.extend(USUALLY.iter().filter(|[flag, _]| !more.contains(flag)).flatten());
    arguments.extend(more);
    let output = run(&arguments).await;
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

fn number(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// Everything that can be wrong, but these.
fn nothing_but(report: &Value, names: &[&str]) {
    for name in ["missing", "duplicated", "corrupt", "outOfOrder", "extra", "closed"] {
        assert_eq!(number(report, name) > 0, names.contains(&name), "{name} in {report}");
    }
    assert_eq!(report["exact"], names.is_empty(), "{report}");
}

#[tokio::test]
async fn a_server_that_does_nothing_wrong_is_exact() {
    let (code, report) = judged_with(|_, bytes, _| vec![whole(bytes)], &PATIENT).await;
    nothing_but(&report, &[]);
    assert_eq!((code, report["ratio"].as_f64()), (Some(0), Some(1.0)), "{report}");
    assert!(number(&report, "sent") > 50 && number(&report, "expected") == 2 * number(&report, "sent"), "{report}");
    assert!(report["latencyMs"]["p50"].as_f64() > Some(0.0), "{report}");
}

#[tokio::test]
async fn fragments_of_one_message_are_one_message() {
    let halves: Deed = |_, bytes, _| {
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        let frame = |bytes: &[u8], kind, last| Message::Frame(Frame::message(bytes.to_vec(), OpCode::Data(kind), last));
        vec![frame(first, Data::Binary, false), frame(rest, Data::Continue, true)]
    };
    let (code, report) = judged_with(halves, &PATIENT).await;
    nothing_but(&report, &[]);
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn a_server_that_loses_messages_is_noticed() {
    let (code, report) = judged(|number, bytes, _| if number % 10 == 3 { vec![] } else { vec![whole(bytes)] }).await;
    nothing_but(&report, &["missing"]);
    assert_eq!(number(&report, "missing"), number(&report, "expected") - number(&report, "delivered"), "{report}");
    assert!(code == Some(4) && report["ratio"].as_f64() < Some(0.95), "{report}");
}

#[tokio::test]
async fn a_server_that_loses_the_last_messages_is_noticed() {
    let (code, report) = judged(|number, bytes, _| if number > 5 { vec![] } else { vec![whole(bytes)] }).await;
    nothing_but(&report, &["missing"]);
    assert_eq!((code, number(&report, "delivered")), (Some(4), 4 * 6), "{report}");
}

#[tokio::test]
async fn a_server_that_sends_messages_twice_is_noticed() {
    let (code, report) = judged(|number, bytes, _| vec![whole(bytes); if number % 10 == 3 { 2 } else { 1 }]).await;
    nothing_but(&report, &["duplicated"]);
    assert_eq!((code, report["ratio"].as_f64()), (Some(4), Some(1.0)), "{report}");
}

#[tokio::test]
async fn a_server_that_changes_one_bit_is_noticed() {
    let (code, report) = judged(|number, bytes, _| {
        let mut bytes = bytes.to_vec();
        let last = bytes.len() - 1;
        bytes[last] ^= u8::from(number % 10 == 3);
        vec![whole(&bytes)]
    })
    .await;
    nothing_but(&report, &["corrupt", "missing"]);
    assert_eq!((code, number(&report, "corrupt")), (Some(4), number(&report, "missing")), "{report}");
}

#[tokio::test]
async fn a_server_that_makes_one_message_of_two_is_noticed() {
    let (code, report) = judged(|number, bytes, kept| {
        kept.extend_from_slice(bytes);
        if number % 2 == 0 { vec![] } else { vec![whole(&std::mem::take(kept))] }
    })
    .await;
    nothing_but(&report, &["corrupt", "missing"]);
    assert_eq!((code, number(&report, "delivered")), (Some(4), 0), "{report}");
}

#[tokio::test]
async fn a_server_that_makes_two_messages_of_one_is_noticed() {
    let (code, report) = judged(|number, bytes, _| {
        let (first, rest) = bytes.split_at(if number % 10 == 3 { 100 } else { bytes.len() });
        [first, rest].into_iter().filter(|part| !part.is_empty()).map(whole).collect()
    })
    .await;
    nothing_but(&report, &["corrupt", "missing"]);
    assert_eq!((code, number(&report, "corrupt")), (Some(4), 2 * number(&report, "missing")), "{report}");
}

#[tokio::test]
async fn a_server_that_changes_the_order_is_noticed() {
    let (code, report) = judged(|number, bytes, kept| match number % 10 {
        3 => {
            *kept = bytes.to_vec();
            vec![]
        }
        4 => vec![whole(bytes), whole(kept)],
        _ => vec![whole(bytes)],
    })
    .await;
    // The last one may have been held back for ever.
    assert!(number(&report, "outOfOrder") > 0 && number(&report, "missing") <= 4, "{report}");
    assert!(code == Some(4) && number(&report, "duplicated") == 0, "{report}");
}

#[tokio::test]
async fn a_server_that_makes_text_of_binary_is_noticed() {
    // Most payloads are no UTF-8, so that a text frame must be made by hand.
    let (code, report) =
        judged(|_, bytes, _| vec![Message::Frame(Frame::message(bytes.to_vec(), OpCode::Data(Data::Text), true))])
            .await;
    nothing_but(&report, &["corrupt", "missing"]);
    assert_eq!(code, Some(4));
}

#[tokio::test]
async fn a_server_that_adds_messages_of_its_own_is_noticed() {
    let (code, report) = judged(|_, bytes, _| vec![whole(bytes), whole(b"advertisement")]).await;
    nothing_but(&report, &["corrupt"]);
    assert_eq!((code, report["ratio"].as_f64()), (Some(4), Some(1.0)), "{report}");
}

#[tokio::test]
async fn a_server_that_sends_another_topics_messages_is_noticed() {
    static OTHER: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let (code, report) = judged(|number, bytes, _| {
        let mut other = OTHER.lock().unwrap();
        let stray = std::mem::replace(&mut *other, bytes.to_vec());
        // Topics take turns: the message before this one is, but for hiccups, the other topic's.
        if number % 10 == 3 { vec![whole(bytes), whole(&stray)] } else { vec![whole(bytes)] }
    })
    .await;
    assert!(number(&report, "extra") > 0 && number(&report, "missing") == 0 && code == Some(4), "{report}");
}

#[tokio::test]
async fn a_server_that_ends_sockets_is_noticed() {
    let (code, report) =
        judged(|number, bytes, _| if number == 5 { vec![Message::Close(None)] } else { vec![whole(bytes)] }).await;
    assert!(number(&report, "closed") == 4 && number(&report, "missing") > 0 && code == Some(4), "{report}");
}

#[tokio::test]
async fn a_closed_loop_goes_on_where_a_server_loses_messages() {
    let server = Server::start().await;
    let url = server.url("");
    let lossy: Deed = |number, bytes, _| if number == 20 { vec![] } else { vec![whole(bytes)] };
    let serving = tokio::spawn(serve(server, lossy));
    let (code, report) = load(&url, &["--rate", "0", "--window", "1", "--seconds", "3"]).await;
    serving.abort();
    assert_eq!((code, number(&report, "missing"), number(&report, "stalls") > 0), (Some(4), 4, true), "{report}");
    assert!(number(&report, "delivered") > 4 * 21, "{report}");
}

#[tokio::test]
async fn a_generator_that_is_too_busy_voids_the_measurement() {
    let relay = Relay::start(ANYWHERE, "").await;
    let (code, report) = load(&relay.url(""), &[&["--void-above", "0"], &PATIENT[..]].concat()).await;
    assert_eq!((code, &report["void"], &report["exact"]), (Some(5), &true.into(), &true.into()), "{report}");
}

#[tokio::test]
async fn str_10_the_relay_is_exact_whatever_the_load() {
    let relay = Relay::start(ANYWHERE, "").await;
    let pid = relay.child.id().unwrap().to_string();
    for load_of in [
        vec!["--paths", "plain"],
        vec!["--rate", "0", "--window", "16"],
        vec!["--rate", "0", "--window", "2", "--bytes", "1000000"],
        vec!["--bytes", "4583", "--readers", "30", "--pid", &pid],
    ] {
        let (code, report) = load(&relay.url(""), &[&load_of, &PATIENT[..]].concat()).await;
        nothing_but(&report, &[]);
        // Exact; whether the machine was quiet enough to measure is not this test's business.
        assert!(matches!(code, Some(0 | 5)), "{load_of:?}: {report}");
        assert_eq!(report["server"].is_null(), !load_of.contains(&"--pid"), "{report}");
    }
}

#[tokio::test]
async fn a_bench_runs_the_rows_it_is_told() {
    let relay = Relay::start(ANYWHERE, "").await;
    let (url, pid) = (relay.url(""), relay.child.id().unwrap().to_string());
    let fixed = ["bench", "--url", &url, "--pid", &pid, "--seconds", "0.3", "--warm-up", "0", "--json", "-"];
    let output = run(&[&fixed[..], &["--row", "100B-1-to-1", "--row", "video-1-to-100"]].concat()).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(matches!(output.status.code(), Some(0 | 5)), "{report}");
    assert_eq!((&report[0]["row"], &report[1]["row"]), (&"video-1-to-100".into(), &"100B-1-to-1".into()));
    assert!(report[2].is_null() && report[1]["server"]["cpuSeconds"].as_f64() > Some(0.0), "{report}");
}
