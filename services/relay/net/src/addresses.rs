//! Counts the sockets of the pod and of each network. Rules STR-23 and STR-130.
use crate::codes::Code;
use crate::network;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The sockets of a pod.
#[derive(Debug)]
pub struct Addresses {
    open: Mutex<Open>,
    max: u64,
    max_each: u64,
}

#[derive(Debug, Default)]
struct Open {
    total: u64,
    from: HashMap<IpAddr, u64>,
}

/// Counts one TCP connection until it is dropped.
#[derive(Debug)]
pub struct Counted {
    addresses: Arc<Addresses>,
    from: Option<IpAddr>,
}

/// The connections above `pod.sockets` or `address.sockets` that still get a refusal; further ones are closed without an answer.
const MAX_REFUSED: u64 = 256;

impl Addresses {
    /// At most `max` sockets, and `max_each` from one network.
    pub fn new(max: u64, max_each: u64) -> Self {
        Self { open: Mutex::default(), max, max_each }
    }

    /// The number of TCP connections.
    pub fn total(&self) -> u64 {
        self.open.lock().total
    }

    /// Counts an accepted connection. `None`: there are too many to send a refusal. If the address of the client is known already, the connection counts
    /// for its network too, so that a client that sends nothing takes no more places than one that is admitted.
    pub fn accept(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Counted> {
        let mut open = self.open.lock();
        if open.total >= self.max + MAX_REFUSED {
            return None;
        }
        let from = address.map(network::of);
        if let Some(from) = from {
            let from = open.from.entry(from).or_default();
            if *from >= self.max_each + MAX_REFUSED {
                return None;
            }
            *from += 1;
        }
        open.total += 1;
        Some(Counted { addresses: Arc::clone(self), from })
    }
}

impl Counted {
    /// Admits the connection, and counts it for the network of its client if that was not known before.
    pub fn admit(&mut self, address: IpAddr) -> Result<(), Code> {
        let mut open = self.addresses.open.lock();
        if open.total > self.addresses.max {
            return Err(Code::PodFull);
        }
        let known = u64::from(self.from.is_some());
        let network = network::of(address);
        let from = open.from.entry(network).or_default();
        if *from >= self.addresses.max_each + known {
            return Err(Code::TooManySockets);
        }
        *from += 1 - known;
        self.from = Some(network);
        Ok(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.addresses.open.lock();
        open.total -= 1;
        let Some(network) = self.from else { return };
        if let Some(from) = open.from.get_mut(&network) {
            *from -= 1;
            if *from == 0 {
                open.from.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn str_130_one_ipv6_network_gets_no_more_sockets_by_many_addresses() {
        let addresses = Arc::new(Addresses::new(1000, 2));
        let host = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let mut taken: Vec<_> = (0..3).map(|_| addresses.accept(None).unwrap()).collect();
        let admitted: Vec<_> = taken.iter_mut().zip(1..).map(|(one, last)| one.admit(host(last))).collect();
        assert_eq!(admitted, [Ok(()), Ok(()), Err(Code::TooManySockets)]);
        let silent: Vec<_> = (0..1000).filter_map(|last| addresses.accept(Some(host(last)))).collect();
        assert_eq!(silent.len() as u64, MAX_REFUSED);
        assert!(addresses.accept(Some(at(1))).is_some());
    }

    #[test]
    fn str_23_sockets_are_counted_for_the_pod_and_for_each_address() {
        let addresses = Arc::new(Addresses::new(3, 2));
        let mut taken: Vec<Counted> = (0..4).map(|_| addresses.accept(None).unwrap()).collect();
        assert_eq!(taken[3].admit(at(3)), Err(Code::PodFull));
        taken.pop();
        assert_eq!(taken[0].admit(at(1)), Ok(()));
        assert_eq!(taken[1].admit(at(1)), Ok(()));
        assert_eq!(taken[2].admit(at(1)), Err(Code::TooManySockets));
        taken.remove(0);
        assert_eq!(taken[1].admit(at(1)), Ok(()));
        taken.clear();
        assert_eq!(addresses.total(), 0);
        assert!(addresses.open.lock().from.is_empty());
    }

    #[test]
    fn str_23_a_flood_is_closed_without_an_answer() {
        let addresses = Arc::new(Addresses::new(1, 1));
        let taken: Vec<_> = (0..1000).filter_map(|_| addresses.accept(None)).collect();
        assert_eq!(taken.len() as u64, 1 + MAX_REFUSED);
    }

    #[test]
    fn str_23_a_flood_of_silent_connections_from_one_address_is_limited() {
        let addresses = Arc::new(Addresses::new(1000, 2));
        let from = |last: u8| addresses.accept(Some(at(last)));
        let mut flood: Vec<_> = (0..1000).filter_map(|_| from(1)).collect();
        assert_eq!(flood.len() as u64, 2 + MAX_REFUSED);
        assert_eq!(flood[0].admit(at(1)), Err(Code::TooManySockets));
        assert_eq!(from(2).unwrap().admit(at(2)), Ok(()));
        flood.truncate(2);
        assert_eq!((flood[0].admit(at(1)), flood[1].admit(at(1))), (Ok(()), Ok(())));
        assert_eq!(from(1).unwrap().admit(at(1)), Err(Code::TooManySockets));
        drop(flood);
        assert!(addresses.open.lock().from.is_empty());
    }
}
