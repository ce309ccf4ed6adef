//! A revocation on one pod ends sockets on all pods.
use super::guarded::{IN, end, flags, guarded, join, knows, refusal, revoke, try_join, try_token};
use super::nats::{Nats, settle};
use super::pod::{DEADLINE, Pod, linked};
use super::signer::{claims, hs256, now};
use futures_util::StreamExt;
use parley_access::{Entry, Revocation, Term};
use parley_cluster::revocation_message::{MAX_ENTRIES, RevocationMessage};
use parley_cluster::revocations::SUBJECT;
use parley_net::codes::Code;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// STR-114, for the sockets of a revoked token.
const WITHIN: Duration = Duration::from_secs(1);

#[tokio::test]
async fn str_118_a_revocation_is_published_at_once_and_ends_only_its_sockets_on_every_pod() {
    let nats = Nats::start_as_in_the_chart().await;
    let pods = guarded(&nats, 3, &[]).await;
    let (mut here, mut there) = (join(&pods[1], "ada").await, join(&pods[2], "ada").await);
    let (mut one, mut other) = (join(&pods[1], "eve").await, join(&pods[1], "bob").await);
    let began = Instant::now();
    assert_eq!(revoke(&pods[0], "ada").await, (204, String::new()));
    assert_eq!((end(&mut here).await, end(&mut there).await), (4445, 4445));
    assert!(began.elapsed() < WITHIN, "closed {:?} after the request", began.elapsed());
    for pod in &pods {
        assert_eq!(try_join(pod, "ada").await, refusal(Code::TokenRevoked));
    }
    one.send_text("still here").await;
    assert_eq!(other.receive_text().await, "still here");
}

#[tokio::test]
async fn str_118_only_the_new_revocation_is_published() {
    let nats = Nats::start().await;
    let pod = Pod::start(&nats, &flags(&[])).await;
    pod.until("nats_connected", |connected| connected == 1).await;
    let client = async_nats::connect(&nats.url).await.unwrap();
    let mut words = client.subscribe(SUBJECT).await.unwrap();
    settle(&client).await;
    for name in ["ada", "eve"] {
        revoke(&pod, name).await;
        let said = async {
            loop {
                if let Some(RevocationMessage::Revoked(entries)) =
                    RevocationMessage::read(&words.next().await.unwrap().payload)
                {
                    return entries;
                }
            }
        };
        let said = timeout(DEADLINE, said).await.unwrap();
        assert!(said.len() == 1 && said[0].revocation == Revocation::Subject(name.into()), "{said:?}");
    }
}

#[tokio::test]
async fn str_118_a_later_pod_receives_all_revocations_from_any_remaining_pod() {
    let nats = Nats::start().await;
    let mut pods = guarded(&nats, 2, &[]).await;
    assert_eq!(revoke(&pods[1], "ada").await.0, 204);
    knows(&pods[0], "ada").await;
    pods.pop().unwrap().kill().await;
    // The largest number of revocations, in a hundred messages.
    let client = async_nats::connect(&nats.url).await.unwrap();
    let until = now() + 3600;
    let many: Vec<Entry> = (0..9999)
        .map(|at| Entry { revocation: Revocation::Subject(format!("{at:0100}").into()), term: Term::all(until) })
        .collect();
    for some in many.chunks(MAX_ENTRIES) {
        client.publish(SUBJECT, RevocationMessage::Revoked(some.to_vec()).bytes().into()).await.unwrap();
    }
    knows(&pods[0], &format!("{:0100}", 9998)).await;
    pods.push(Pod::start(&nats, &flags(&["--pod=later"])).await);
    let began = Instant::now();
    knows(&pods[1], "ada").await;
    for at in [0, 5000, 9998] {
        knows(&pods[1], &format!("{at:0100}")).await;
    }
    println!("knows 10,000 after {:?}", began.elapsed());
    assert_eq!(pods[1].metric("revocation_refusals_total").await, 0);
    linked(&pods).await;
}

#[tokio::test]
async fn str_118_a_revocation_without_nats_applies_locally_at_once_and_everywhere_after_it_reconnects() {
    let mut nats = Nats::start().await;
    let pods = guarded(&nats, 2, &["--limit=revocations.interval=600000"]).await;
    let (mut here, mut there) = (join(&pods[0], "ada").await, join(&pods[1], "ada").await);
    let mut stays = join(&pods[1], "bob").await;
    nats.kill().await;
    for pod in &pods {
        pod.until("nats_connected", |connected| connected == 0).await;
    }
    assert_eq!(revoke(&pods[0], "ada").await, refusal(Code::NotReady));
    assert_eq!(revoke(&pods[1], "eve").await, refusal(Code::NotReady));
    assert_eq!(end(&mut here).await, 4445);
    assert_eq!(try_join(&pods[1], "ada").await, IN);
    nats.restart().await;
    let back = Instant::now();
    assert_eq!(end(&mut there).await, 4445);
    knows(&pods[0], "eve").await;
    println!("both know {:?} after NATS was back", back.elapsed());
    assert_eq!(revoke(&pods[0], "ada").await.0, 204);
    join(&pods[0], "bob").await.send_text("still here").await;
    assert_eq!(stays.receive_text().await, "still here");
}

#[tokio::test]
async fn str_118_regions_share_revocations() {
    let nats = Nats::start().await;
    let east = Pod::start(&nats, &flags(&["--region=east"])).await;
    let west = Pod::start(&nats, &flags(&["--region=west"])).await;
    for pod in [&east, &west] {
        pod.until("nats_connected", |connected| connected == 1).await;
    }
    assert_eq!(revoke(&east, "ada").await.0, 204);
    knows(&west, "ada").await;
}

#[tokio::test]
async fn str_120_what_signaling_publishes_covers_a_generation_and_lower_ones() {
    let nats = Nats::start().await;
    let pods = guarded(&nats, 2, &[]).await;
    let departure = json!({"revoked": [{"sub": "ada", "generation": 2, "until": now() + 60}]});
    let bus = async_nats::connect(&nats.url).await.unwrap();
    bus.publish(SUBJECT, departure.to_string().into()).await.unwrap();
    for pod in &pods {
        knows(pod, "ada").await;
        for (generation, expected) in [(1, refusal(Code::TokenRevoked)), (2, refusal(Code::TokenRevoked)), (3, IN)] {
            let token = hs256(&claims(json!({"sub": "ada", "generation": generation})));
            assert_eq!(try_token(pod, &token).await, expected, "{generation}");
        }
    }
}
