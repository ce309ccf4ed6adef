//! The manifest: the root of a page's hash tree (PAGE-2).
use super::address::{Address, sha256};
use super::seal::{Key, Part, TAG};
use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parley_protocol::bounded::{List, OutOfBounds, Text};
use parley_protocol::decode;
use parley_protocol::limits::PAGE_CHUNK_BYTES;
use parley_protocol::manifest::PageManifest;
use parley_protocol::shared::{PageSeal, PageSealScheme, Sha256};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use tokio_tungstenite::tungstenite::Bytes;

const SEALED_TYPE: &str = "application/octet-stream";

/// A valid manifest. Visitors pass on its text byte for byte, never a new encoding.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The size of all chunks together.
    pub bytes: u64,
    /// The size of each chunk but the last.
    pub chunk_bytes: u64,
    wire: PageManifest,
}

/// The part of a manifest that is encrypted on a sealed page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// The media type.
    pub r#type: String,
    /// The name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A page that was made on this machine.
pub struct NewPage {
    /// Its address.
    pub page: Address,
    /// The text of the manifest.
    pub text: String,
    /// The manifest.
    pub manifest: Manifest,
    /// The chunks in the order of the manifest.
    pub chunks: Vec<Bytes>,
}

/// Why a text is not a manifest of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// Its hash is not the address of the page.
    HashMismatch,
    /// Its hash is right, but it describes no page that can be fetched.
    Malformed(&'static str),
    /// The page has this many bytes, more than allowed.
    TooLarge(u64),
}

/// Makes a page, sealed if there is a key. `chunk_bytes` includes the authentication tag.
pub fn make(content: &[u8], head: Head, chunk_bytes: usize, key: Option<&Key>) -> anyhow::Result<NewPage> {
    let plain = chunk_bytes - if key.is_some() { TAG } else { 0 };
    let (mut whole, mut chunks) = (Vec::with_capacity(content.len()), Vec::new());
    for (number, part) in (0..).zip(content.chunks(plain)) {
        let mut chunk = part.to_vec();
        if let Some(key) = key {
            key.seal(Part::Chunk(number), &mut chunk)?;
        }
        whole.extend_from_slice(&chunk);
        chunks.push(Bytes::from(chunk));
    }
    let sealed = key.map(|key| seal(&head, key)).transpose()?;
    let shown = if sealed.is_some() { Head { r#type: SEALED_TYPE.to_owned(), name: None } } else { head };
    let numbers = "there is nothing to be held";
    let wire = PageManifest {
        v: 1.try_into()?,
        r#type: shown.r#type.try_into().context("the type of the page")?,
        name: shown.name.map(Text::try_from).transpose().context("the name of the page")?,
        bytes: NonZeroU64::new(whole.len() as u64).context(numbers)?,
        chunk_bytes: NonZeroU64::new(chunk_bytes as u64).context(numbers)?,
        sha256: hash(&whole)?,
        chunks: List::try_from(chunks.iter().map(|chunk| hash(chunk)).collect::<Result<Vec<_>, _>>()?)
            .context("the page has too many chunks")?,
        seal: sealed,
    };
    let text = serde_json::to_string(&wire)?;
    Ok(NewPage { page: Address::of(&text), text, manifest: wire.into(), chunks })
}

/// Encrypts type and name of a page.
fn seal(head: &Head, key: &Key) -> anyhow::Result<PageSeal> {
    let mut sealed = serde_json::to_vec(head)?;
    key.seal(Part::Head, &mut sealed)?;
    let head = BASE64_URL_SAFE_NO_PAD.encode(sealed);
    Ok(PageSeal {
        scheme: PageSealScheme::Aes128Gcm,
        head: head.try_into().context("the name is too long to be sealed")?,
    })
}

/// The SHA-256 as a manifest contains it.
fn hash(bytes: &[u8]) -> Result<Sha256, OutOfBounds> {
    BASE64_URL_SAFE_NO_PAD.encode(sha256(bytes)).try_into()
}

impl From<PageManifest> for Manifest {
    fn from(wire: PageManifest) -> Self {
        Self { bytes: wire.bytes.get(), chunk_bytes: wire.chunk_bytes.get(), wire }
    }
}

impl Manifest {
    /// Parses and checks the manifest that another visitor sent, of a page of at most `most` bytes.
    pub fn read(text: &str, page: Address, most: u64) -> Result<Self, ManifestError> {
        if Address::of(text) != page {
            return Err(ManifestError::HashMismatch);
        }
        let wire: Option<PageManifest> = decode(text.as_bytes());
        let manifest = Self::from(wire.ok_or(ManifestError::Malformed("it is no manifest"))?);
        let agrees = manifest.chunk_bytes <= PAGE_CHUNK_BYTES.max
            && manifest.bytes.div_ceil(manifest.chunk_bytes) == manifest.count();
        if !agrees {
            return Err(ManifestError::Malformed("its numbers do not agree"));
        }
        if manifest.bytes > most { Err(ManifestError::TooLarge(manifest.bytes)) } else { Ok(manifest) }
    }

    /// How many chunks there are.
    pub fn count(&self) -> u64 {
        self.wire.chunks.len() as u64
    }

    /// Whether the bytes are those of a chunk.
    pub fn is_chunk(&self, chunk: u32, bytes: &[u8]) -> bool {
        let before = u64::from(chunk) * self.chunk_bytes;
        let size = self.bytes.saturating_sub(before).min(self.chunk_bytes);
        bytes.len() as u64 == size && self.wire.chunks.get(chunk as usize) == hash(bytes).ok().as_ref()
    }

    /// Whether the bytes are those of all chunks together.
    pub fn is_content(&self, bytes: &[u8]) -> bool {
        hash(bytes).is_ok_and(|hash| self.wire.sha256 == hash)
    }

    /// Whether the page is sealed.
    pub fn is_sealed(&self) -> bool {
        self.wire.seal.is_some()
    }

    /// Type and name; of a sealed page only with its key.
    pub fn head(&self, key: Option<&Key>) -> Option<Head> {
        let Some(seal) = &self.wire.seal else {
            let name = self.wire.name.as_ref().map(ToString::to_string);
            return Some(Head { r#type: self.wire.r#type.to_string(), name });
        };
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(&*seal.head).ok()?;
        serde_json::from_slice(&key?.open(Part::Head, &sealed)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content: &[u8], key: Option<&Key>) -> NewPage {
        make(content, Head { r#type: "text/plain".into(), name: Some("a \"b\".txt".into()) }, 100, key).unwrap()
    }

    fn text(change: &str, to: &str) -> String {
        let text = page(&[7; 250], None).text;
        assert!(text.contains(change), "{text}");
        text.replacen(change, to, 1)
    }

    #[test]
    fn page_2_a_manifest_names_each_chunk_and_the_whole() {
        let NewPage { page, text, chunks, .. } = page(&[7; 250], None);
        let manifest = Manifest::read(&text, page, 250).unwrap();
        assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [100, 100, 50]);
        for (number, chunk) in (0..).zip(&chunks) {
            assert!(manifest.is_chunk(number, chunk) && !manifest.is_chunk(3, chunk));
        }
        assert!(!manifest.is_chunk(2, &chunks[0]) && !manifest.is_chunk(0, &[8; 100]));
        assert!(manifest.is_content(&[7; 250]) && !manifest.is_content(&[7; 249]));
        assert!(
            text.starts_with(
                r#"{"v":1,"type":"text/plain","name":"a \"b\".txt","bytes":250,"chunkBytes":100,"sha256":""#
            )
        );
    }

    #[test]
    fn page_2_a_manifest_that_is_none_or_does_not_agree_is_refused() {
        for bad in [
            "{}",
            &text("\"v\":1", "\"v\":2"),
            &text("250", "0"),
            &text("250", "301"),
            &text("\"chunkBytes\":100", "\"chunkBytes\":0"),
            &text("\"chunkBytes\":100", "\"chunkBytes\":99999999"),
            &text("text/plain", "text/html; charset=utf-8"),
            &text("\"name\":\"a \\\"b\\\".txt\"", "\"name\":null"),
            &text("\"chunks\":[\"", "\"chunks\":[\"x"),
        ] {
            let read = Manifest::read(bad, Address::of(bad), 10_000);
            assert!(matches!(read, Err(ManifestError::Malformed(_))), "{bad}");
        }
        let good = text("250", "250");
        assert_eq!(Manifest::read(&good, Address::of("{}"), 250).unwrap_err(), ManifestError::HashMismatch);
        assert_eq!(Manifest::read(&good, Address::of(&good), 249).unwrap_err(), ManifestError::TooLarge(250));
    }

    #[test]
    fn page_4_a_sealed_page_tells_nothing_without_its_key() {
        let key = Key::new().unwrap();
        let NewPage { page, text, manifest, chunks } = page(&[7; 250], Some(&key));
        assert!(manifest.is_sealed() && !text.contains("plain") && !text.contains("txt"));
        assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [100, 100, 98]);
        let manifest = Manifest::read(&text, page, 1000).unwrap();
        let head = manifest.head(Some(&key)).unwrap();
        assert_eq!((head.r#type.as_str(), head.name.as_deref()), ("text/plain", Some("a \"b\".txt")));
        assert!(manifest.head(None).is_none() && manifest.head(Some(&Key::new().unwrap())).is_none());
    }

    #[test]
    fn an_unsealed_page_has_one_address_wherever_it_is_made() {
        assert_eq!(page(b"x", None).page, page(b"x", None).page);
        assert_ne!(page(b"x", None).page, page(b"y", None).page);
    }
}
