//! Where a pod requests the messages of other regions, as links open and end.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_streams::Hop;
use parley_streams::crossing::{Own, Peer};
use parley_streams::interest::{Follower, Interest, Lookup};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn interest() -> Arc<Interest<()>> {
    Arc::new(Interest::new(Own { name: "eu_0".into(), origin: 1, is_port: true }))
}

fn peer(region: Option<&str>, name: &str) -> Peer {
    Peer { name: name.into(), region: region.map(Into::into), is_port: true }
}

/// The subscriptions that began and ended.
fn hops(follower: &Follower<()>) -> (Vec<Hop>, usize) {
    let changes = follower.take();
    let ended = changes.values().filter(|topic| topic.is_none()).count();
    (changes.into_values().flatten().map(|(hop, _)| hop).collect(), ended)
}

#[test]
fn str_140_a_port_requests_a_topic_at_one_relay_of_each_other_region_and_moves_when_that_relay_goes() {
    let interest = interest();
    let regions = [("us", "us_0"), ("us", "us_1"), ("ap", "ap_0")];
    let followers = regions.map(|(region, name)| interest.follow(peer(Some(region), name)));
    interest.cross(&"/a".into(), &Arc::new(()), false);
    interest.subscribe(&"/b".into(), Arc::new(()));
    let taken: Vec<_> = followers.iter().map(hops).collect();
    let begun = taken.iter().map(|(begun, _)| begun.len()).collect::<Vec<_>>();
    assert!(begun == [1, 0, 1] || begun == [0, 1, 1], "{taken:?}");
    assert!(taken.iter().all(|(begun, ended)| begun.iter().all(|hop| *hop == Hop::Ocean) && *ended == 0));
    let mut followers = followers.into_iter();
    let (us_0, us_1, ap) = (followers.next(), followers.next(), followers.next().unwrap());
    let (gone, stays) = if begun[0] == 1 { (us_0, us_1.unwrap()) } else { (us_1, us_0.unwrap()) };
    drop(gone);
    assert_eq!((hops(&stays), hops(&ap)), ((vec![Hop::Ocean], 0), (vec![], 0)));
    interest.uncross("/a");
    assert_eq!((hops(&stays), hops(&ap)), ((vec![], 1), (vec![], 1)));
}

#[test]
fn str_140_a_pod_requests_a_topic_at_the_port_of_its_region_until_others_request_it_here() {
    let interest = interest();
    let receiver = Arc::new(());
    let (port, ocean) = (interest.follow(peer(None, "eu_1")), interest.follow(peer(Some("us"), "us_0")));
    // The first topic of which the other pod is the port.
    let topic = (0..100).map(|at| Arc::from(format!("/{at}"))).find(|topic: &Arc<str>| {
        interest.cross(topic, &receiver, false);
        let is_of_other = hops(&port) == (vec![Hop::Inland], 0);
        if !is_of_other {
            interest.uncross(topic);
            hops(&ocean);
        }
        is_of_other
    });
    let topic = topic.unwrap();
    assert_eq!(hops(&ocean), (vec![], 0));
    interest.cross(&topic, &receiver, true);
    assert_eq!((hops(&port), hops(&ocean)), ((vec![], 1), (vec![Hop::Ocean], 0)));
    interest.cross(&topic, &receiver, false);
    drop(port);
    assert_eq!(hops(&ocean), (vec![Hop::Ocean], 1));
}

#[test]
fn str_94_a_number_is_known_at_the_peer_with_its_subscription_alone() {
    let interest = interest();
    let (us, ap) = (interest.follow(peer(Some("us"), "us_0")), interest.follow(peer(Some("ap"), "ap_0")));
    interest.cross(&"/a".into(), &Arc::new(()), false);
    for (own, other) in [(&us, &ap), (&ap, &us)] {
        let number = *own.take().first_key_value().unwrap().0;
        assert!(matches!(own.find(number), Lookup::Active(_, Hop::Ocean)));
        assert!(matches!(other.find(number), Lookup::Unknown));
    }
}

#[test]
fn str_143_a_pod_of_another_region_is_not_waited_for() {
    let interest = interest();
    let _ocean = interest.follow(peer(Some("us"), "us_0"));
    let number = interest.subscribe(&"/a".into(), Arc::new(()));
    interest.cross(&"/a".into(), &Arc::new(()), false);
    assert!(interest.until_acknowledged(number).is_none());
}

/// What is requested at each peer, by its name: topics with hops.
type Requested = BTreeMap<String, BTreeSet<(String, u8)>>;

/// Follows the changes of the subscriptions at one peer.
struct Link {
    peer: Peer,
    follower: Follower<()>,
    active: BTreeMap<u64, (String, u8)>,
}

impl Link {
    fn open(interest: &Arc<Interest<()>>, peer: Peer) -> Self {
        Self { follower: interest.follow(peer.clone()), peer, active: BTreeMap::new() }
    }

    fn requested(links: &mut [Self]) -> Requested {
        for link in &mut *links {
            for (number, topic) in link.follower.take() {
                match topic {
                    Some((hop, name)) => drop(link.active.insert(number, (name.to_string(), hop.number()))),
                    None => assert!(link.active.remove(&number).is_some(), "the end of an unknown subscription"),
                }
            }
        }
        links.iter().map(|link| (link.peer.name.to_string(), link.active.values().cloned().collect())).collect()
    }
}

#[test]
fn str_140_the_ports_are_those_of_the_open_links_in_whatever_order_they_opened_and_ended() {
    let all: Vec<Peer> = (1..4)
        .flat_map(|at| [(None, "eu"), (Some("us"), "us"), (Some("ap"), "ap")].map(|region| (at, region)))
        .map(|(at, (region, name))| Peer { is_port: at < 3, ..peer(region, &format!("{name}_{at}")) })
        .collect();
    let topics: Vec<(Arc<str>, bool)> = (0..20).map(|at| (format!("/{at}").into(), at % 4 == 0)).collect();
    for is_port in [true, false] {
        let new = || {
            let interest = Arc::new(Interest::new(Own { name: "eu_0".into(), origin: 1, is_port }));
            for (topic, serves) in &topics {
                interest.cross(topic, &Arc::new(()), *serves && is_port);
            }
            interest
        };
        let (interest, mut links, mut random) = (new(), Vec::<Link>::new(), 1_u64);
        for step in 0..500 {
            // Knuth's MMIX generator.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen = &all[usize::try_from(random >> 33).unwrap() % all.len()];
            match links.iter().position(|link| link.peer.name == chosen.name) {
                Some(open) => drop(links.swap_remove(open)),
                None => links.push(Link::open(&interest, chosen.clone())),
            }
            let again = new();
            let mut afresh: Vec<_> = links.iter().map(|link| Link::open(&again, link.peer.clone())).collect();
            for (topic, _) in &topics {
                again.uncross(topic);
            }
            for (topic, serves) in &topics {
                again.cross(topic, &Arc::new(()), *serves && is_port);
            }
            assert_eq!(Link::requested(&mut links), Link::requested(&mut afresh), "step {step}");
        }
    }
}
