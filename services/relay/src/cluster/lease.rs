//! What a pod says of itself while it lives: who it is and how to reach it. Rule STR-90.
use crate::media::place::{Place, if_known};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;

/// A pod's word that it is there; it holds for `lease.time` after it was heard. A field that is not known here is skipped, so
/// that pods of two versions find each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Which pod: the same after a restart.
    pub pod: String,
    /// Which run of it: a later one is greater.
    pub epoch: u64,
    /// Where in the region, as the operator named it.
    #[serde(default)]
    pub zone: String,
    /// Where its links are taken.
    pub link: SocketAddr,
    /// What whoever dials there must present.
    pub key: Key,
    /// The last word: the pod is going.
    #[serde(default)]
    pub gone: bool,
    /// Where its media is, if it carries any.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    pub media: Option<Place>,
}

/// The longest name of a pod.
pub const POD_NAME: usize = 128;
/// More is no lease.
const LEASE: usize = 4096;

impl Lease {
    /// Reads what came on the bus. `None`: no lease.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let lease: Self = (bytes.len() <= LEASE).then(|| serde_json::from_slice(bytes).ok()).flatten()?;
        ((1..=POD_NAME).contains(&lease.pod.len())).then_some(lease)
    }

    /// As it goes onto the bus.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// What opens a pod's link port: random, new at each start, never stored and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(pub [u8; Key::SIZE]);

impl Key {
    /// Bytes of a key.
    pub const SIZE: usize = 32;

    /// A key nobody else has.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// Whether `presented` is this key; takes as long whatever it is.
    pub fn admits(&self, presented: &[u8; Key::SIZE]) -> bool {
        subtle::ConstantTimeEq::ct_eq(&self.0[..], &presented[..]).into()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(..)")
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        STANDARD.encode(key.0)
    }
}

impl TryFrom<String> for Key {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("a key is 32 bytes in base64")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> Lease {
        let link = "10.0.0.7:8112".parse().unwrap();
        Lease { pod: "relay-7".into(), epoch: 5, zone: "a".into(), link, key: Key::random(), gone: false, media: None }
    }

    #[test]
    fn str_90_a_lease_is_read_as_it_was_written_and_fields_of_a_later_version_are_skipped() {
        let mut value = serde_json::to_value(lease()).unwrap();
        value["media"] = "later".into();
        assert_eq!(Lease::read(&lease_with(&value)).map(|lease| lease.pod), Some("relay-7".into()));
        let url = crate::media::url::Url::try_from("https://relay-7.example:4443/".to_owned()).unwrap();
        let hashes = vec!["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".to_owned().try_into().unwrap(); 2];
        let (role, address) = (crate::media::place::Role::Leaf, "10.0.0.7:4443".parse().unwrap());
        let media = Some(Place { role, address, url, hashes, room: 7 });
        for lease in [lease(), Lease { media, ..lease() }] {
            assert_eq!(Lease::read(&lease.bytes()), Some(lease));
        }
    }

    fn lease_with(value: &serde_json::Value) -> Vec<u8> {
        value.to_string().into_bytes()
    }

    #[test]
    fn str_90_what_is_no_lease_is_skipped() {
        let good = serde_json::to_value(lease()).unwrap();
        let with = |name: &str, value: serde_json::Value| {
            let mut changed = good.clone();
            changed[name] = value;
            lease_with(&changed)
        };
        let long = "x".repeat(5000);
        let cases = [
            vec![],
            b"null".to_vec(),
            with("pod", "".into()),
            with("pod", "x".repeat(129).into()),
            with("zone", long.into()),
            with("link", "nowhere".into()),
            with("key", "c2hvcnQ=".into()),
            with("epoch", (-1).into()),
        ];
        for bytes in cases {
            assert_eq!(Lease::read(&bytes), None, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn str_91_a_key_admits_itself_alone_and_is_not_shown() {
        let (key, mut other) = (Key::random(), Key::random().0);
        assert!(key.admits(&key.0) && !key.admits(&other));
        other.copy_from_slice(&key.0);
        other[31] ^= 1;
        assert!(!key.admits(&other));
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
