//! Invalid messages about codes and revocations.
use super::guarded::{IN, code, guarded, join, knows, open, refusal, revoke, try_join};
use super::nats::{Nats, settle};
use super::pod::DEADLINE;
use crate::resident;
use futures_util::StreamExt;
use parley_access::{Entry, Revocation, Term};
use parley_cluster::revocation_message::{MAX_ENTRIES, RevocationMessage};
use parley_cluster::revocations::SUBJECT;
use parley_net::codes::Code;
use tokio::time::timeout;

const BROKEN: &str = "nats_invalid_messages_total";

/// A message with revocations of these subjects.
fn revoked(names: impl Iterator<Item = String>, until: u64) -> Vec<u8> {
    RevocationMessage::Revoked(
        names.map(|name| Entry { revocation: Revocation::Subject(name.into()), term: Term::all(until) }).collect(),
    )
    .bytes()
}

#[tokio::test]
async fn str_119_invalid_messages_are_counted_and_change_nothing() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 1, &[]).await;
    let pod = &pods[0];
    pod.until("nats_connected", |connected| connected == 1).await;
    let mut client = join(pod, "ada").await;
    let bus = async_nats::connect(&nats.url).await.unwrap();
    let longest = "x".repeat(129);
    let words: [Vec<u8>; 7] = [
        b"".to_vec(),
        vec![0xff; 900_000],
        b"[[[[[[[[[[[[[[[[[[[[[[".repeat(10_000),
        br#"{"revoked":[{"sub":"ada","until":-1}]}"#.to_vec(),
        revoked((0..=MAX_ENTRIES).map(|_| "ada".into()), u64::MAX),
        revoked([String::new()].into_iter(), u64::MAX),
        revoked([longest].into_iter(), u64::MAX),
    ];
    let count = words.len() as u64;
    for word in words {
        bus.publish(SUBJECT, word.into()).await.unwrap();
    }
    pod.until(BROKEN, |broken| broken == count).await;
    client.send_text("still here").await;
    assert_eq!(try_join(pod, "ada").await, IN);
    // A valid entry between invalid ones counts, an expired one does not.
    bus.publish(SUBJECT, revoked(["".into(), "eve".into()].into_iter(), u64::MAX).into()).await.unwrap();
    bus.publish(SUBJECT, revoked(["ada".into()].into_iter(), 5).into()).await.unwrap();
    knows(pod, "eve").await;
    assert_eq!(try_join(pod, "ada").await, IN);
}

#[tokio::test]
async fn str_119_a_flood_of_names_is_bounded() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 1, &["--limit=pod.revocations=1000"]).await;
    let pod = &pods[0];
    pod.until("nats_connected", |connected| connected == 1).await;
    assert_eq!(revoke(pod, "eve").await.0, 204);
    let bus = async_nats::connect(&nats.url).await.unwrap();
    let before = resident::of(pod.pid());
    for round in 0..2000 {
        let names = (0..MAX_ENTRIES).map(|at| format!("{round:060}{at:060}"));
        bus.publish(SUBJECT, revoked(names, u64::MAX).into()).await.unwrap();
        if round % 100 == 0 {
            bus.flush().await.unwrap();
        }
    }
    pod.until("revocation_refusals_total", |refused| refused == 2000 * 100 - 999).await;
    let grown = resident::of(pod.pid()).saturating_sub(before);
    println!("{grown} KB for 200,000 names");
    assert!(grown < 30_000, "{grown} KB");
    assert_eq!(revoke(pod, "bob").await, refusal(Code::TooManyRevocations));
    assert_eq!((try_join(pod, "eve").await, try_join(pod, "ada").await), (refusal(Code::TokenRevoked), IN));
}

#[tokio::test]
async fn str_119_an_invalid_request_is_counted_and_uses_no_code_up() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 1, &[]).await;
    let pod = &pods[0];
    pod.until("nats_connected", |connected| connected == 1).await;
    let made = code(pod).await;
    let bus = async_nats::connect(&nats.url).await.unwrap();
    let subject = format!("parley.v1.relay.codes.{}", &made[..8]);
    bus.publish(subject.clone(), made.clone().into()).await.unwrap();
    let questions: [Vec<u8>; 3] = [vec![], vec![0xff; 900_000], b"AAAAAAAABBBBBBBBBBBBBBBBBBBBBA".to_vec()];
    for question in questions {
        bus.publish_with_reply(subject.clone(), "parley.v1.relay.revoked", question.into()).await.unwrap();
    }
    pod.until(BROKEN, |broken| broken == 4).await;
    assert_eq!(open(pod, &made).await, IN);
}

#[tokio::test]
async fn str_119_an_invalid_response_opens_nothing() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 1, &["--limit=code.timeout=10000"]).await;
    let pod = &pods[0];
    pod.until("nats_connected", |connected| connected == 1).await;
    let bus = async_nats::connect(&nats.url).await.unwrap();
    let mut questions = bus.subscribe("parley.v1.relay.codes.AAAAAAAA").await.unwrap();
    settle(&bus).await;
    let code = "AAAAAAAABBBBBBBBBBBBBBBBBBBBBA";
    let grant = |until: u64| {
        let grant = serde_json::json!({"until": until, "token": null, "subject": "ada"});
        serde_json::json!({"path": "/lab/7", "role": "Both", "grant": grant}).to_string().into_bytes()
    };
    let long = [grant(u64::MAX), b" ".repeat(64 * 1024)].concat();
    let answers = [(b"".to_vec(), 1), (b"{}".to_vec(), 2), (long, 3), (b"null".to_vec(), 3), (grant(5), 3)];
    for (answer, broken) in answers {
        let opening = async { open(pod, code).await.0 };
        let answering = async {
            let question = timeout(DEADLINE, questions.next()).await.expect("the pod sent no request").unwrap();
            assert_eq!(&question.payload[..], code.as_bytes());
            bus.publish(question.reply.unwrap(), answer.into()).await.unwrap();
        };
        let (status, ()) = tokio::join!(opening, answering);
        assert!(status == 403 || status == 401, "{status}");
        assert_eq!(pod.metric(BROKEN).await, broken);
    }
}
