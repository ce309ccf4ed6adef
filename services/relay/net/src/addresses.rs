//! How many sockets there are, in all and from each network. Rules STR-23 and STR-130.
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
    most: u64,
    most_each: u64,
}

#[derive(Debug, Default)]
struct Open {
    total: u64,
    from: HashMap<IpAddr, u64>,
}

/// One TCP connection, counted while it lives.
#[derive(Debug)]
pub struct Counted {
    addresses: Arc<Addresses>,
    from: Option<IpAddr>,
}

/// Connections above `pod.sockets` or `address.sockets` that are still answered with a refusal; more are dropped unheard.
const REFUSED_AT_ONCE: u64 = 256;

impl Addresses {
    /// At most `most` sockets, and `most_each` from one network.
    pub fn new(most: u64, most_each: u64) -> Self {
        Self { open: Mutex::default(), most, most_each }
    }

    /// TCP connections now.
    pub fn total(&self) -> u64 {
        self.open.lock().total
    }

    /// Counts a connection that was accepted; `None`: there are too many even to say so. With its client's address, if that is
    /// known already, it counts there too: whoever says nothing takes no more places than whoever comes in.
    pub fn accept(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Counted> {
        let mut open = self.open.lock();
        if open.total >= self.most + REFUSED_AT_ONCE {
            return None;
        }
        let from = address.map(network::of);
        if let Some(from) = from {
            let from = open.from.entry(from).or_default();
            if *from >= self.most_each + REFUSED_AT_ONCE {
                return None;
            }
            *from += 1;
        }
        open.total += 1;
        Some(Counted { addresses: Arc::clone(self), from })
    }
}

impl Counted {
    /// Lets the connection in; counts it for its client's address where that was not known before.
    pub fn admit(&mut self, address: IpAddr) -> Result<(), Code> {
        let mut open = self.addresses.open.lock();
        if open.total > self.addresses.most {
            return Err(Code::PodFull);
        }
        let known = u64::from(self.from.is_some());
        let network = network::of(address);
        let from = open.from.entry(network).or_default();
        if *from >= self.addresses.most_each + known {
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
    fn str_130_one_ipv6_network_takes_no_more_places_with_many_addresses() {
        let addresses = Arc::new(Addresses::new(1000, 2));
        let host = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let mut taken: Vec<_> = (0..3).map(|_| addresses.accept(None).unwrap()).collect();
        let admitted: Vec<_> = taken.iter_mut().zip(1..).map(|(one, last)| one.admit(host(last))).collect();
        assert_eq!(admitted, [Ok(()), Ok(()), Err(Code::TooManySockets)]);
        let silent: Vec<_> = (0..1000).filter_map(|last| addresses.accept(Some(host(last)))).collect();
        assert_eq!(silent.len() as u64, REFUSED_AT_ONCE);
        assert!(addresses.accept(Some(at(1))).is_some());
    }

    #[test]
    fn str_23_sockets_are_counted_in_all_and_by_address() {
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
    fn str_23_a_flood_is_dropped_unheard() {
        let addresses = Arc::new(Addresses::new(1, 1));
        let taken: Vec<_> = (0..1000).filter_map(|_| addresses.accept(None)).collect();
        assert_eq!(taken.len() as u64, 1 + REFUSED_AT_ONCE);
    }

    #[test]
    fn str_23_a_flood_from_one_address_takes_no_more_than_its_places_though_it_says_nothing() {
        let addresses = Arc::new(Addresses::new(1000, 2));
        let from = |last: u8| addresses.accept(Some(at(last)));
        let mut flood: Vec<_> = (0..1000).filter_map(|_| from(1)).collect();
        assert_eq!(flood.len() as u64, 2 + REFUSED_AT_ONCE);
        assert_eq!(flood[0].admit(at(1)), Err(Code::TooManySockets));
        assert_eq!(from(2).unwrap().admit(at(2)), Ok(()));
        flood.truncate(2);
        assert_eq!((flood[0].admit(at(1)), flood[1].admit(at(1))), (Ok(()), Ok(())));
        assert_eq!(from(1).unwrap().admit(at(1)), Err(Code::TooManySockets));
        drop(flood);
        assert!(addresses.open.lock().from.is_empty());
    }
}
