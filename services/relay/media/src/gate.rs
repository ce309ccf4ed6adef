//! How many arrive at once, and how many of one address are here (MED-19, MED-23).
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use crate::codes::{TOO_MANY_HANDSHAKES, TOO_MANY_SESSIONS};
use crate::{Limits, Refusal};

pub(crate) struct Gate {
    handshakes: usize,
    of_one: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    handshakes: usize,
    from: HashMap<Box<str>, usize>,
}

/// Somebody who arrives or is here, counted until dropped.
pub(crate) struct Place {
    gate: Arc<Gate>,
    address: Option<Box<str>>,
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

    /// Begins a handshake, from an address that is not known yet where a proxy stands before it.
    pub fn enter(self: &Arc<Self>, address: Option<&str>) -> Result<Place, Refusal> {
        let mut open = self.open.lock();
        if open.handshakes >= self.handshakes {
            return Err(TOO_MANY_HANDSHAKES);
        }
        if let Some(address) = address {
            open.count(address, self.of_one)?;
        }
        open.handshakes += 1;
        Ok(Place { gate: Arc::clone(self), address: address.map(Into::into), arrives: true })
    }
}

impl Open {
    fn count(&mut self, address: &str, most: usize) -> Result<(), Refusal> {
        let here = self.from.entry(address.into()).or_default();
        if *here >= most {
            return Err(TOO_MANY_SESSIONS);
        }
        *here += 1;
        Ok(())
    }

    fn uncount(&mut self, address: &str) {
        if let Some(here) = self.from.get_mut(address) {
            *here -= 1;
            if *here == 0 {
                self.from.remove(address);
            }
        }
    }
}

impl Place {
    /// Its address is known by now.
    pub fn count_for(&mut self, address: &str) -> Result<(), Refusal> {
        if self.address.is_none() {
            self.gate.open.lock().count(address, self.gate.of_one)?;
            self.address = Some(address.into());
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
        if let Some(address) = &self.address {
            self.gate.open.lock().uncount(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(handshakes: usize, of_one: usize) -> Arc<Gate> {
        Arc::new(Gate { handshakes, of_one, open: Mutex::default() })
    }

    #[test]
    fn med_19_so_many_arrive_at_once_and_half_of_them_unproven() {
        let gate = gate(4, 100);
        let mut here: Vec<_> = (0..2).map(|at| gate.enter(Some(&format!("{at}"))).ok().unwrap()).collect();
        assert!(gate.is_crowded());
        here.extend((2..4).map(|at| gate.enter(Some(&format!("{at}"))).ok().unwrap()));
        assert_eq!(gate.enter(Some("4")).err(), Some(TOO_MANY_HANDSHAKES));
        here[0].arrived();
        here[0].arrived();
        assert!(gate.enter(None).is_ok());
        here.clear();
        assert!(!gate.is_crowded() && gate.open.lock().from.is_empty());
    }

    #[test]
    fn med_23_so_many_of_an_address_arrive_and_are_here() {
        let gate = gate(100, 2);
        let mut here = vec![gate.enter(Some("a")).ok().unwrap(), gate.enter(None).ok().unwrap()];
        here[0].arrived();
        here[1].count_for("a").unwrap();
        assert_eq!(gate.enter(Some("a")).err(), Some(TOO_MANY_SESSIONS));
        let mut late = gate.enter(None).ok().unwrap();
        assert_eq!(late.count_for("a"), Err(TOO_MANY_SESSIONS));
        assert_eq!(late.count_for("b"), Ok(()));
        here.pop();
        assert!(gate.enter(Some("a")).is_ok());
        drop((here, late));
        assert!(gate.open.lock().from.is_empty() && gate.open.lock().handshakes == 0);
    }
}
