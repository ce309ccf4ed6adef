//! The chunks of a page that are present on this machine.
use super::manifest::{Head, Manifest, NewPage};
use super::seal::{Key, Part};
use tokio_tungstenite::tungstenite::Bytes;

/// Verified chunks of a page, some or all (PAGE-2).
pub struct ChunkStore {
    /// The manifest of the page.
    pub manifest: Manifest,
    /// The manifest byte for byte, as it is passed on.
    pub manifest_text: String,
    chunks: Vec<Option<Bytes>>,
    present: u32,
}

/// Why the content of a page cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Chunks are missing, or the hash of all chunks together is wrong.
    Incomplete,
    /// The page is sealed, and there is no key.
    MissingKey,
    /// The page is sealed with another key.
    WrongKey,
}

impl ChunkStore {
    /// A store without chunks.
    pub fn new(manifest: Manifest, text: String) -> Self {
        let chunks = manifest.count();
        Self { manifest, manifest_text: text, chunks: (0..chunks).map(|_| None).collect(), present: 0 }
    }

    /// A store with all chunks of a page that was made on this machine.
    pub fn from_new_page(made: NewPage) -> Self {
        let present = u32::try_from(made.chunks.len()).unwrap_or(u32::MAX);
        Self {
            manifest: made.manifest,
            manifest_text: made.text,
            chunks: made.chunks.into_iter().map(Some).collect(),
            present,
        }
    }

    /// How many chunks the page has.
    pub fn count(&self) -> u32 {
        u32::try_from(self.chunks.len()).unwrap_or(u32::MAX)
    }

    /// How many chunks are present.
    pub fn present(&self) -> u32 {
        self.present
    }

    /// Whether all chunks are present.
    pub fn is_complete(&self) -> bool {
        self.present == self.count()
    }

    /// Whether a chunk is present.
    pub fn contains(&self, chunk: u32) -> bool {
        self.chunk(chunk).is_some()
    }

    /// A chunk, if it is present.
    pub fn chunk(&self, chunk: u32) -> Option<&Bytes> {
        self.chunks.get(chunk as usize)?.as_ref()
    }

    /// Verifies and stores a chunk. Returns whether it was missing, or `None` where its hash is wrong.
    pub fn insert(&mut self, chunk: u32, bytes: Bytes) -> Option<bool> {
        if !self.manifest.is_chunk(chunk, &bytes) {
            return None;
        }
        let place = self.chunks.get_mut(chunk as usize)?;
        let new = place.is_none();
        if new {
            (*place, self.present) = (Some(bytes), self.present + 1);
        }
        Some(new)
    }

    /// All chunks together, sealed if the page is; their hash is verified once more (PAGE-3).
    pub fn content(&self) -> Option<Vec<u8>> {
        let parts: Option<Vec<&[u8]>> = self.chunks.iter().map(|chunk| chunk.as_deref()).collect();
        parts.map(|parts| parts.concat()).filter(|whole| self.manifest.is_content(whole))
    }

    /// The content of the page with its type and name, opened with the key of a sealed page.
    pub fn read(&self, key: Option<&Key>) -> Result<(Head, Vec<u8>), ReadError> {
        let whole = self.content().ok_or(ReadError::Incomplete)?;
        if !self.manifest.is_sealed() {
            return self.manifest.head(None).map(|head| (head, whole)).ok_or(ReadError::Incomplete);
        }
        let key = key.ok_or(ReadError::MissingKey)?;
        let head = self.manifest.head(Some(key)).ok_or(ReadError::WrongKey)?;
        let mut content = Vec::with_capacity(whole.len());
        for (number, chunk) in (0..).zip(self.chunks.iter().flatten()) {
            content.extend(key.open(Part::Chunk(number), chunk).ok_or(ReadError::WrongKey)?);
        }
        Ok((head, content))
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::make;
    use super::*;

    fn made(key: Option<&Key>) -> NewPage {
        let content: Vec<u8> = (0..250).collect();
        make(&content, Head { r#type: "text/plain".into(), name: None }, 100, key).unwrap()
    }

    #[test]
    fn page_2_a_copy_grows_by_chunks_that_are_of_the_page() {
        let NewPage { text, manifest, chunks, .. } = made(None);
        let mut store = ChunkStore::new(manifest, text);
        assert_eq!(store.insert(0, chunks[1].clone()), None);
        assert_eq!(store.insert(9, chunks[1].clone()), None);
        assert_eq!(store.insert(1, chunks[1].clone()), Some(true));
        assert_eq!(store.insert(1, chunks[1].clone()), Some(false));
        assert!(store.contains(1) && !store.contains(0) && store.present() == 1 && store.content().is_none());
        assert_eq!(store.read(None).unwrap_err(), ReadError::Incomplete);
        for chunk in [0, 2] {
            store.insert(chunk, chunks[chunk as usize].clone());
        }
        assert!(store.is_complete() && store.read(None).unwrap().1 == (0..250).collect::<Vec<u8>>());
    }

    #[test]
    fn page_4_a_sealed_page_is_held_without_its_key_and_read_with_it() {
        let key = Key::new().unwrap();
        let store = ChunkStore::from_new_page(made(Some(&key)));
        assert!(store.content().is_some());
        assert_eq!(store.read(None).unwrap_err(), ReadError::MissingKey);
        assert_eq!(store.read(Some(&Key::new().unwrap())).unwrap_err(), ReadError::WrongKey);
        assert_eq!(store.read(Some(&key)).unwrap().1, (0..250).collect::<Vec<u8>>());
    }
}
