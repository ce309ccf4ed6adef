//! A client whose socket is open misses no message, also as the first reader on its pod: the answer to the upgrade waits for the other pods.
use super::guarded::{guarded, join, token};
use super::nats::Nats;
use super::pod::{Client, DEADLINE, Pod, start};
use crate::resident;
use futures_util::StreamExt;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// A long timeout, so that a slow machine is not taken for a frozen pod.
const PATIENT: &[&str] = &["--limit=link.subscribeTimeout=10000", "--limit=link.idleTimeout=600000"];

/// Opens sockets whose upgrade is held, one on each path, and waits until the pod has received all requests.
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
async fn str_27_a_message_from_another_pod_arrives_once_the_socket_is_open() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[PATIENT, &["--threads=2"]].concat()).await;
    let mut cameras = Vec::new();
    for at in 0..300 {
        cameras.push(Client::open(format!("ws://{}/in/{at}", pods[0].address)).await);
    }
    let mut came = 0;
    for (at, camera) in cameras.iter_mut().enumerate() {
        let mut reader = Client::open(format!("ws://{}/out/{at}", pods[1].address)).await;
        camera.send_text("at once").await;
        came += u64::from(timeout(Duration::from_secs(3), reader.receive()).await.is_ok());
    }
    assert_eq!((came, overdue(&pods[1]).await), (300, 0));
}

#[tokio::test]
async fn str_93_each_reader_before_the_acknowledgement_of_the_subscription_waits_for_it() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, PATIENT).await;
    let mut camera = pods[0].join("/in/lab").await;
    pods[0].signal("STOP");
    let readers = opening(&pods[1], ["/out/lab"; 3].map(str::to_owned).into_iter()).await;
    pods[0].signal("CONT");
    let mut opened = Vec::new();
    for reader in readers {
        let mut reader = reader.await.unwrap();
        camera.send_text("at once").await;
        while reader.receive_text().await != "at once" {}
        opened.push(reader);
    }
    // Later readers do not wait.
    let _late = pods[1].join("/out/lab").await;
    assert_eq!((pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await), (3, 0));
}

#[tokio::test]
async fn str_93_a_frozen_pod_delays_the_first_reader_of_a_topic_by_the_timeout_at_most() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &["--limit=link.subscribeTimeout=300", "--limit=link.idleTimeout=600000"]).await;
    let _known = pods[1].join("/out/known").await;
    pods[0].wanted(1).await;
    let before = (pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await);
    pods[0].signal("STOP");
    let began = Instant::now();
    let _new = pods[1].join("/out/new").await;
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
    // No reader waits for a topic with a subscription, for messages of this pod, or without other pods.
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
async fn str_93_a_thousand_held_upgrades_use_the_memory_of_sockets_and_are_answered_when_the_link_ends() {
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
async fn str_93_a_client_that_disconnects_while_it_waits_leaves_no_state() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, PATIENT).await;
    pods[0].signal("STOP");
    let readers = opening(&pods[1], (0..100).map(|at| format!("/out/{at}"))).await;
    for reader in readers {
        reader.abort();
    }
    for name in ["sockets", "topics", "connections"] {
        // The request for the metrics is a connection too.
        pods[1].until(name, |count| count <= 1).await;
    }
    assert_eq!((pods[1].metric("upgrade_hold_seconds_count").await, overdue(&pods[1]).await), (0, 0));
    pods[0].signal("CONT");
    pods[0].wanted(0).await;
}

#[tokio::test]
async fn str_70_a_held_upgrade_is_answered_and_closed_with_goaway_when_the_pod_drains() {
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
async fn str_96_replayed_messages_arrive_once_and_before_later_ones() {
    let nats = Nats::start().await;
    let pods = start(&nats, 2, &[PATIENT, &["--replay=/out/lab/=3"]].concat()).await;
    let mut camera = pods[0].join("/in/lab/1").await;
    for number in 0..5 {
        camera.send_text(&number.to_string()).await;
    }
    pods[0].until("received_messages_total", |received| received == 5).await;
    pods[0].signal("STOP");
    let readers = opening(&pods[1], ["/out/lab/1"; 2].map(str::to_owned).into_iter()).await;
    pods[0].signal("CONT");
    let mut opened = Vec::new();
    for reader in readers {
        opened.push(reader.await.unwrap());
    }
    camera.send_text("now").await;
    for reader in &mut opened {
        for expected in ["2", "3", "4", "now"] {
            assert_eq!(reader.receive_text().await, expected);
        }
    }
}

#[tokio::test]
async fn str_107_a_token_in_the_first_message_is_answered_after_the_other_pods_acknowledged() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 2, PATIENT).await;
    let mut camera = join(&pods[0], "camera").await;
    pods[0].signal("STOP");
    // The upgrade does not wait, as the client is not authenticated yet.
    let mut reader = Client::open(format!("ws://{}/lab/7", pods[1].address)).await;
    reader.send_text(&token("reader")).await;
    pods[1].until("sockets", |sockets| sockets == 1).await;
    let nothing = timeout(Duration::from_millis(200), reader.receive()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    pods[0].signal("CONT");
    assert!(reader.receive_text().await.contains(r#""authorised":true"#));
    camera.send_text("at once").await;
    assert_eq!(reader.receive_text().await, "at once");
}
