//! Where a pod requests the messages of other regions: at the port of its region, or, if it is the port, at the ports of the other regions.
//! No I/O, no clock. Rules STR-140 and STR-143.
use crate::hop::Hop;
use crate::rendezvous::score;
use std::collections::BTreeMap;
use std::sync::Arc;

/// This pod, as the other pods see it.
#[derive(Clone, Debug)]
pub struct Own {
    /// The name in all regions: `{region}_{pod}`.
    pub name: Arc<str>,
    /// The run of the pod: the origin in the stamps of its messages.
    pub origin: u64,
    /// Whether relays of other regions reach this pod, so that it may be the port of topics.
    pub is_port: bool,
}

/// A pod to which this pod has a link.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The name in all regions: `{region}_{pod}`.
    pub name: Arc<str>,
    /// Its region; `None` for that of this pod.
    pub region: Option<Arc<str>>,
    /// Whether it may be the port of topics.
    pub is_port: bool,
}

/// A topic of which this pod requests the messages of other regions.
pub(crate) struct Crossing<T> {
    /// Receives the messages.
    pub receiver: Arc<T>,
    /// Whether other pods of the region request them here, so that this pod is the port for them, whatever it would choose itself.
    pub serves: bool,
    /// The subscriptions.
    pub routes: Vec<Route>,
}

/// A subscription at one peer.
pub(crate) struct Route {
    pub target: Target,
    pub number: u64,
}

/// A peer by its number, and the hop of the messages that are requested there.
pub(crate) type Target = (u64, Hop);

/// The preference of a topic for a relay. Of two equal scores the name decides.
pub(crate) fn rank<'a>(topic: &str, relay: &'a str) -> (u32, &'a str) {
    (score(topic, relay), relay)
}

/// Chooses the peers of a topic. Every pod with the same links chooses the same ones. Without a port in its region a topic crosses no ocean.
pub(crate) fn targets<'a>(
    topic: &str,
    serves: bool,
    own: &Own,
    peers: impl Iterator<Item = (u64, &'a Peer)>,
) -> Vec<Target> {
    let mut best: BTreeMap<Option<&str>, ((u32, &str), u64)> = BTreeMap::new();
    for (number, peer) in peers.filter(|(_, peer)| peer.is_port) {
        let candidate = (rank(topic, &peer.name), number);
        let port = best.entry(peer.region.as_deref()).or_insert(candidate);
        *port = candidate.max(*port);
    }
    let near = best.remove(&None);
    let is_own = own.is_port && near.is_none_or(|(port, _)| port < rank(topic, &own.name));
    match near {
        _ if is_own || (own.is_port && serves) => best.into_values().map(|(_, number)| (number, Hop::Ocean)).collect(),
        Some((_, number)) => vec![(number, Hop::Inland)],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(region: Option<&str>, name: &str, is_port: bool) -> Peer {
        Peer { name: name.into(), region: region.map(Into::into), is_port }
    }

    fn own(name: &str, is_port: bool) -> Own {
        Own { name: name.into(), origin: 1, is_port }
    }

    fn chosen(topic: &str, serves: bool, own: &Own, peers: &[Peer]) -> Vec<(String, Hop)> {
        let numbered = peers.iter().enumerate().map(|(at, peer)| (at as u64, peer));
        let named = |(number, hop): Target| (peers[usize::try_from(number).unwrap()].name.to_string(), hop);
        targets(topic, serves, own, numbered).into_iter().map(named).collect()
    }

    #[test]
    fn str_140_the_relays_of_a_region_agree_on_one_port_and_it_alone_crosses() {
        let names = ["eu_0", "eu_1", "eu_2"];
        let far = [peer(Some("us"), "us_0", true), peer(Some("us"), "us_1", true), peer(Some("ap"), "ap_0", true)];
        for topic in (0..50).map(|at| format!("/out/{at}")) {
            let mut ports = Vec::new();
            for name in names {
                let near = names.iter().filter(|other| **other != name).map(|other| peer(None, other, true));
                let found = chosen(&topic, false, &own(name, true), &near.chain(far.clone()).collect::<Vec<_>>());
                match &found[..] {
                    [(port, Hop::Inland)] => ports.push(port.clone()),
                    [(ap, Hop::Ocean), (us, Hop::Ocean)] => {
                        assert!(ap == "ap_0" && us.starts_with("us_"), "{found:?}");
                        ports.push(name.to_owned());
                    }
                    other => unreachable!("{other:?}"),
                }
            }
            assert!(ports.iter().all(|port| *port == ports[0]), "{ports:?}");
        }
    }

    #[test]
    fn str_140_only_a_relay_that_other_regions_reach_is_a_port() {
        let near = [peer(None, "eu_1", true), peer(None, "eu_2", false)];
        let far = [peer(Some("us"), "us_0", true)];
        for topic in (0..50).map(|at| format!("/out/{at}")) {
            let all = [&near[..], &far].concat();
            assert_eq!(chosen(&topic, false, &own("eu_0", false), &all), [("eu_1".to_owned(), Hop::Inland)]);
            assert_eq!(chosen(&topic, false, &own("eu_0", false), &all[1..]), []);
            assert_eq!(chosen(&topic, false, &own("eu_0", true), &all[1..]), [("us_0".to_owned(), Hop::Ocean)]);
            assert_eq!(chosen(&topic, false, &own("eu_0", true), &near[1..]), []);
        }
    }

    #[test]
    fn str_140_a_relay_at_which_others_request_a_topic_is_its_port_whatever_it_chooses() {
        let all = [peer(None, "eu_1", true), peer(Some("us"), "us_0", true)];
        for topic in (0..50).map(|at| format!("/out/{at}")) {
            assert_eq!(chosen(&topic, true, &own("eu_0", true), &all), [("us_0".to_owned(), Hop::Ocean)]);
        }
    }
}
