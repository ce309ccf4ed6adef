//! Who is at the door: the address behind the proxies we trust, and the origin of the page. Rules STR-22 and STR-23.
use super::request::Request;
use parley_net::visitor::{self, Origins};
use std::net::IpAddr;

/// The client's address.
pub fn address(request: &Request, direct: IpAddr, trusted_proxies: usize) -> IpAddr {
    visitor::behind(request.list("x-forwarded-for"), direct, trusted_proxies)
}

/// Whether a page of the request's origin may use the relay.
pub fn is_origin_allowed(request: &Request, allowed: &Origins) -> bool {
    visitor::is_allowed(request.header("origin"), request.header("host"), allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::request;

    fn with(lines: &str) -> Request {
        request::parse(format!("GET / HTTP/1.1\r\nHost: here:1\r\n{lines}\r\n").as_bytes()).unwrap().unwrap().0
    }

    #[test]
    fn str_23_the_address_is_the_one_the_trusted_proxy_saw() {
        let request = with("X-Forwarded-For: 6.6.6.6, 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n");
        let seen = |request: &Request, proxies| address(request, [9, 9, 9, 9].into(), proxies).to_string();
        for (proxies, expected) in [(0, "9.9.9.9"), (1, "2.2.2.2"), (2, "1.1.1.1"), (7, "9.9.9.9")] {
            assert_eq!(seen(&request, proxies), expected, "{proxies}");
        }
        for (hop, expected) in [
            ("2.2.2.2:4711", "2.2.2.2"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]:4711", "2001:db8::7"),
            ("::ffff:2.2.2.2", "2.2.2.2"),
            ("unknown", "9.9.9.9"),
        ] {
            assert_eq!(seen(&with(&format!("X-Forwarded-For: {hop}\r\n")), 1), expected, "{hop}");
        }
    }

    #[test]
    fn str_22_only_pages_of_allowed_origins_and_of_its_own_host_come_in() {
        let only = Origins::Only(vec!["https://lab.example".into()]);
        for (origin, allowed) in [
            ("Origin: https://lab.example\r\n", true),
            ("Origin: http://here:1\r\n", true),
            ("Origin: ftp://here:1\r\n", false),
            ("Origin: https://u@here:1\r\n", false),
            ("", true),
            ("Origin: https://evil.example\r\n", false),
            ("Origin: null\r\n", false),
            ("Origin: http://here:1.evil.example\r\n", false),
        ] {
            assert_eq!(is_origin_allowed(&with(origin), &only), allowed, "{origin}");
            assert!(is_origin_allowed(&with(origin), &Origins::Any));
        }
    }
}
