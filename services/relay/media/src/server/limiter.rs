//! Limits concurrent handshakes, and the handshakes and sessions of one network (MED-19, MED-23).
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use crate::server::codes::{TOO_MANY_HANDSHAKES, TOO_MANY_SESSIONS};
use crate::server::{Limits, Refusal};

pub(crate) struct Limiter {
    handshakes: usize,
    max_of_network: usize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    handshakes: usize,
    networks: HashMap<IpAddr, usize>,
}

/// A handshake or session, which counts until it is dropped.
pub(crate) struct Permit {
    limiter: Arc<Limiter>,
    network: Option<IpAddr>,
    in_handshake: bool,
}

impl Limiter {
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            handshakes: limits.handshakes,
            max_of_network: limits.address_sessions,
            counts: Mutex::default(),
        })
    }

    /// Reports whether half of the handshakes are in use. A client then has to prove its address, so that forged addresses cannot take the rest.
    pub fn requires_validation(&self) -> bool {
        self.counts.lock().handshakes >= self.handshakes / 2
    }

    /// Begins a handshake. The network is `None` behind a proxy, which reports it later.
    pub fn acquire(self: &Arc<Self>, network: Option<IpAddr>) -> Result<Permit, Refusal> {
        let mut counts = self.counts.lock();
        if counts.handshakes >= self.handshakes {
            return Err(TOO_MANY_HANDSHAKES);
        }
        if let Some(network) = network {
            counts.count(network, self.max_of_network)?;
        }
        counts.handshakes += 1;
        Ok(Permit { limiter: Arc::clone(self), network, in_handshake: true })
    }
}

impl Counts {
    fn count(&mut self, network: IpAddr, max: usize) -> Result<(), Refusal> {
        let permits = self.networks.entry(network).or_default();
        if *permits >= max {
            return Err(TOO_MANY_SESSIONS);
        }
        *permits += 1;
        Ok(())
    }

    fn uncount(&mut self, network: IpAddr) {
        if let Some(permits) = self.networks.get_mut(&network) {
            *permits -= 1;
            if *permits == 0 {
                self.networks.remove(&network);
            }
        }
    }
}

impl Permit {
    /// Counts the handshake for its network, once that is known.
    pub fn count_for(&mut self, network: IpAddr) -> Result<(), Refusal> {
        if self.network.is_none() {
            self.limiter.counts.lock().count(network, self.limiter.max_of_network)?;
            self.network = Some(network);
        }
        Ok(())
    }

    /// Ends the handshake.
    pub fn handshake_done(&mut self) {
        if std::mem::take(&mut self.in_handshake) {
            self.limiter.counts.lock().handshakes -= 1;
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.handshake_done();
        if let Some(network) = self.network {
            self.limiter.counts.lock().uncount(network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn limiter(handshakes: usize, max_of_network: usize) -> Arc<Limiter> {
        Arc::new(Limiter { handshakes, max_of_network, counts: Mutex::default() })
    }

    #[test]
    fn med_19_handshakes_are_limited_and_above_half_need_validation() {
        let limiter = limiter(4, 100);
        let mut permits: Vec<_> = (0..2).map(|last| limiter.acquire(Some(at(last))).ok().unwrap()).collect();
        assert!(limiter.requires_validation());
        permits.extend((2..4).map(|last| limiter.acquire(Some(at(last))).ok().unwrap()));
        assert_eq!(limiter.acquire(Some(at(4))).err(), Some(TOO_MANY_HANDSHAKES));
        permits[0].handshake_done();
        permits[0].handshake_done();
        assert!(limiter.acquire(None).is_ok());
        permits.clear();
        assert!(!limiter.requires_validation() && limiter.counts.lock().networks.is_empty());
    }

    #[test]
    fn med_23_handshakes_and_sessions_of_a_network_are_limited() {
        let limiter = limiter(100, 2);
        let mut permits = vec![limiter.acquire(Some(at(1))).ok().unwrap(), limiter.acquire(None).ok().unwrap()];
        permits[0].handshake_done();
        permits[1].count_for(at(1)).unwrap();
        assert_eq!(limiter.acquire(Some(at(1))).err(), Some(TOO_MANY_SESSIONS));
        let mut late = limiter.acquire(None).ok().unwrap();
        assert_eq!(late.count_for(at(1)), Err(TOO_MANY_SESSIONS));
        assert_eq!(late.count_for(at(2)), Ok(()));
        permits.pop();
        assert!(limiter.acquire(Some(at(1))).is_ok());
        drop((permits, late));
        assert!(limiter.counts.lock().networks.is_empty() && limiter.counts.lock().handshakes == 0);
    }
}
