//! Kept messages of other regions, when the port of a topic changes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_net::ws::{Batch, Kind};
use parley_streams::crossing::{Own, Peer};
use parley_streams::interest::{Follower, Interest};
use parley_streams::queue::{Backlog, Bounds};
use parley_streams::reader::Outlet;
use parley_streams::replay::Rule;
use parley_streams::{Hop, Reader, RemoteSubscriber, Role, Route, Stamp, Topic, Topics};
use std::io::{IoSlice, Result};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A socket that accepts everything.
struct Open;

impl Outlet for Open {
    fn write(&self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> Result<usize> {
        Ok(pieces.iter().map(|piece| piece.len()).sum())
    }
}

/// A pod of the region that requests the messages of other regions, and records the numbers in their stamps.
#[derive(Default)]
struct Near(Mutex<Vec<u64>>);

impl RemoteSubscriber for Near {
    fn hop(&self) -> Hop {
        Hop::Inland
    }

    fn has_stamps(&self) -> bool {
        true
    }

    fn send(&self, _: &Batch, stamp: Stamp, _: Instant) {
        self.0.lock().unwrap().push(stamp.sequence);
    }
}

fn peer(region: Option<&str>, name: &str) -> Peer {
    Peer { name: name.into(), region: region.map(Into::into), is_port: true }
}

/// The number of the subscription that began at a peer, if one did.
fn begun(follower: &Follower<Topic>, hop: Hop) -> Option<u64> {
    let is_begun =
        |(number, topic): (u64, Option<(Hop, Arc<str>)>)| topic.is_some_and(|(of, _)| of == hop).then_some(number);
    follower.take().into_iter().find_map(is_begun)
}

#[test]
fn str_144_a_new_port_sends_what_it_kept_from_the_port_before_it_once() {
    let interest = Arc::new(Interest::new(Own { name: "eu_b".into(), origin: 1, is_port: true }));
    let backlog = || Arc::new(Backlog::new(1 << 20));
    let rules = vec![Rule { prefix: "/".into(), messages: 20 }];
    let topics = Arc::new(Topics::new(1000, rules, 1 << 20, backlog(), Some(Arc::clone(&interest))));
    let (before, ocean) = (interest.follow(peer(None, "eu_a")), interest.follow(peer(Some("us"), "us_0")));
    let bounds = Bounds { messages: 1000, bytes: 1 << 20 };
    let reader = Arc::new(Reader::new(1, Box::new(Open), bounds, backlog()));
    // The first topic of which the other pod is the port.
    let (membership, number) = (0..100)
        .find_map(|at| {
            let route = Route { topic: format!("/{at}"), role: Role::Subscribe };
            let membership = topics.enter(&route, &reader, 0).unwrap();
            begun(&before, Hop::Inland).map(|number| (membership, number))
        })
        .unwrap();
    begun(&ocean, Hop::Ocean);
    let deliver = |number, hop, sequence| {
        let stamp = Stamp { origin: 9, sequence };
        membership.topic.deliver(number, hop, stamp, &Batch::message(Kind::Text, b"x"), 0).unwrap();
    };
    for sequence in 1..=5 {
        deliver(number, Hop::Inland, sequence);
    }
    drop(before);
    let number = begun(&ocean, Hop::Ocean).unwrap();
    let near = Arc::new(Near::default());
    let remote: Arc<dyn RemoteSubscriber> = near.clone();
    topics.subscribe(&membership.topic.name, &remote, true).unwrap();
    // The port of the other region begins with the messages that it kept.
    for sequence in 1..=6 {
        deliver(number, Hop::Ocean, sequence);
    }
    assert_eq!(*near.0.lock().unwrap(), [1, 2, 3, 4, 5, 6]);
}
