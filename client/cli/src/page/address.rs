//! The address of a page and its URL (PAGE-1).
use super::seal::Key;
use crate::host_url::{host_of, segments};
use anyhow::{Context, bail, ensure};
use parley_protocol::shared::PageAddress;
use ring::digest::{SHA256, digest};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use url::Url;

/// The SHA-256 of a page's manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address([u8; 32]);

/// The URL of a page, or its bare address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageUrl {
    /// `https://HOST/`; absent for a bare address.
    pub host: Option<Url>,
    /// The address of the page.
    pub page: Address,
    /// The key of a sealed page, if the URL contains it.
    pub key: Option<Key>,
}

const FORMS: &str = "must be https://HOST/p/ADDRESS, or an ADDRESS of 64 hexadecimal digits";
const KEY: &str = "key=";

/// Computes the SHA-256 of bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

impl Address {
    /// The address of the page with this manifest.
    pub fn of(manifest: &str) -> Self {
        Self(sha256(manifest.as_bytes()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl FromStr for Address {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        ensure!(text.len() == 64 && text.bytes().all(digits), FORMS);
        let mut hash = [0; 32];
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16)?;
        }
        Ok(Self(hash))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl From<Address> for PageAddress {
    #[allow(clippy::expect_used, reason = "an address is written as 64 hexadecimal digits, which are of the pattern")]
    fn from(page: Address) -> Self {
        page.to_string().try_into().expect("an address is of its pattern")
    }
}

impl From<&PageAddress> for Address {
    #[allow(clippy::expect_used, reason = "the pattern was checked when the message was read")]
    fn from(page: &PageAddress) -> Self {
        page.parse().expect("64 hexadecimal digits are an address")
    }
}

impl FromStr for PageUrl {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if let Ok(page) = text.parse() {
            return Ok(Self { host: None, page, key: None });
        }
        let url: Url = text.parse().context(FORMS)?;
        ensure!(matches!(url.scheme(), "https" | "http") && url.has_host() && url.username().is_empty(), FORMS);
        let ["p", page] = segments(&url)[..] else { bail!(FORMS) };
        let key = url.fragment().and_then(|fragment| fragment.split('&').find_map(|part| part.strip_prefix(KEY)));
        let key = key.map(str::parse).transpose()?;
        Ok(Self { host: Some(host_of(&url)), page: page.parse()?, key })
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(out, "{host}p/")?;
        }
        write!(out, "{}", self.page)?;
        self.key.iter().try_for_each(|key| write!(out, "#{KEY}{key}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn page_1_an_address_is_the_hash_of_a_manifest_in_lower_case_hex() {
        assert_eq!(Address::of("").to_string(), PAGE);
        assert_eq!(PAGE.parse::<Address>().unwrap(), Address::of(""));
        for bad in [&PAGE[1..], &PAGE.to_uppercase(), &PAGE.replace('e', "é"), ""] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_link_is_what_it_was_made_of() {
        let key = "AAECAwQFBgcICQoLDA0ODw";
        for link in [format!("https://h/p/{PAGE}"), format!("http://h:8080/p/{PAGE}#key={key}"), PAGE.to_owned()] {
            assert_eq!(link.parse::<PageUrl>().unwrap().to_string(), link);
        }
        for bad in ["", "https://h/", &format!("https://h/r/{PAGE}"), &format!("https://h/p/{PAGE}#key=short")] {
            assert!(bad.parse::<PageUrl>().is_err(), "{bad}");
        }
    }
}
