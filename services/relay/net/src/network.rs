//! The network of a client address, and the share of a resource that each network uses. Rules STR-130 and STR-131.
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// The host part of an IPv6 address: a customer of a provider gets at least a /64 (RFC 6177), and chooses addresses in it freely.
const HOST: u128 = (1 << 64) - 1;

/// The network for which budgets count an address: the address itself for IPv4, also if it is mapped into IPv6 (RFC 4291 section
/// 2.5.5.2); the /64 for IPv6.
pub fn of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !HOST)),
        address @ IpAddr::V4(_) => address,
    }
}

/// The amounts of one resource that networks use, at most `max` each. A network that uses nothing takes no memory.
#[derive(Debug)]
pub struct Shares {
    max: u64,
    used: Mutex<HashMap<IpAddr, u64>>,
}

impl Shares {
    /// Each network may use `max`.
    pub fn new(max: u64) -> Self {
        Self { max, used: Mutex::default() }
    }

    /// Records that the amount of one user in a network changed. Returns false if it grew, and the network exceeds its share.
    pub fn change(&self, network: IpAddr, before: u64, now: u64) -> bool {
        let mut used = self.used.lock();
        let share = used.entry(network).or_default();
        *share = (*share - before) + now;
        let fits = now <= before || *share <= self.max;
        if *share == 0 {
            used.remove(&network);
        }
        fits
    }

    /// Takes one unit for a network. Returns false, and counts nothing, if the network has its share already.
    pub fn take(&self, network: IpAddr) -> bool {
        let fits = self.change(network, 0, 1);
        if !fits {
            self.give(network);
        }
        fits
    }

    /// Gives one unit back.
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
    fn str_131_each_network_has_its_share_and_one_that_uses_nothing_is_removed() {
        let shares = Shares::new(10);
        let [one, other] = ["192.0.2.1", "2001:db8::"].map(|network| network.parse().unwrap());
        assert!(shares.change(one, 0, 6) && shares.change(one, 0, 4));
        assert!(!shares.take(one) && shares.change(other, 0, 10));
        assert!(shares.change(one, 6, 5) && shares.take(one) && !shares.take(one));
        shares.give(one);
        for (network, used) in [(one, 4), (one, 5), (other, 10)] {
            assert!(shares.change(network, used, 0));
        }
        assert!(shares.used.lock().is_empty());
    }
}
