//! The state that all links of a pod share.
use crate::Limits;
use crate::accepted::AcceptedLinks;
use crate::counts::Counts;
use crate::endpoint::MediaEndpoint;
use crate::hash::Hash;
use crate::lease::{Lease, PeerLeases};
use crate::tls::Identity;
use parley_net::size;
use parley_streams::{Clock, Counters, Interest, Topic, Topics};
use std::sync::Arc;
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

/// The state that the links of a pod share.
pub struct Shared {
    /// The topics whose messages links carry.
    pub streams: Streams,
    /// The limits in force.
    pub limits: Limits,
    /// The lease of this pod.
    pub own: Lease,
    /// The certificate of its links.
    pub identity: Identity,
    /// The links that other pods dialled.
    pub accepted: Arc<AcceptedLinks>,
    /// The counters of links.
    pub counts: Arc<Counts>,
    /// The media endpoint, if the pod carries media. The lease is published at once when the sender notifies.
    pub media: watch::Sender<Option<MediaEndpoint>>,
    /// The valid leases of the other pods.
    pub peers: watch::Sender<PeerLeases>,
    draining: watch::Sender<bool>,
}

impl Shared {
    pub(crate) fn new(streams: Streams, limits: Limits, own: Lease, identity: Identity, counts: Arc<Counts>) -> Self {
        Self {
            streams,
            own,
            identity,
            accepted: Arc::new(AcceptedLinks::new(size(limits.link_peers))),
            limits,
            counts,
            media: watch::Sender::default(),
            peers: watch::Sender::default(),
            draining: watch::Sender::new(false),
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
