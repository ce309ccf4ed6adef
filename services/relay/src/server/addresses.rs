//! How many sockets there are, in all and from each address. Rule STR-23.
use crate::codes::Code;
use parking_lot::Mutex;
use std::collections::HashMap;
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
    from: HashMap<Box<str>, u64>,
}

/// One TCP connection, counted while it lives.
#[derive(Debug)]
pub struct Counted {
    addresses: Arc<Addresses>,
    from: Option<Box<str>>,
}

/// Connections above `pod.sockets` or `address.sockets` that are still answered with a refusal; more are dropped unheard.
const REFUSED_AT_ONCE: u64 = 256;

impl Addresses {
    /// At most `most` sockets, and `most_each` from one address.
    pub fn new(most: u64, most_each: u64) -> Self {
        Self { open: Mutex::default(), most, most_each }
    }

    /// TCP connections now.
    pub fn total(&self) -> u64 {
        self.open.lock().total
    }

    /// Counts a connection that was accepted; `None`: there are too many even to say so. With its client's address, if that is
    /// known already, it counts there too: whoever says nothing takes no more places than whoever comes in.
    pub fn accept(self: &Arc<Self>, address: Option<String>) -> Option<Counted> {
        let mut open = self.open.lock();
        if open.total >= self.most + REFUSED_AT_ONCE {
            return None;
        }
        let from = address.map(String::into_boxed_str);
        if let Some(from) = &from {
            let from = open.from.entry(from.clone()).or_default();
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
    pub fn admit(&mut self, address: &str) -> Result<(), Code> {
        let mut open = self.addresses.open.lock();
        if open.total > self.addresses.most {
            return Err(Code::PodFull);
        }
        let known = u64::from(self.from.is_some());
        let from = open.from.entry(address.into()).or_default();
        if *from >= self.addresses.most_each + known {
            return Err(Code::TooManySockets);
        }
        *from += 1 - known;
        self.from = Some(address.into());
        Ok(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.addresses.open.lock();
        open.total -= 1;
        let Some(address) = &self.from else { return };
        if let Some(from) = open.from.get_mut(address) {
            *from -= 1;
            if *from == 0 {
                open.from.remove(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_23_sockets_are_counted_in_all_and_by_address() {
        let addresses = Arc::new(Addresses::new(3, 2));
        let mut taken: Vec<Counted> = (0..4).map(|_| addresses.accept(None).unwrap()).collect();
        assert_eq!(taken[3].admit("c"), Err(Code::PodFull));
        taken.pop();
        assert_eq!(taken[0].admit("a"), Ok(()));
        assert_eq!(taken[1].admit("a"), Ok(()));
        assert_eq!(taken[2].admit("a"), Err(Code::TooManySockets));
        taken.remove(0);
        assert_eq!(taken[1].admit("a"), Ok(()));
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
        let from = |address: &str| addresses.accept(Some(address.into()));
        let mut flood: Vec<_> = (0..1000).filter_map(|_| from("a")).collect();
        assert_eq!(flood.len() as u64, 2 + REFUSED_AT_ONCE);
        assert_eq!(flood[0].admit("a"), Err(Code::TooManySockets));
        assert_eq!(from("b").unwrap().admit("b"), Ok(()));
        flood.truncate(2);
        assert_eq!((flood[0].admit("a"), flood[1].admit("a")), (Ok(()), Ok(())));
        assert_eq!(from("a").unwrap().admit("a"), Err(Code::TooManySockets));
        drop(flood);
        assert!(addresses.open.lock().from.is_empty());
    }
}
