//! The name of the host has an address.
use crate::doctor::report::{CheckResult, Finding};
use crate::doctor::site::Site;
use tokio::time::Instant;

const ADVICE: &str = "Create an A or AAAA record with the address of the edge, which `kubectl get service` shows.";

/// Resolves the name.
pub async fn check(site: &Site) -> CheckResult {
    let (host, port) = site.host();
    let (name, _) = site.connect.target(host, port);
    let began = Instant::now();
    let found = site.connect.addresses(host, port).await;
    let addresses = found.map_err(|why| Finding::fail(format!("{name} has no address: {why}"), ADVICE))?;
    let mut ips: Vec<_> = addresses.iter().map(|address| address.ip().to_string()).collect();
    ips.dedup();
    #[allow(clippy::cast_precision_loss, reason = "a count of addresses")]
    let count = ips.len() as f64;
    Ok(vec![
        Finding::ok(format!("{name} resolves to {}", ips.join(", "))).took(began.elapsed()).figure("addresses", count),
    ])
}
