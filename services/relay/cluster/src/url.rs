//! The URL of a relay for clients: an origin, because paths name broadcasts. Rule MEDIA-1.
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// `https://HOST:PORT/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Url(String);

/// The length limit, as in signaling.
const MAX_URL: usize = 256;
const SCHEME: &str = "https://";
const DEFAULT_PORT: u16 = 443;

impl Url {
    /// The URL of a relay that clients reach at its listening address.
    pub fn of(address: SocketAddr) -> Self {
        Self(format!("{SCHEME}{address}/"))
    }

    /// The name or address of the host; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => authority.split(':').next().unwrap_or(authority),
        }
    }

    /// The port, 443 where the URL names none.
    pub fn port(&self) -> u16 {
        let last = self.authority().rsplit(':').next();
        last.and_then(|port| port.parse().ok()).unwrap_or(DEFAULT_PORT)
    }

    fn authority(&self) -> &str {
        self.0[SCHEME.len()..].trim_end_matches('/')
    }
}

impl TryFrom<String> for Url {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let authority = text.strip_prefix(SCHEME).map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let fits = text.len() <= MAX_URL && authority.is_some_and(is_authority);
        fits.then_some(Self(text)).ok_or("must be https://HOST:PORT/, without a path")
    }
}

/// Whether this is an authority from which browsers read the same host.
fn is_authority(authority: &str) -> bool {
    let (is_host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').unwrap_or_default();
            (address.parse::<Ipv6Addr>().is_ok(), port)
        }
        None => {
            let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            (is_name_or_ipv4(host), port)
        }
    };
    let number = port.strip_prefix(':');
    is_host && (port.is_empty() || number.is_some_and(|number| is_digits(number) && number.parse::<u16>().is_ok()))
}

/// Browsers read a host that ends in a number as an IPv4 address (URL standard, "ends in a number").
fn is_name_or_ipv4(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let hexadecimal = last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if hexadecimal || is_digits(&last) {
        return host.parse::<Ipv4Addr>().is_ok();
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    host.split('.').all(|label| !label.is_empty() && label.bytes().all(plain))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl From<Url> for String {
    fn from(url: Url) -> Self {
        url.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_1_a_relay_is_an_origin_with_a_host() {
        for (text, host, port) in [
            ("https://relay-1.eu.example.org:4443/", "relay-1.eu.example.org", 4443),
            ("https://relay", "relay", 443),
            ("https://127.0.0.1/", "127.0.0.1", 443),
            ("https://127.0.0.1:8141/", "127.0.0.1", 8141),
            ("https://[::1]:8141/", "::1", 8141),
            ("https://[2001:db8::4443]", "2001:db8::4443", 443),
        ] {
            let url = Url::try_from(text.to_owned());
            assert_eq!(url.map(|url| (url.host().to_owned(), url.port())), Ok((host.into(), port)), "{text}");
        }
        assert_eq!(Url::of("[::1]:7".parse().unwrap()), Url("https://[::1]:7/".into()));
    }

    #[test]
    fn media_1_a_url_that_is_not_an_origin_is_refused() {
        let long = format!("https://{}/", "x".repeat(300));
        for text in [
            "",
            "https://",
            "https:///",
            "http://a/",
            "https://a/b",
            "https://a?b",
            "https://u@a/",
            "https://:1/",
            "https://a:b/",
            "https://a:99999/",
            "https://[::1/",
            "https://a]/",
            "https://[a]/",
            "https://999.1.1.1/",
            "https://a..b/",
            "a:1",
            &long,
        ] {
            assert!(Url::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
