//! The state that all links of one kind share: those within the region, or those to other regions.
use crate::Limits;
use crate::accepted::AcceptedLinks;
use crate::counts::Counts;
use crate::endpoint::MediaEndpoint;
use crate::hash::Hash;
use crate::lease::{Lease, PeerLeases, name_in_all_regions};
use crate::outgoing::Bounds;
use crate::peers::Max;
use crate::tls::Identity;
use parley_net::size;
use parley_streams::crossing::Peer;
use parley_streams::{Clock, Counters, Hop, Interest, Topic, Topics};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// The topics whose messages links carry.
#[derive(Clone)]
pub struct Streams {
    /// The topics of this pod.
    pub topics: Arc<Topics>,
    /// The topics with readers on this pod.
    pub interest: Arc<Interest<Topic>>,
    /// Counts deliveries.
    pub counters: Arc<Counters>,
    /// The clock of the pod.
    pub clock: Clock,
}

/// Where the pods are that links lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the region of this pod.
    Region,
    /// In other regions.
    Ocean,
}

/// The state that the links of one scope share.
pub struct Shared {
    /// Where they lead to.
    pub scope: Scope,
    /// The region of this pod.
    pub region: String,
    /// The topics whose messages links carry.
    pub streams: Streams,
    /// The limits in force.
    pub limits: Limits,
    /// The lease of this pod, as pods of the scope receive it.
    pub own: Lease,
    /// The certificate of its links.
    pub identity: Arc<Identity>,
    /// The links that other pods dialled.
    pub accepted: Arc<AcceptedLinks>,
    /// The counters of links.
    pub counts: Arc<Counts>,
    /// The media endpoint, if the pod carries media. The lease is published at once when the sender notifies.
    pub media: watch::Sender<Option<MediaEndpoint>>,
    /// The valid leases of the other pods of the scope.
    pub peers: watch::Sender<PeerLeases>,
    /// When a lease of another pod under the name of this one last arrived.
    pub namesake: watch::Sender<Option<Instant>>,
    draining: watch::Sender<bool>,
}

impl Scope {
    /// The greatest numbers of known pods and regions.
    pub(crate) fn max(self, limits: &Limits) -> Max {
        match self {
            Scope::Region => Max { pods: size(limits.link_peers), regions: 1 },
            Scope::Ocean => Max { pods: size(limits.link_ocean_peers), regions: size(limits.link_regions) },
        }
    }

    /// Whether links of this scope carry messages of this hop.
    pub(crate) fn carries(self, hop: Hop) -> bool {
        match self {
            Scope::Region => matches!(hop, Hop::Region | Hop::Inland),
            Scope::Ocean => hop == Hop::Ocean,
        }
    }

    /// The bounds of what waits for one pod.
    pub(crate) fn bounds(self, limits: &Limits) -> Bounds {
        match self {
            Scope::Region => Bounds::of(limits),
            Scope::Ocean => Bounds::of_ocean(limits),
        }
    }
}

impl Shared {
    pub(crate) fn new(
        scope: Scope,
        region: String,
        own: Lease,
        streams: Streams,
        limits: Limits,
        identity: Arc<Identity>,
        counts: Arc<Counts>,
    ) -> Self {
        let max = scope.max(&limits);
        Self {
            scope,
            region,
            streams,
            own,
            identity,
            accepted: Arc::new(AcceptedLinks::new(max.pods * max.regions)),
            limits,
            counts,
            media: watch::Sender::default(),
            peers: watch::Sender::default(),
            namesake: watch::Sender::default(),
            draining: watch::Sender::new(false),
        }
    }

    /// The pod with this lease, as the choice of ports sees it.
    pub(crate) fn peer(&self, lease: &Lease) -> Peer {
        match self.scope {
            Scope::Region => Peer {
                name: name_in_all_regions(&self.region, &lease.pod).into(),
                region: None,
                is_port: lease.reach.ocean && lease.reach.hops,
            },
            Scope::Ocean => Peer {
                name: lease.pod.as_str().into(),
                region: lease.reach.region.as_deref().map(Into::into),
                is_port: true,
            },
        }
    }

    /// Whether the pod drains.
    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Marks the pod as draining.
    pub(crate) fn begin_drain(&self) {
        self.draining.send_replace(true);
    }

    /// Changes when the pod begins to drain.
    pub(crate) fn drains(&self) -> watch::Receiver<bool> {
        self.draining.subscribe()
    }

    /// The current lease of this pod.
    pub(crate) fn lease(&self) -> Lease {
        Lease { media: self.media.borrow().clone(), ..self.own.clone() }
    }

    /// Stores the lease of another pod.
    pub(crate) fn remember(&self, lease: Lease) {
        self.peers.send_if_modified(|peers| {
            let is_changed = peers.get(&lease.pod) != Some(&lease);
            peers.insert(lease.pod.clone(), lease);
            is_changed
        });
    }

    /// Removes the lease of another pod.
    pub(crate) fn forget(&self, pod: &str) {
        self.peers.send_if_modified(|peers| peers.remove(pod).is_some());
    }

    /// Waits until the lease of the pod has this certificate, and returns its epoch.
    pub(crate) async fn epoch_of(&self, pod: &str, certificate: Hash) -> u64 {
        let mut peers = self.peers.subscribe();
        loop {
            let lease = peers.borrow_and_update().get(pod).filter(|lease| lease.certificate == certificate).cloned();
            match lease {
                Some(lease) => return lease.epoch,
                // The sender lives as long as `self`.
                None => drop(peers.changed().await),
            }
        }
    }
}
