//! The key with which other relays open the media of a relay. They read it in its lease.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A random key, new at each start, which is neither stored nor shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(pub [u8; Key::SIZE]);

impl Key {
    /// The size of a key in bytes.
    pub const SIZE: usize = 32;

    /// A new random key.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// Whether `presented` is this key, compared in constant time.
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

    #[test]
    fn a_key_admits_only_itself_and_is_not_shown() {
        let (key, mut other) = (Key::random(), Key::random().0);
        assert!(key.admits(&key.0) && !key.admits(&other));
        other.copy_from_slice(&key.0);
        other[31] ^= 1;
        assert!(!key.admits(&other));
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
