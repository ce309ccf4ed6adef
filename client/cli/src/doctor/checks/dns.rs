//! The host's name leads somewhere.
use crate::doctor::report::{Finding, Looked};
use crate::doctor::site::Site;
use tokio::time::Instant;

const ADVICE: &str =
    "Give that name an A or AAAA record that leads to the edge: `kubectl get service` shows its address.";

/// Looks it up.
pub async fn look(site: &Site) -> Looked {
    let (host, port) = site.host();
    let (name, _) = site.reach.to(host, port);
    let began = Instant::now();
    let found = site.reach.addresses(host, port).await;
    let addresses = found.map_err(|why| Finding::fail(format!("{name} has no address: {why}"), ADVICE))?;
    let mut ips: Vec<_> = addresses.iter().map(|address| address.ip().to_string()).collect();
    ips.dedup();
    #[allow(clippy::cast_precision_loss, reason = "a count of addresses")]
    let count = ips.len() as f64;
    Ok(vec![
        Finding::ok(format!("{name} leads to {}", ips.join(", "))).took(began.elapsed()).figure("addresses", count),
    ])
}
