//! The hash by which clients pin the certificate of a relay: with it they accept a certificate without a CA that is valid for at most two weeks
//! (W3C WebTransport, `serverCertificateHashes`). Relays identify the peer of a link by it too.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// The SHA-256 of a certificate, in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Self(hash)
    }

    /// The first eight bytes as a number other than 0.
    pub(crate) fn number(self) -> u64 {
        self.0.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)).max(1)
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("a hash is 32 bytes in base64")
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        STANDARD.encode(hash.0)
    }
}
