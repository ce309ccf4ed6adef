//! Each address of TURN relays a packet.
use crate::doctor::allocation::server::{Server, Transport};
use crate::doctor::allocation::{Failure, Relayed, probe};
use crate::doctor::guest::{Guest, room};
use crate::doctor::report::{CheckResult, Finding, rounded};
use crate::doctor::site::Site;
use futures_util::future::join_all;
use parley_protocol::shared::IceServer;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The most addresses of one name that are checked.
const MAX_ADDRESSES: usize = 8;
const NO_CREDENTIALS: &str = "See the check join first: participants get credentials for TURN when they join.";

/// Checks all offered servers concurrently.
pub async fn check(site: &Site) -> CheckResult {
    let guest = Guest::join(site, &room()).await;
    let guest =
        guest.map_err(|why| Finding::fail(format!("no credentials for TURN: {}", why.reason()), NO_CREDENTIALS))?;
    let offered: Vec<_> = guest.ice_servers.iter().flat_map(addresses).collect();
    if offered.is_empty() {
        let advice = "Set turn.enabled, and check that its pods run and reach NATS: without TURN, users behind strict \
                      firewalls get no call; if that is intended, use --skip turn.";
        return Err(Finding::fail("the host offers no TURN", advice));
    }
    let found = join_all(offered.iter().map(|(url, ice)| at_all_addresses(site, url, ice))).await;
    verdict(found.into_iter().flatten().collect())
}

/// A finding about an address, or that this network does not have its family.
type Tried = Result<Finding, Family>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    IPv4,
    IPv6,
}

/// A client uses the addresses of the family that it has, so only a server without such an address is a failure.
fn verdict(found: Vec<Tried>) -> CheckResult {
    let left_out: BTreeSet<Family> = found.iter().filter_map(|tried| tried.as_ref().err()).copied().collect();
    let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
    if findings.is_empty() {
        let advice =
            "Give TURN nodes addresses of both families and set ipFamilies, or run this check where users are.";
        return Err(Finding::fail("no TURN server has an address of a family that this network has", advice));
    }
    findings.extend(left_out.into_iter().map(|family| {
        let advice = format!("Run this check in a network with {family:?} too.");
        Finding::warn(format!("not tried: {family:?} addresses, to which this network has no route"), advice)
    }));
    Ok(findings)
}

fn family(at: SocketAddr) -> Family {
    if at.is_ipv4() { Family::IPv4 } else { Family::IPv6 }
}

/// Whether this machine has a route to the address. Connecting a UDP socket sends nothing.
fn has_route(at: SocketAddr) -> bool {
    let any: SocketAddr =
        if at.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
    UdpSocket::bind(any).is_ok_and(|socket| socket.connect(at).is_ok())
}

/// The URLs of TURN, with their credentials; STUN has none.
fn addresses(ice: &IceServer) -> impl Iterator<Item = (&str, &IceServer)> {
    ice.urls.iter().filter(|url| url.starts_with("turn")).map(move |url| (url.as_str(), ice))
}

async fn at_all_addresses(site: &Site, url: &str, ice: &IceServer) -> Vec<Tried> {
    let Ok(server) = url.parse::<Server>() else {
        let advice = "Correct turn.urls: turn:HOST:PORT?transport=udp or tcp, and turns:HOST:PORT?transport=tcp.";
        return vec![Ok(Finding::fail(format!("{url} is not a valid URL of a TURN server"), advice))];
    };
    let mut found = match site.connect.addresses(&server.host, server.port).await {
        Ok(found) => found,
        Err(why) => {
            let advice = format!("Create an A record for {} with the public addresses of all TURN nodes.", server.host);
            return vec![Ok(Finding::fail(format!("{url}: {} has no address: {why}", server.host), advice))];
        }
    };
    found.dedup();
    found.truncate(MAX_ADDRESSES);
    let (user, password) = (ice.username.as_deref().unwrap_or_default(), ice.credential.as_deref().unwrap_or_default());
    let several = found.len() > 1;
    join_all(found.into_iter().map(async |at| {
        let shown = if several { format!("{url} at {at}") } else { url.to_owned() };
        if !has_route(at) {
            return Err(family(at));
        }
        Ok(finding(&shown, server.transport, at, probe(site, server.clone(), at, user, password).await))
    }))
    .await
}

fn finding(shown: &str, transport: Transport, at: SocketAddr, tried: Result<Relayed, Failure>) -> Finding {
    match tried {
        Ok(Relayed { allocated, round_trip }) => Finding::ok(format!("{shown} relays a packet"))
            .took(round_trip)
            .figure("allocatedMs", rounded(allocated.as_secs_f64() * 1e3, 100.0)),
        Err(why) => {
            let text = match &why {
                Failure::NotConnected(why) => format!("no connection: {why}"),
                Failure::Untrusted(why) => format!("TLS failed: {why}"),
                Failure::Silent => "no answer".into(),
                Failure::Refused(code, reason) => format!("refused: {code} {reason}"),
                Failure::Lost(relayed) => format!("packets to {relayed}, which it allocated, are lost"),
            };
            Finding::fail(format!("{shown}: {text}"), advice(&why, transport, at))
        }
    }
}

fn advice(why: &Failure, transport: Transport, at: SocketAddr) -> String {
    let port = at.port();
    match (why, transport) {
        (Failure::NotConnected(_) | Failure::Silent, Transport::Udp) => format!(
            "Let UDP {port} in to the TURN nodes, and out of this network, and check that coturn runs; if only a local \
             firewall blocks it, calls use TCP or TLS."
        ),
        (Failure::NotConnected(_) | Failure::Silent, Transport::Tcp | Transport::Tls) => {
            format!("Let TCP {port} in to the TURN nodes, and check that coturn runs.")
        }
        (Failure::Untrusted(_), _) => {
            "Use a certificate (edge.tls) that also names this host and that browsers trust; \
                                       pass a private CA with --ca, or use --insecure."
                .into()
        }
        (Failure::Refused(401, _), _) => {
            "Give coturn and signaling the same secret (secrets.turn), and set both clocks: coturn \
                                         refuses the credentials that signaling issued."
                .into()
        }
        (Failure::Refused(403, _), _) => {
            "List the public addresses of all TURN nodes in turn.nodeAddresses: the server refuses its \
                                         own address as a peer, so two relayed participants cannot connect."
                .into()
        }
        (Failure::Refused(486 | 508, _), _) => {
            "All ports of this node are allocated, or at 486 those of your network (turn.networkAllocations): widen \
             turn.ports.relayMin to relayMax, or label another node."
                .into()
        }
        (Failure::Refused(..), _) => "See coturn's log; RFC 8656 section 18 lists the codes.".into(),
        (Failure::Lost(_), _) => {
            "Let UDP of turn.ports.relayMin to relayMax in to the TURN nodes, and check that the allocated \
                                 address is the node's public one (turn.publicAddress)."
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_14_addresses_of_a_family_that_the_network_lacks_are_left_out_unless_there_are_no_others() {
        let found = verdict(vec![Err(Family::IPv4), Ok(Finding::ok("relays")), Err(Family::IPv4)]).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Finding::ok("relays"));
        let left_out = serde_json::to_string(&found[1]).unwrap();
        assert!(left_out.contains("warn") && left_out.contains("IPv4"), "{left_out}");
        let none = serde_json::to_string(&verdict(vec![Err(Family::IPv6)]).unwrap_err()).unwrap();
        assert!(none.contains("fail"), "{none}");
    }

    #[test]
    fn each_failure_of_turn_has_an_advice() {
        let at = "203.0.113.7:3478".parse().unwrap();
        for (why, transport, action) in [
            (Failure::Silent, Transport::Udp, "UDP 3478"),
            (Failure::NotConnected("refused".into()), Transport::Tcp, "TCP 3478"),
            (Failure::Untrusted("expired".into()), Transport::Tls, "certificate"),
            (Failure::Silent, Transport::Tls, "TCP 3478"),
            (Failure::Refused(401, "Unauthorized".into()), Transport::Udp, "same secret"),
            (Failure::Refused(403, "Forbidden IP".into()), Transport::Udp, "turn.nodeAddresses"),
            (Failure::Refused(508, "Cannot create socket".into()), Transport::Udp, "relayMax"),
            (Failure::Refused(437, "Mismatched allocation".into()), Transport::Udp, "coturn's log"),
            (Failure::Lost(at), Transport::Udp, "publicAddress"),
        ] {
            assert!(advice(&why, transport, at).contains(action), "{why:?}");
        }
    }
}
