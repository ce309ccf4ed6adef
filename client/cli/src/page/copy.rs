//! What is here of a page.
use super::manifest::{Head, Made, Manifest};
use super::seal::{Key, Part};
use tokio_tungstenite::tungstenite::Bytes;

/// Some or all chunks, each checked (PAGE-2).
pub struct Copy {
    /// What it is to be.
    pub manifest: Manifest,
    /// The manifest, as it stands.
    pub text: String,
    chunks: Vec<Option<Bytes>>,
    here: u32,
}

/// Why a page is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Chunks are missing, or together they are not what the manifest says.
    NotWhole,
    /// It is sealed.
    NoKey,
    /// It is sealed with another key.
    WrongKey,
}

impl Copy {
    /// Of which nothing is here yet.
    pub fn new(manifest: Manifest, text: String) -> Self {
        let chunks = manifest.count();
        Self { manifest, text, chunks: (0..chunks).map(|_| None).collect(), here: 0 }
    }

    /// Of a page that was made here.
    pub fn made(made: Made) -> Self {
        let here = u32::try_from(made.chunks.len()).unwrap_or(u32::MAX);
        Self { manifest: made.manifest, text: made.text, chunks: made.chunks.into_iter().map(Some).collect(), here }
    }

    /// How many chunks there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.chunks.len()).unwrap_or(u32::MAX)
    }

    /// How many of them are here.
    pub fn here(&self) -> u32 {
        self.here
    }

    /// All of it is here.
    pub fn is_whole(&self) -> bool {
        self.here == self.count()
    }

    /// Whether this chunk is here.
    pub fn has(&self, chunk: u32) -> bool {
        self.chunk(chunk).is_some()
    }

    /// A chunk.
    pub fn chunk(&self, chunk: u32) -> Option<&Bytes> {
        self.chunks.get(chunk as usize)?.as_ref()
    }

    /// Takes a chunk; whether it was missing, or none where it is not that chunk.
    pub fn take(&mut self, chunk: u32, bytes: Bytes) -> Option<bool> {
        if !self.manifest.is_chunk(chunk, &bytes) {
            return None;
        }
        let place = self.chunks.get_mut(chunk as usize)?;
        let new = place.is_none();
        if new {
            (*place, self.here) = (Some(bytes), self.here + 1);
        }
        Some(new)
    }

    /// All of it, as whoever made it sealed it or not; checked once more (PAGE-3).
    pub fn whole(&self) -> Option<Vec<u8>> {
        let parts: Option<Vec<&[u8]>> = self.chunks.iter().map(|chunk| chunk.as_deref()).collect();
        parts.map(|parts| parts.concat()).filter(|whole| self.manifest.is_whole(whole))
    }

    /// What it says, with what it is.
    pub fn read(&self, key: Option<&Key>) -> Result<(Head, Vec<u8>), Unread> {
        let whole = self.whole().ok_or(Unread::NotWhole)?;
        if !self.manifest.is_sealed() {
            return self.manifest.head(None).map(|head| (head, whole)).ok_or(Unread::NotWhole);
        }
        let key = key.ok_or(Unread::NoKey)?;
        let head = self.manifest.head(Some(key)).ok_or(Unread::WrongKey)?;
        let mut content = Vec::with_capacity(whole.len());
        for (number, chunk) in (0..).zip(self.chunks.iter().flatten()) {
            content.extend(key.open(Part::Chunk(number), chunk).ok_or(Unread::WrongKey)?);
        }
        Ok((head, content))
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::make;
    use super::*;

    fn made(key: Option<&Key>) -> Made {
        let content: Vec<u8> = (0..250).collect();
        make(&content, Head { r#type: "text/plain".into(), name: None }, 100, key).unwrap()
    }

    #[test]
    fn page_2_a_copy_grows_by_chunks_that_are_of_the_page() {
        let Made { text, manifest, chunks, .. } = made(None);
        let mut copy = Copy::new(manifest, text);
        assert_eq!(copy.take(0, chunks[1].clone()), None);
        assert_eq!(copy.take(9, chunks[1].clone()), None);
        assert_eq!(copy.take(1, chunks[1].clone()), Some(true));
        assert_eq!(copy.take(1, chunks[1].clone()), Some(false));
        assert!(copy.has(1) && !copy.has(0) && copy.here() == 1 && copy.whole().is_none());
        assert_eq!(copy.read(None).unwrap_err(), Unread::NotWhole);
        for chunk in [0, 2] {
            copy.take(chunk, chunks[chunk as usize].clone());
        }
        assert!(copy.is_whole() && copy.read(None).unwrap().1 == (0..250).collect::<Vec<u8>>());
    }

    #[test]
    fn page_4_a_sealed_page_is_held_without_its_key_and_read_with_it() {
        let key = Key::new().unwrap();
        let copy = Copy::made(made(Some(&key)));
        assert!(copy.whole().is_some());
        assert_eq!(copy.read(None).unwrap_err(), Unread::NoKey);
        assert_eq!(copy.read(Some(&Key::new().unwrap())).unwrap_err(), Unread::WrongKey);
        assert_eq!(copy.read(Some(&key)).unwrap().1, (0..250).collect::<Vec<u8>>());
    }
}
