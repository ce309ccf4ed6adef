//! The root of a page's hash tree (PAGE-2).
use super::address::{Address, sha256};
use super::seal::{Key, Part, TAG};
use anyhow::ensure;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use tokio_tungstenite::tungstenite::Bytes;

/// Chunks of the largest page that an installation may allow.
const MOST_CHUNKS: usize = 4096;
/// As much as an installation may allow in `page.chunkBytes`.
const MOST_CHUNK_BYTES: u64 = 131_072;
const MOST_HEAD: usize = 1024;
const SEALED_TYPE: &str = "application/octet-stream";
const SCHEME: &str = "AES-128-GCM";

/// SHA-256, written in base64url.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

/// Passed on byte for byte; this is what it says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    v: u8,
    /// Media type, without parameters.
    pub r#type: String,
    /// Of the file; only to be shown.
    #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of all chunks together.
    pub bytes: u64,
    /// Of every chunk but the last.
    pub chunk_bytes: u64,
    sha256: Hash,
    chunks: Vec<Hash>,
    #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    seal: Option<Seal>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seal {
    scheme: String,
    /// [`Head`], sealed, base64url.
    head: String,
}

/// What is sealed of a manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Media type.
    pub r#type: String,
    /// Of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A page as whoever makes it has it.
pub struct Made {
    /// What it is called.
    pub page: Address,
    /// The manifest, as it stands.
    pub text: String,
    /// What it says.
    pub manifest: Manifest,
    /// As the manifest names them.
    pub chunks: Vec<Bytes>,
}

/// Why a text is not the manifest that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Its hash is not the address.
    Another,
    /// It has the hash, and is nothing that can be fetched.
    Malformed(&'static str),
    /// It is of a page of so many bytes.
    TooLarge(u64),
}

/// Makes a page, sealed where there is a key.
pub fn make(content: &[u8], head: Head, chunk_bytes: usize, key: Option<&Key>) -> anyhow::Result<Made> {
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
    let mut manifest = Manifest {
        v: 1,
        r#type: head.r#type.clone(),
        name: head.name.clone(),
        bytes: whole.len() as u64,
        chunk_bytes: chunk_bytes as u64,
        sha256: Hash(sha256(&whole)),
        chunks: chunks.iter().map(|chunk| Hash(sha256(chunk))).collect(),
        seal: None,
    };
    if let Some(key) = key {
        let mut sealed = serde_json::to_vec(&head)?;
        key.seal(Part::Head, &mut sealed)?;
        let sealed = BASE64_URL_SAFE_NO_PAD.encode(sealed);
        ensure!(sealed.len() <= MOST_HEAD, "the name is too long to be sealed");
        (manifest.r#type, manifest.name) = (SEALED_TYPE.to_owned(), None);
        manifest.seal = Some(Seal { scheme: SCHEME.to_owned(), head: sealed });
    }
    let text = serde_json::to_string(&manifest)?;
    Ok(Made { page: Address::of(&text), text, manifest, chunks })
}

impl Manifest {
    /// Reads what somebody sent, of a page of at most so many bytes.
    pub fn read(text: &str, page: Address, most: u64) -> Result<Self, Unfit> {
        if Address::of(text) != page {
            return Err(Unfit::Another);
        }
        let manifest: Self = serde_json::from_str(text).map_err(|_| Unfit::Malformed("it is no manifest"))?;
        manifest.check()?;
        if manifest.bytes > most { Err(Unfit::TooLarge(manifest.bytes)) } else { Ok(manifest) }
    }

    fn check(&self) -> Result<(), Unfit> {
        let unfit = |why| Err(Unfit::Malformed(why));
        if self.v != 1 {
            return unfit("it is of another version");
        }
        if !is_type(&self.r#type) || self.name.as_ref().is_some_and(|name| !(1..=200).contains(&name.chars().count())) {
            return unfit("its type or name is none");
        }
        let sealed = |seal: &Seal| seal.scheme == SCHEME && is_base64(&seal.head) && seal.head.len() <= MOST_HEAD;
        if !self.seal.as_ref().is_none_or(sealed) {
            return unfit("it is sealed in no known way");
        }
        let sized = self.bytes > 0 && (1..=MOST_CHUNK_BYTES).contains(&self.chunk_bytes);
        let all = self.chunks.len() <= MOST_CHUNKS && sized && self.bytes.div_ceil(self.chunk_bytes) == self.count();
        if all { Ok(()) } else { unfit("its numbers do not agree") }
    }

    /// How many chunks there are.
    pub fn count(&self) -> u64 {
        self.chunks.len() as u64
    }

    /// Whether the bytes are those of this chunk.
    pub fn is_chunk(&self, chunk: u32, bytes: &[u8]) -> bool {
        let before = u64::from(chunk) * self.chunk_bytes;
        let size = self.bytes.saturating_sub(before).min(self.chunk_bytes);
        bytes.len() as u64 == size && self.chunks.get(chunk as usize) == Some(&Hash(sha256(bytes)))
    }

    /// Whether the bytes are those of all chunks together.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        self.sha256 == Hash(sha256(bytes))
    }

    /// Whether it can be read with a key only.
    pub fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }

    /// Type and name, of a sealed page with its key only.
    pub fn head(&self, key: Option<&Key>) -> Option<Head> {
        let Some(seal) = &self.seal else {
            return Some(Head { r#type: self.r#type.clone(), name: self.name.clone() });
        };
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(&seal.head).ok()?;
        serde_json::from_slice(&key?.open(Part::Head, &sealed)?).ok()
    }
}

/// `a/b` in lower case.
pub fn is_type(text: &str) -> bool {
    let part = |part: &str| {
        let first = part.bytes().next().is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        first && part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'+' | b'-'))
    };
    text.len() <= 100 && text.split_once('/').is_some_and(|(kind, name)| part(kind) && part(name))
}

/// Base64url.
pub fn is_base64(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Where a field may be missing, but not be null.
pub fn there<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(String::deserialize(from)?).map_err(D::Error::custom)?;
        bytes.try_into().map(Self).map_err(|_| D::Error::custom("not of 32 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content: &[u8], key: Option<&Key>) -> Made {
        make(content, Head { r#type: "text/plain".into(), name: Some("a \"b\".txt".into()) }, 100, key).unwrap()
    }

    fn text(change: &str, to: &str) -> String {
        let text = page(&[7; 250], None).text;
        assert!(text.contains(change), "{text}");
        text.replacen(change, to, 1)
    }

    #[test]
    fn page_2_a_manifest_names_each_chunk_and_the_whole() {
        let Made { page, text, chunks, .. } = page(&[7; 250], None);
        let manifest = Manifest::read(&text, page, 250).unwrap();
        assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [100, 100, 50]);
        for (number, chunk) in (0..).zip(&chunks) {
            assert!(manifest.is_chunk(number, chunk) && !manifest.is_chunk(3, chunk));
        }
        assert!(!manifest.is_chunk(2, &chunks[0]) && !manifest.is_chunk(0, &[8; 100]));
        assert!(manifest.is_whole(&[7; 250]) && !manifest.is_whole(&[7; 249]));
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
            assert!(matches!(read, Err(Unfit::Malformed(_))), "{bad}");
        }
        let good = text("250", "250");
        assert_eq!(Manifest::read(&good, Address::of("{}"), 250).unwrap_err(), Unfit::Another);
        assert_eq!(Manifest::read(&good, Address::of(&good), 249).unwrap_err(), Unfit::TooLarge(250));
    }

    #[test]
    fn page_4_a_sealed_page_tells_nothing_without_its_key() {
        let key = Key::new().unwrap();
        let Made { page, text, manifest, chunks } = page(&[7; 250], Some(&key));
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
