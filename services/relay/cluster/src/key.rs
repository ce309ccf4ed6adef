//! What opens a relay's media to other relays: they read it in its lease.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Random, new at each start, never stored and never shown.
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

    #[test]
    fn a_key_admits_itself_alone_and_is_not_shown() {
        let (key, mut other) = (Key::random(), Key::random().0);
        assert!(key.admits(&key.0) && !key.admits(&other));
        other.copy_from_slice(&key.0);
        other[31] ^= 1;
        assert!(!key.admits(&other));
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
