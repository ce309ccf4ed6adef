use std::time::Duration;

use crate::client::{call, dial, stay};
use crate::relay::{DAY, Relay, anything};

#[tokio::test]
async fn med_20_files_of_a_public_ca_are_read_again_when_they_change() {
    let (one, two) = (Relay::start().await, Relay::start().await);
    let directory = std::env::temp_dir().join(format!("parley-media-public-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("relay.pem");
    std::fs::copy(one.file(), &file).unwrap();
    let relay = Relay::public(file.clone()).await;
    assert!(relay.hashes().is_empty());
    let before = stay(relay.url(&anything()), &one.hashes()).await;
    std::fs::copy(two.file(), file.with_extension("new")).unwrap();
    std::fs::rename(file.with_extension("new"), &file).unwrap();
    until_accepted(&relay, &two.hashes()).await;
    assert!(before.connected());
    drop(relay);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn med_21_a_client_with_the_announced_hash_connects_after_a_rotation() {
    let relay = Relay::start().await;
    let known = relay.hashes();
    assert_eq!(known.len(), 2);
    let before = stay(relay.url(&anything()), &known[..1]).await;
    assert!(call(relay.url(&anything()), &known[1..]).await.is_err(), "the next certificate is in use too early");
    relay.pass_time(4 * DAY);
    until_accepted(&relay, &known[1..]).await;
    assert_eq!(relay.hashes()[0], known[1]);
    assert!(call(relay.url(&anything()), &known[..1]).await.is_err(), "the old certificate is still in use");
    assert!(before.connected(), "a session ended at the rotation");
}

/// Waits until the relay uses a certificate with one of these hashes.
async fn until_accepted(relay: &Relay, hashes: &[String]) {
    let reloaded = async {
        while dial(relay.url(&anything()), hashes).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), reloaded).await.expect("the relay still uses the old certificate");
}
