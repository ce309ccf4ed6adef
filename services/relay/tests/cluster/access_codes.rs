//! A code that one pod made opens one socket on any pod.
use super::guarded::{IN, code, code_of, guarded, open, open_at, opens_with, refusal, revoke};
use super::nats::Nats;
use parley_net::codes::Code;
use std::time::Duration;

/// A long timeout, so that a slow machine refuses no client.
const PATIENT: &str = "--limit=code.timeout=30000";

#[tokio::test]
async fn str_117_a_code_opens_one_socket_on_another_pod() {
    let nats = Nats::start_as_in_the_chart().await;
    let pods = guarded(&nats, 3, &[PATIENT]).await;
    let made = code(&pods[0]).await;
    assert_eq!(open(&pods[1], &made).await, IN);
    for pod in &pods {
        assert_eq!(open(pod, &made).await, refusal(Code::CodeInvalid));
    }
    let made = code(&pods[0]).await;
    assert_eq!(open(&pods[0], &made).await, IN);
    assert_eq!(open(&pods[1], &made).await, refusal(Code::CodeInvalid));
    let made = code(&pods[0]).await;
    assert_eq!(open_at(&pods[1], "/lab/8", &made).await, refusal(Code::CodeInvalid));
    assert_eq!(open(&pods[1], &made).await, refusal(Code::CodeInvalid), "the attempt did not use the code up");
}

#[tokio::test]
async fn str_117_one_of_many_concurrent_sockets_with_one_code_on_several_pods_opens() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 3, &[PATIENT]).await;
    for round in 0..60 {
        let made = code(&pods[round % 3]).await;
        let tries = (0..9).map(|at| open(&pods[at % 3], &made));
        let answers = futures_util::future::join_all(tries).await;
        let (came_in, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| *answer == IN);
        assert_eq!((came_in.len(), others), (1, vec![refusal(Code::CodeInvalid); 8]), "round {round}");
    }
}

#[tokio::test]
async fn str_117_the_codes_of_a_dead_pod_are_invalid() {
    let nats = Nats::start().await;
    let mut pods = guarded(&nats, 2, &[]).await;
    let made = code(&pods[1]).await;
    pods.pop().unwrap().kill().await;
    opens_with(&pods[0], &made, refusal(Code::CodeInvalid)).await;
}

#[tokio::test]
async fn str_117_a_pod_that_does_not_answer_delays_no_handshake() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 2, &["--limit=code.timeout=200"]).await;
    let made = code(&pods[1]).await;
    pods[1].signal("STOP");
    assert_eq!(open(&pods[0], &made).await, refusal(Code::NotReady));
    assert_eq!(open(&pods[0], &code(&pods[0]).await).await, IN);
    pods[1].signal("CONT");
}

#[tokio::test]
async fn str_117_while_nats_is_disconnected_a_pods_own_codes_open_and_others_can_be_retried() {
    let mut nats = Nats::start().await;
    let pods = guarded(&nats, 2, &["--limit=code.lifetime=600000"]).await;
    let (own, other) = (code(&pods[0]).await, code(&pods[1]).await);
    nats.kill().await;
    assert_eq!(open(&pods[0], &other).await, refusal(Code::NotReady));
    pods[0].until("nats_connected", |connected| connected == 0).await;
    assert_eq!(open(&pods[0], &other).await, refusal(Code::NotReady));
    assert_eq!(open(&pods[0], &own).await, IN);
    assert_eq!(open(&pods[0], &code(&pods[0]).await).await, IN);
    let other = code(&pods[1]).await;
    nats.restart().await;
    for pod in &pods {
        pod.until("nats_connected", |connected| connected == 1).await;
    }
    opens_with(&pods[0], &other, IN).await;
}

#[tokio::test]
async fn str_110_a_code_has_the_same_permissions_on_another_pod() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 2, &[PATIENT, "--limit=code.lifetime=2000"]).await;
    let revoked = code_of(&pods[0], "eve").await;
    assert_eq!(revoke(&pods[1], "eve").await.0, 204);
    assert_eq!(open(&pods[1], &revoked).await, refusal(Code::TokenRevoked));
    let old = code(&pods[0]).await;
    tokio::time::sleep(Duration::from_millis(2001)).await;
    assert_eq!(open(&pods[1], &old).await, refusal(Code::CodeInvalid));
}

#[tokio::test]
async fn str_111_codes_between_pods_appear_in_no_log() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 2, &[PATIENT, "--log-level=trace"]).await;
    let (used, unused) = (code(&pods[0]).await, code(&pods[0]).await);
    assert_eq!(open(&pods[1], &used).await, IN);
    assert_eq!(open_at(&pods[1], "/lab/8", &unused).await, refusal(Code::CodeInvalid));
    for pod in &pods {
        let log = pod.log();
        assert!(log.contains("NATS connected"), "{log}");
        assert!(!log.contains(&used[8..]) && !log.contains(&unused[8..]));
    }
}
