//! The network of a client's address, and how much of a resource each network holds. Rules STR-130 and STR-131.
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// The host part of an IPv6 address: one subscriber is assigned at least a /64 (RFC 6177), and chooses addresses in it freely.
const HOST: u128 = (1 << 64) - 1;

/// The network that budgets count an address for: an IPv4 address by itself, also where it is mapped into IPv6 (RFC 4291 section
/// 2.5.5.2), an IPv6 address by its /64.
pub fn of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !HOST)),
        address @ IpAddr::V4(_) => address,
    }
}

/// How much of one resource each network holds, at most `most`. A network that holds nothing costs no memory.
#[derive(Debug)]
pub struct Shares {
    most: u64,
    held: Mutex<HashMap<IpAddr, u64>>,
}

impl Shares {
    /// Each network may hold `most`.
    pub fn new(most: u64) -> Self {
        Self { most, held: Mutex::default() }
    }

    /// What one holder of a network holds changed. False: it grew, and the network is over its share.
    pub fn change(&self, network: IpAddr, before: u64, now: u64) -> bool {
        let mut held = self.held.lock();
        let share = held.entry(network).or_default();
        *share = (*share - before) + now;
        let fits = now <= before || *share <= self.most;
        if *share == 0 {
            held.remove(&network);
        }
        fits
    }

    /// Takes one for a network. False: it has its share already, and this one is not counted.
    pub fn take(&self, network: IpAddr) -> bool {
        let fits = self.change(network, 0, 1);
        if !fits {
            self.give(network);
        }
        fits
    }

    /// Gives one back.
    pub fn give(&self, network: IpAddr) {
        self.change(network, 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_130_a_network_is_an_ipv4_address_or_an_ipv6_slash_64() {
        for (address, network) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"),
            ("::1", "::"),
            ("fe80::1", "fe80::"),
        ] {
            assert_eq!(of(address.parse().unwrap()), network.parse::<IpAddr>().unwrap(), "{address}");
        }
    }

    #[test]
    fn str_131_each_network_has_its_share_and_one_that_holds_nothing_is_forgotten() {
        let shares = Shares::new(10);
        let [one, other] = ["192.0.2.1", "2001:db8::"].map(|network| network.parse().unwrap());
        assert!(shares.change(one, 0, 6) && shares.change(one, 0, 4));
        assert!(!shares.take(one) && shares.change(other, 0, 10));
        assert!(shares.change(one, 6, 5) && shares.take(one) && !shares.take(one));
        shares.give(one);
        for (network, held) in [(one, 4), (one, 5), (other, 10)] {
            assert!(shares.change(network, held, 0));
        }
        assert!(shares.held.lock().is_empty());
    }
}
