//! The memory of incomplete messages. Rules STR-15 and STR-131.
use parley_net::network::Shares;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory that incomplete messages of all clients take.
#[derive(Debug)]
pub struct Reassembly {
    bytes: AtomicU64,
    limit: u64,
    shares: Shares,
}

impl Reassembly {
    /// At most `limit` bytes, of which one network may take `network_limit`.
    pub fn new(limit: u64, network_limit: u64) -> Self {
        Self { bytes: AtomicU64::new(0), limit, shares: Shares::new(network_limit) }
    }

    /// The bytes taken now.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Records that the memory of one socket changed. Returns false if it grew, and the network or the pod exceeds its limit.
    pub fn change(&self, network: IpAddr, before: usize, now: usize) -> bool {
        let (before, now) = (before as u64, now as u64);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
        let all = self.bytes.fetch_add(now, Ordering::Relaxed) + now;
        let network_fits = self.shares.change(network, before, now);
        network_fits && (now <= before || all <= self.limit)
    }
}
