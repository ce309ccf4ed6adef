//! Sealed pages, which only readers with the key can decrypt (PAGE-4).
use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::str::FromStr;

/// The size of the authentication tag, which encryption adds.
pub const TAG: usize = 16;
const SALT: &[u8] = b"parley page 1";

/// The key of one page. It must not encrypt a second page: the nonces would repeat.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 16]);

/// What is encrypted; each part has a nonce, and each kind a key of its own.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "as they say")]
pub enum Part {
    Chunk(u32),
    Head,
}

impl Key {
    /// Generates a random key.
    pub fn new() -> anyhow::Result<Self> {
        let mut key = [0; 16];
        SystemRandom::new().fill(&mut key).ok().context("the system gives no random bytes")?;
        Ok(Self(key))
    }

    /// Encrypts in place.
    pub fn seal(&self, part: Part, bytes: &mut Vec<u8>) -> anyhow::Result<()> {
        let (key, nonce) = self.of(part)?;
        key.seal_in_place_append_tag(nonce, Aad::empty(), bytes).ok().context("it cannot be sealed")
    }

    /// Decrypts; `None` where another key or part was used.
    pub fn open(&self, part: Part, sealed: &[u8]) -> Option<Vec<u8>> {
        let (key, nonce) = self.of(part).ok()?;
        let mut bytes = sealed.to_vec();
        let size = key.open_in_place(nonce, Aad::empty(), &mut bytes).ok()?.len();
        bytes.truncate(size);
        Some(bytes)
    }

    fn of(&self, part: Part) -> anyhow::Result<(LessSafeKey, Nonce)> {
        let (info, number) = match part {
            Part::Chunk(number) => ([&b"chunks"[..]], number),
            Part::Head => ([&b"head"[..]], 0),
        };
        let drawn = Salt::new(HKDF_SHA256, SALT).extract(&self.0);
        let key = drawn.expand(&info, &AES_128_GCM).ok().context("no key")?;
        let mut nonce = [0; NONCE_LEN];
        nonce[NONCE_LEN - 4..].copy_from_slice(&number.to_be_bytes());
        Ok((LessSafeKey::new(key.into()), Nonce::assume_unique_for_key(nonce)))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key")
    }
}

impl FromStr for Key {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match BASE64_URL_SAFE_NO_PAD.decode(text).map(TryInto::try_into) {
            Ok(Ok(key)) => Ok(Self(key)),
            _ => bail!("the key of a page is 16 bytes in base64url"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_4_what_is_sealed_is_opened_with_its_key_and_its_place_only() {
        let (key, other) = (Key::new().unwrap(), Key::new().unwrap());
        let mut sealed = b"words".to_vec();
        key.seal(Part::Chunk(7), &mut sealed).unwrap();
        assert_eq!(sealed.len(), 5 + TAG);
        assert_eq!(key.open(Part::Chunk(7), &sealed).unwrap(), b"words");
        assert!(key.open(Part::Chunk(8), &sealed).is_none());
        assert!(key.open(Part::Head, &sealed).is_none());
        assert!(other.open(Part::Chunk(7), &sealed).is_none());
        assert_eq!(key.to_string().parse::<Key>().unwrap(), key);
    }

    /// Browsers produce the same bytes with WebCrypto: `HKDF` with `SHA-256`, `AES-GCM` without additional data.
    #[test]
    fn page_4_browsers_seal_likewise() {
        let key: Key = "AAECAwQFBgcICQoLDA0ODw".parse().unwrap();
        let mut chunk = b"words".to_vec();
        key.seal(Part::Chunk(1), &mut chunk).unwrap();
        let mut head = b"words".to_vec();
        key.seal(Part::Head, &mut head).unwrap();
        let said = [chunk, head].map(|sealed| BASE64_URL_SAFE_NO_PAD.encode(sealed));
        assert_eq!(said, ["lWBjuOQ_PqvhFk8NjcglJGvjz38V", "8N1yMFl0n0Ut3-wzlXvEAPCVITQg"]);
    }
}
