//! The contracts of the ports of access, for the memory of one pod and for several pods over NATS.
use crate::signer::now;
use parley_access::{Codes, Grant, Pass, Revocation, Revocations, Revoked};
use parley_net::codes::Code;
use parley_streams::Role;
use std::time::Duration;

pub fn grant(name: &str) -> Grant {
    Grant { until: now() + 60, issued: None, generation: None, token: None, subject: Some(name.into()) }
}

/// The contract of a store of codes: a code that one pod `keeps` another one `takes`, within `lifetime`.
pub async fn codes(keeps: &dyn Codes, takes: &dyn Codes, lifetime: Duration) {
    let pass = |path: &str| Pass { path: path.into(), role: Role::Publish, grant: grant("ada") };
    let network = [192, 0, 2, 1].into();
    assert_eq!(takes.take("AAAAAAAABBBBBBBBBBBBBBBBBBBBBA").await, Ok(None), "an unknown code is accepted");
    let one = keeps.store(pass("/in/a"), network).await.unwrap();
    assert_eq!(takes.take(&one).await.map(|taken| taken.map(|pass| pass.path)), Ok(Some("/in/a".into())));
    assert_eq!((takes.take(&one).await, keeps.take(&one).await), (Ok(None), Ok(None)), "used");
    let unknown = format!("{}BBBBBBBBBBBBBBBBBBBBBA", &one[..8]);
    assert_eq!(takes.take(&unknown).await, Ok(None), "unknown");
    let other = keeps.store(pass("/in/b"), network).await.unwrap();
    let (first, second) = tokio::join!(takes.take(&other), keeps.take(&other));
    let got: Vec<Pass> = [first, second].into_iter().filter_map(Result::unwrap).collect();
    assert!(got.len() == 1 && got[0].path == "/in/b" && got[0].role == Role::Publish, "not exactly one use: {got:?}");
    let old = keeps.store(pass("/in/c"), network).await.unwrap();
    tokio::time::sleep(lifetime + lifetime / 10).await;
    assert_eq!(takes.take(&old).await, Ok(None), "too old");
}

/// The contract of revocations. `revoked` is the list of the pod that revokes, with room for two.
pub async fn revocations(revocations: &dyn Revocations, revoked: &Revoked) {
    let subject = |name: &str| Revocation::Subject(name.into());
    revocations.revoke(subject("ada"), now() + 60).await.unwrap();
    assert!(revoked.covers(&grant("ada")) && !revoked.covers(&grant("eve")));
    let token = Grant { token: Some("ada".into()), subject: None, ..grant("ada") };
    assert!(!revoked.covers(&token), "a name of another kind matches");
    revocations.revoke(Revocation::Token("ada".into()), now() + 60).await.unwrap();
    assert!(revoked.covers(&token));
    assert_eq!(revocations.revoke(subject("eve"), now() + 60).await, Err(Code::TooManyRevocations));
    assert!(revoked.covers(&grant("ada")), "a revocation was lost");
}
