//! Where clients reach a relay: an origin, as broadcasts have the paths. Rule MEDIA-1.
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// `https://HOST:PORT/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Url(String);

/// As signaling takes it.
const URL: usize = 256;
const SCHEME: &str = "https://";

impl Url {
    /// Of a relay that clients reach where it listens.
    pub fn of(address: SocketAddr) -> Self {
        Self(format!("{SCHEME}{address}/"))
    }

    /// The host's name or address, an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        let authority = self.0[SCHEME.len()..].trim_end_matches('/');
        match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => authority.split(':').next().unwrap_or(authority),
        }
    }
}

impl TryFrom<String> for Url {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let authority = text.strip_prefix(SCHEME).map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:[]".contains(letter);
        let fits = authority.is_some_and(|authority| !authority.is_empty() && authority.chars().all(plain));
        let url = (fits && text.len() <= URL).then_some(Self(text));
        url.filter(|url| !url.host().is_empty()).ok_or("must be https://HOST:PORT/, without a path")
    }
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
        for (text, host) in [
            ("https://relay-1.eu.example.org:4443/", "relay-1.eu.example.org"),
            ("https://relay", "relay"),
            ("https://127.0.0.1:8141/", "127.0.0.1"),
            ("https://[::1]:8141/", "::1"),
        ] {
            assert_eq!(Url::try_from(text.to_owned()).map(|url| url.host().to_owned()), Ok(host.into()), "{text}");
        }
        assert_eq!(Url::of("[::1]:7".parse().unwrap()), Url("https://[::1]:7/".into()));
    }

    #[test]
    fn media_1_what_is_no_origin_is_refused() {
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
            "a:1",
            &long,
        ] {
            assert!(Url::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
