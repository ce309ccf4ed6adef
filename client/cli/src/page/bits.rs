//! Which chunks somebody has: a bit for each, the first in the highest bit of the first byte (PAGE-16).
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// Grows as it is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u8>);

impl Bits {
    /// Of these chunks, among so many.
    pub fn of(count: u32, has: impl Fn(u32) -> bool) -> Self {
        let mut bits = Self(vec![0; count.div_ceil(8) as usize]);
        (0..count).filter(|chunk| has(*chunk)).for_each(|chunk| bits.set(chunk, true));
        bits
    }

    /// As it is written.
    pub fn read(text: &str) -> Option<Self> {
        BASE64_URL_SAFE_NO_PAD.decode(text).ok().map(Self)
    }

    /// As it is sent.
    pub fn text(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(&self.0)
    }

    /// Whether it says something of so many chunks, and of no others.
    pub fn fits(&self, count: u32) -> bool {
        let rest = (count..count.next_multiple_of(8)).all(|chunk| !self.has(chunk));
        self.0.len() == count.div_ceil(8) as usize && rest
    }

    /// Whether this chunk is among them.
    pub fn has(&self, chunk: u32) -> bool {
        self.0.get(chunk as usize / 8).is_some_and(|byte| byte & (0x80 >> (chunk % 8)) != 0)
    }

    /// One more, or one less.
    pub fn set(&mut self, chunk: u32, has: bool) {
        let at = chunk as usize / 8;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let bit = 0x80 >> (chunk % 8);
        self.0[at] = if has { self.0[at] | bit } else { self.0[at] & !bit };
    }

    /// So many chunks, and all of them.
    pub fn is_all(&self, count: u32) -> bool {
        (0..count).all(|chunk| self.has(chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_16_the_first_chunk_is_the_highest_bit_of_the_first_byte() {
        let bits = Bits::of(10, |chunk| chunk == 0 || chunk == 9);
        assert_eq!((bits.text().as_str(), Bits::read("gEA")), ("gEA", Some(bits.clone())));
        assert!(bits.has(0) && bits.has(9) && !bits.has(1) && !bits.has(99));
        assert!(bits.fits(10) && !bits.fits(9) && !bits.fits(17) && !bits.is_all(10));
        assert!(Bits::of(10, |_| true).is_all(10));
    }
}
