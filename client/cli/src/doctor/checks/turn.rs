//! Every address of TURN relays a packet.
use crate::doctor::allocation::server::{Over, Server};
use crate::doctor::allocation::{Broken, Relayed, try_out};
use crate::doctor::guest::{Guest, room};
use crate::doctor::report::{Finding, Looked, rounded};
use crate::doctor::site::Site;
use futures_util::future::join_all;
use parley_protocol::shared::IceServer;
use std::net::SocketAddr;

/// Servers behind one name that are tried.
const ADDRESSES: usize = 8;
const NO_CREDENTIALS: &str = "Look at the check join first: a participant who enters is given credentials for TURN.";

/// Tries all that the host hands out, at once.
pub async fn look(site: &Site) -> Looked {
    let guest = Guest::join(site, &room()).await;
    let guest =
        guest.map_err(|why| Finding::fail(format!("no credentials for TURN: {}", why.why()), NO_CREDENTIALS))?;
    let offered: Vec<_> = guest.ice_servers.iter().flat_map(addresses).collect();
    if offered.is_empty() {
        let advice = "Set turn.enabled, and see that its pods run and reach NATS: without TURN some in ten people, behind \
                      strict firewalls, get no call; where that is meant, --skip turn.";
        return Err(Finding::fail("the host offers no TURN", advice));
    }
    let found = join_all(offered.iter().map(|(url, ice)| at_all_addresses(site, url, ice))).await;
    Ok(found.into_iter().flatten().collect())
}

/// TURN's, with its credentials; STUN has none.
fn addresses(ice: &IceServer) -> impl Iterator<Item = (&str, &IceServer)> {
    ice.urls.iter().filter(|url| url.starts_with("turn")).map(move |url| (url.as_str(), ice))
}

async fn at_all_addresses(site: &Site, url: &str, ice: &IceServer) -> Vec<Finding> {
    let Ok(server) = url.parse::<Server>() else {
        let advice = "Correct turn.urls: turn:HOST:PORT?transport=udp or tcp, and turns:HOST:PORT?transport=tcp.";
        return vec![Finding::fail(format!("{url} is no address of TURN that can be tried"), advice)];
    };
    let mut found = match site.reach.addresses(&server.host, server.port).await {
        Ok(found) => found,
        Err(why) => {
            let advice = format!("Give {} an A record with the public addresses of all TURN nodes.", server.host);
            return vec![Finding::fail(format!("{url}: {} has no address: {why}", server.host), advice)];
        }
    };
    found.dedup();
    found.truncate(ADDRESSES);
    let (user, password) = (ice.username.as_deref().unwrap_or_default(), ice.credential.as_deref().unwrap_or_default());
    let several = found.len() > 1;
    join_all(found.into_iter().map(async |at| {
        let shown = if several { format!("{url} at {at}") } else { url.to_owned() };
        finding(&shown, server.over, at, try_out(site, server.clone(), at, user, password).await)
    }))
    .await
}

fn finding(shown: &str, over: Over, at: SocketAddr, tried: Result<Relayed, Broken>) -> Finding {
    match tried {
        Ok(Relayed { allocated, round_trip }) => Finding::ok(format!("{shown} relays, there and back"))
            .took(round_trip)
            .figure("allocatedMs", rounded(allocated.as_secs_f64() * 1e3, 100.0)),
        Err(why) => {
            let said = match &why {
                Broken::Unconnected(why) => format!("no connection: {why}"),
                Broken::Unbelieved(why) => format!("no TLS: {why}"),
                Broken::Silent => "no answer".into(),
                Broken::Refused(code, reason) => format!("refused: {code} {reason}"),
                Broken::Lost(relayed) => format!("what is sent to {relayed}, which it handed out, is lost"),
            };
            Finding::fail(format!("{shown}: {said}"), advice(&why, over, at))
        }
    }
}

fn advice(why: &Broken, over: Over, at: SocketAddr) -> String {
    let port = at.port();
    match (why, over) {
        (Broken::Unconnected(_) | Broken::Silent, Over::Udp) => format!(
            "Let UDP {port} in to the TURN nodes, and out of where you are, and see that coturn runs; where only a firewall \
             here is in the way, calls go over TCP or TLS."
        ),
        (Broken::Unconnected(_) | Broken::Silent, Over::Tcp | Over::Tls) => {
            format!("Let TCP {port} in to the TURN nodes, and see that coturn runs.")
        }
        (Broken::Unbelieved(_), _) => {
            "Have the certificate (edge.tls) name the host of this address too, and be one that browsers \
                                       believe; name a private CA with --ca, or go on with --insecure."
                .into()
        }
        (Broken::Refused(401, _), _) => {
            "Give coturn and signaling the same secret (secrets.turn), and both the right time: the \
                                         credentials that signaling made are not believed."
                .into()
        }
        (Broken::Refused(403, _), _) => {
            "Name the public addresses of all TURN nodes in turn.nodeAddresses: the server refuses its \
                                         own address as a peer, so two people who are both relayed do not meet."
                .into()
        }
        (Broken::Refused(486 | 508, _), _) => {
            "All addresses of this node are taken, or at 486 those of your network (turn.networkAllocations): widen \
             turn.ports.relayMin to relayMax, or label another node."
                .into()
        }
        (Broken::Refused(..), _) => "Look at coturn's log; RFC 8656 section 18 lists the codes.".into(),
        (Broken::Lost(_), _) => {
            "Let UDP of turn.ports.relayMin to relayMax in to the TURN nodes, and see that the address it \
                                 handed out is the node's public one (turn.publicAddress)."
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_that_turn_fails_has_its_advice() {
        let at = "203.0.113.7:3478".parse().unwrap();
        for (why, over, told) in [
            (Broken::Silent, Over::Udp, "UDP 3478"),
            (Broken::Unconnected("refused".into()), Over::Tcp, "TCP 3478"),
            (Broken::Unbelieved("expired".into()), Over::Tls, "certificate"),
            (Broken::Silent, Over::Tls, "TCP 3478"),
            (Broken::Refused(401, "Unauthorized".into()), Over::Udp, "same secret"),
            (Broken::Refused(403, "Forbidden IP".into()), Over::Udp, "turn.nodeAddresses"),
            (Broken::Refused(508, "Cannot create socket".into()), Over::Udp, "relayMax"),
            (Broken::Refused(437, "Mismatched allocation".into()), Over::Udp, "coturn's log"),
            (Broken::Lost(at), Over::Udp, "publicAddress"),
        ] {
            assert!(advice(&why, over, at).contains(told), "{why:?}");
        }
    }
}
