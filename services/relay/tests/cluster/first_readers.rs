//! Whoever sees its socket open misses nothing, also as the first reader on its pod: the answer waits for the other pods.
use super::guarded::{guarded, join, token};
use super::nats::Nats;
use super::pod::{Client, DEADLINE, Pod, start};
use crate::resident;
use futures_util::StreamExt;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// A machine that is busy for seconds is not a pod that stands still.
const PATIENT: &[&str] = &["--limit=link.subscribeTimeout=10000", "--limit=link.idleTimeout=600000"];

/// Opens sockets that are answered later, one on each path, and waits until the pod has them all.
async fn opening(pod: &Pod, paths: impl Iterator<Item = String>) -> Vec<JoinHandle<Client>> {
    let before = pod.metric("sockets").await;
    let open = |path: String| tokio::spawn(Client::open(format!("ws://{}{path}", pod.address)));
    let clients: Vec<_> = paths.map(open).collect();
    pod.until("sockets", |sockets| sockets == before + clients.len() as u64).await;
    assert!(!clients.iter().any(JoinHandle::is_finished));
    clients
}

async fn overdue(pod: &Pod) -> u64 {
    pod.metric("upgrade_hold_timeouts_total").await
}

#[tokio::test]
async fn str_27_what_is_published_on_another_pod_once_a_socket_is_open_comes() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[PATIENT, &["--threads=2"]].concat()).await;
    let mut cameras = Vec::new();
    for at in 0..300 {
        cameras.push(Client::open(format!("ws://{}/in/{at}", pods[0].address)).await);
    }
    let mut came = 0;
    for (at, camera) in cameras.iter_mut().enumerate() {
        let mut reader = Client::open(format!("ws://{}/out/{at}", pods[1].address)).await;
        camera.say("at once").await;
        came += u64::from(timeout(Duration::from_secs(3), reader.hear()).await.is_ok());
    }
    assert_eq!((came, overdue(&pods[1]).await), (300, 0));
}

#[tokio::test]
async fn str_93_every_reader_that_comes_before_the_want_is_acknowledged_waits_for_it() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, PATIENT).await;
    let mut camera = pods[0].join("/in/lab").await;
    pods[0].signal("STOP");
    let readers = opening(&pods[1], ["/out/lab"; 3].map(str::to_owned).into_iter()).await;
    pods[0].signal("CONT");
    let mut opened = Vec::new();
    for reader in readers {
        let mut reader = reader.await.unwrap();
        camera.say("at once").await;
        while reader.hear_text().await != "at once" {}
        opened.push(reader);
    }
    // Those that come now wait for nothing.
    let _late = pods[1].join("/out/lab").await;
    assert_eq!((pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await), (3, 0));
}

#[tokio::test]
async fn str_93_a_pod_that_stands_still_costs_the_first_reader_of_a_topic_no_more_than_the_bound() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.subscribeTimeout=300", "--limit=link.idleTimeout=600000"]).await;
    let _known = pods[1].join("/out/known").await;
    pods[0].wanted(1).await;
    let before = (pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await);
    pods[0].signal("STOP");
    let began = Instant::now();
    let _new = pods[1].join("/out/new").await;
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
    // Nobody waits for a topic that comes already, for one's own messages, or without other pods.
    for path in ["/out/known", "/in/other"] {
        pods[1].join(path).await;
    }
    let after = (pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await);
    assert_eq!(after, (before.0 + 1, before.1 + 1));
    let alone = start(&nats, 1, &["--region=elsewhere"]).await;
    alone[0].join("/out/lab").await;
    assert_eq!(alone[0].metric("upgrade_hold_seconds_count").await, 0);
}

#[tokio::test]
async fn str_93_a_thousand_that_wait_cost_what_sockets_cost_and_are_let_in_when_the_link_they_wait_for_ends() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 2, PATIENT).await;
    pods[0].signal("STOP");
    let before = resident::of(pods[1].pid());
    let readers = opening(&pods[1], (0..1000).map(|at| format!("/out/{at}"))).await;
    let grown = resident::of(pods[1].pid()).saturating_sub(before);
    assert!(grown < 20_000, "{grown} kB");
    pods.remove(0).kill().await;
    for reader in readers {
        timeout(DEADLINE, reader).await.unwrap().unwrap();
    }
    assert_eq!((pods[0].metric("upgrade_hold_seconds_count").await, overdue(&pods[0]).await), (1000, 0));
}

#[tokio::test]
async fn str_93_a_client_that_goes_while_it_waits_leaves_nothing() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, PATIENT).await;
    pods[0].signal("STOP");
    let readers = opening(&pods[1], (0..100).map(|at| format!("/out/{at}"))).await;
    for reader in readers {
        reader.abort();
    }
    for name in ["sockets", "topics", "connections"] {
        // The question for the metrics is a connection.
        pods[1].until(name, |count| count <= 1).await;
    }
    assert_eq!((pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await), (0, 0));
    pods[0].signal("CONT");
    pods[0].wanted(0).await;
}

#[tokio::test]
async fn str_70_whoever_waits_when_a_pod_drains_is_sent_elsewhere_in_words_it_understands() {
    let nats = Nats::start().await;
    let mut pods = start(&nats, 2, PATIENT).await;
    pods[0].signal("STOP");
    let reader = opening(&pods[1], ["/out/lab".to_owned()].into_iter()).await.remove(0);
    pods[1].signal("TERM");
    let mut reader = reader.await.unwrap();
    let said = timeout(DEADLINE, reader.socket.next()).await.unwrap().unwrap().unwrap();
    let Message::Close(Some(frame)) = said else { panic!("{said:?}") };
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1012, "GOAWAY"));
    assert!(pods[1].ended().await.success());
}

#[tokio::test]
async fn str_96_what_was_kept_comes_once_and_before_what_is_sent_to_an_open_socket() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[PATIENT, &["--replay=/out/lab/=3"]].concat()).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    for number in 0..5 {
        camera.say(&number.to_string()).await;
    }
    pods[0].until("received_messages_total", |received| received == 5).await;
    pods[0].signal("STOP");
    let readers = opening(&pods[1], ["/out/lab/1"; 2].map(str::to_owned).into_iter()).await;
    pods[0].signal("CONT");
    let mut opened = Vec::new();
    for reader in readers {
        opened.push(reader.await.unwrap());
    }
    camera.say("now").await;
    for reader in &mut opened {
        for expected in ["2", "3", "4", "now"] {
            assert_eq!(reader.hear_text().await, expected);
        }
    }
}

#[tokio::test]
async fn str_107_a_token_in_the_first_message_is_answered_once_the_other_pods_send() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 2, PATIENT).await;
    let mut camera = join(&pods[0], "camera").await;
    pods[0].signal("STOP");
    // The upgrade does not wait: nobody knows yet who it is.
    let mut reader = Client::open(format!("ws://{}/lab/7", pods[1].address)).await;
    reader.say(&token("reader")).await;
    pods[1].until("sockets", |sockets| sockets == 1).await;
    let nothing = timeout(Duration::from_millis(200), reader.hear()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    pods[0].signal("CONT");
    assert!(reader.hear_text().await.contains(r#""authorised":true"#));
    camera.say("at once").await;
    assert_eq!(reader.hear_text().await, "at once");
}
