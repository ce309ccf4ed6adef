//! The contracts of the ports of access, over a real NATS server.
use super::contracts;
use super::nats::Nats;
use super::pod::DEADLINE;
use parley_access::Ports;
use parley_cluster as cluster;
use parley_cluster::bus::{self, Bus};
use parley_relay::limits::Limits;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The codes and revocations of a pod.
async fn ports(nats: &Nats, pod: &str, limits: &Limits) -> Ports {
    let bus = Bus::join(&bus::Nats { servers: nats.url.clone(), login: None, ca: None }, pod).await.unwrap();
    let ports = cluster::ports(&bus, pod, &limits.cluster(), &Arc::default());
    let connected = async {
        while !bus.is_connected() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // The server has the subscriptions of the pod once it answers this.
        while !bus.flush().await
            || bus.request("nobody", vec![], DEADLINE).await != Err(bus::RequestError::NoResponders)
        {}
    };
    timeout(DEADLINE, connected).await.unwrap();
    ports
}

#[tokio::test]
async fn str_117_codes_over_nats_keep_the_contract() {
    let nats = Nats::start().await;
    let lifetime = Duration::from_millis(1500);
    let limits = Limits { code_lifetime: 1500, code_timeout: 10_000, ..Limits::default() };
    let (one, other) = (ports(&nats, "one", &limits).await, ports(&nats, "other", &limits).await);
    contracts::codes(&*one.codes, &*other.codes, lifetime).await;
    contracts::codes(&*one.codes, &*one.codes, lifetime).await;
}

#[tokio::test]
async fn str_118_revocations_over_nats_keep_the_contract() {
    let nats = Nats::start().await;
    let limits = Limits { pod_revocations: 2, ..Limits::default() };
    let (one, other) = (ports(&nats, "one", &limits).await, ports(&nats, "other", &limits).await);
    contracts::revocations(&*one.revocations, &one.revoked).await;
    let heard = async {
        while !other.revoked.covers(&contracts::grant("ada")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(DEADLINE, heard).await.expect("the other pod never received it");
}
