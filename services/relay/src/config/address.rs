//! Addresses in settings. Rule STR-147.
use super::Refused;
use std::net::{Ipv4Addr, SocketAddr};

/// An address and port: `10.0.0.7:8112`, `[2001:db8::7]:8112`.
pub(super) fn address(name: &str, text: &str) -> Result<SocketAddr, Refused> {
    let plain = without_brackets_of_ipv4(text);
    plain.parse().map_err(|_| Refused::Setting(format!("{name} must be ADDRESS:PORT, not {text}")))
}

/// The text without the brackets around an IPv4 address, if there are any. Kubernetes fills an address of either family into a
/// template such as `[$(POD_IP)]:8112`, and only one of IPv6 keeps the brackets (RFC 3986 section 3.2.2).
pub(super) fn without_brackets_of_ipv4(text: &str) -> String {
    let parts = text.split_once('[').and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    match parts {
        Some((before, (host, after))) if host.parse::<Ipv4Addr>().is_ok() => format!("{before}{host}{after}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_147_an_address_of_either_family_may_have_brackets() {
        for (text, read) in [
            ("10.0.0.7:8112", "10.0.0.7:8112"),
            ("[10.0.0.7]:8112", "10.0.0.7:8112"),
            ("[2001:db8::7]:8112", "[2001:db8::7]:8112"),
            ("[::]:8111", "[::]:8111"),
            ("[::ffff:10.0.0.7]:8112", "[::ffff:10.0.0.7]:8112"),
        ] {
            assert_eq!(address("listen", text).unwrap(), read.parse().unwrap(), "{text}");
        }
        for bad in
            ["2001:db8::7:8112", "[2001:db8::7]", "[10.0.0.7:8112", "[relay]:8112", "[[10.0.0.7]]:1", ":8112", "[]:1"]
        {
            assert!(address("listen", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn str_147_the_host_of_a_url_too() {
        for (text, plain) in [
            ("https://[10.0.0.7]:8141/", "https://10.0.0.7:8141/"),
            ("https://[2001:db8::7]:8141/", "https://[2001:db8::7]:8141/"),
            ("https://relay-0.example:8141/", "https://relay-0.example:8141/"),
            ("[10.0.0.7]:8114", "10.0.0.7:8114"),
        ] {
            assert_eq!(without_brackets_of_ipv4(text), plain);
        }
    }
}
