//! The address of a client behind trusted proxies. Rule STR-23.
use std::net::{IpAddr, SocketAddr};

/// The address of a client, from the values of `X-Forwarded-For`. Each trusted proxy appends the address that it saw, so with n proxies the
/// client's is the n-th from the right. Some proxies append the port too, or the zone of a link-local address. A value that is not an address is ignored, and the connection counts for
/// the proxy that wrote it. `direct`: the address of the connection.
pub fn client_address<'a>(
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    direct: IpAddr,
    trusted_proxies: usize,
) -> IpAddr {
    let hop = trusted_proxies.checked_sub(1).and_then(|back| forwarded.rev().nth(back));
    let address = |hop: &str| hop.parse().or_else(|_| hop.parse::<SocketAddr>().map(|socket| socket.ip())).ok();
    hop.map(without_zone).and_then(|hop| address(&hop)).unwrap_or(direct).to_canonical()
}

/// `fe80::1%eth0` without its zone (RFC 4007 section 11).
fn without_zone(hop: &str) -> String {
    let Some((before, rest)) = hop.split_once('%') else { return hop.to_owned() };
    let end = rest.find(']').unwrap_or(rest.len());
    format!("{before}{}", &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_130_an_entry_is_an_address_of_either_family_with_or_without_a_port_or_counts_for_its_proxy() {
        for (hop, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7:4711", "192.0.2.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]:4711", "2001:db8::7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("[::ffff:192.0.2.7]:4711", "192.0.2.7"),
            ("fe80::1%eth0", "fe80::1"),
            ("[fe80::1%eth0]:4711", "fe80::1"),
            ("192.0.2.7%eth0", "192.0.2.7"),
            ("", "9.9.9.9"),
            ("unknown", "9.9.9.9"),
            ("2001:db8::7:4711x", "9.9.9.9"),
            ("2001:db8:::7", "9.9.9.9"),
            ("[2001:db8::7", "9.9.9.9"),
            ("192.0.2.7.1", "9.9.9.9"),
            ("%", "9.9.9.9"),
        ] {
            let seen = client_address([hop].into_iter(), [9, 9, 9, 9].into(), 1);
            assert_eq!(seen, expected.parse::<IpAddr>().unwrap(), "{hop}");
        }
        let direct: IpAddr = "::ffff:9.9.9.9".parse().unwrap();
        assert_eq!(client_address(std::iter::empty(), direct, 0), IpAddr::from([9, 9, 9, 9]));
    }
}
