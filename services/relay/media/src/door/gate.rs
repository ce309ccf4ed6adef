//! How many arrive at once, and how many of one network are here (MED-19, MED-23).
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use crate::door::codes::{TOO_MANY_HANDSHAKES, TOO_MANY_SESSIONS};
use crate::door::{Limits, Refusal};

pub(crate) struct Gate {
    handshakes: usize,
    of_one: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    handshakes: usize,
    from: HashMap<IpAddr, usize>,
}

/// Somebody who arrives or is here, counted until dropped.
pub(crate) struct Place {
    gate: Arc<Gate>,
    network: Option<IpAddr>,
    arrives: bool,
}

impl Gate {
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self { handshakes: limits.handshakes, of_one: limits.address_sessions, open: Mutex::default() })
    }

    /// Half of the places are taken: from here on an address has to be proven, so that forged ones never fill the rest.
    pub fn is_crowded(&self) -> bool {
        self.open.lock().handshakes >= self.handshakes / 2
    }

    /// Begins a handshake, from a network that is not known yet where a proxy stands before it.
    pub fn enter(self: &Arc<Self>, network: Option<IpAddr>) -> Result<Place, Refusal> {
        let mut open = self.open.lock();
        if open.handshakes >= self.handshakes {
            return Err(TOO_MANY_HANDSHAKES);
        }
        if let Some(network) = network {
            open.count(network, self.of_one)?;
        }
        open.handshakes += 1;
        Ok(Place { gate: Arc::clone(self), network, arrives: true })
    }
}

impl Open {
    fn count(&mut self, network: IpAddr, most: usize) -> Result<(), Refusal> {
        let here = self.from.entry(network).or_default();
        if *here >= most {
            return Err(TOO_MANY_SESSIONS);
        }
        *here += 1;
        Ok(())
    }

    fn uncount(&mut self, network: IpAddr) {
        if let Some(here) = self.from.get_mut(&network) {
            *here -= 1;
            if *here == 0 {
                self.from.remove(&network);
            }
        }
    }
}

impl Place {
    /// Its network is known by now.
    pub fn count_for(&mut self, network: IpAddr) -> Result<(), Refusal> {
        if self.network.is_none() {
            self.gate.open.lock().count(network, self.gate.of_one)?;
            self.network = Some(network);
        }
        Ok(())
    }

    /// The handshake is over.
    pub fn arrived(&mut self) {
        if std::mem::take(&mut self.arrives) {
            self.gate.open.lock().handshakes -= 1;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.arrived();
        if let Some(network) = self.network {
            self.gate.open.lock().uncount(network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn gate(handshakes: usize, of_one: usize) -> Arc<Gate> {
        Arc::new(Gate { handshakes, of_one, open: Mutex::default() })
    }

    #[test]
    fn med_19_so_many_arrive_at_once_and_half_of_them_unproven() {
        let gate = gate(4, 100);
        let mut here: Vec<_> = (0..2).map(|last| gate.enter(Some(at(last))).ok().unwrap()).collect();
        assert!(gate.is_crowded());
        here.extend((2..4).map(|last| gate.enter(Some(at(last))).ok().unwrap()));
        assert_eq!(gate.enter(Some(at(4))).err(), Some(TOO_MANY_HANDSHAKES));
        here[0].arrived();
        here[0].arrived();
        assert!(gate.enter(None).is_ok());
        here.clear();
        assert!(!gate.is_crowded() && gate.open.lock().from.is_empty());
    }

    #[test]
    fn med_23_so_many_of_a_network_arrive_and_are_here() {
        let gate = gate(100, 2);
        let mut here = vec![gate.enter(Some(at(1))).ok().unwrap(), gate.enter(None).ok().unwrap()];
        here[0].arrived();
        here[1].count_for(at(1)).unwrap();
        assert_eq!(gate.enter(Some(at(1))).err(), Some(TOO_MANY_SESSIONS));
        let mut late = gate.enter(None).ok().unwrap();
        assert_eq!(late.count_for(at(1)), Err(TOO_MANY_SESSIONS));
        assert_eq!(late.count_for(at(2)), Ok(()));
        here.pop();
        assert!(gate.enter(Some(at(1))).is_ok());
        drop((here, late));
        assert!(gate.open.lock().from.is_empty() && gate.open.lock().handshakes == 0);
    }
}
