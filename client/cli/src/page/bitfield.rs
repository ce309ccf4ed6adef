//! The chunks that a visitor has: one bit for each, the first chunk in the highest bit of the first byte (PAGE-16).
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// A bitfield that grows as bits are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitfield(Vec<u8>);

impl Bitfield {
    /// The chunks below `count` for which `has` is true.
    pub fn from_fn(count: u32, has: impl Fn(u32) -> bool) -> Self {
        let mut bits = Self(vec![0; count.div_ceil(8) as usize]);
        (0..count).filter(|chunk| has(*chunk)).for_each(|chunk| bits.set(chunk, true));
        bits
    }

    /// Decodes base64url.
    pub fn decode(text: &str) -> Option<Self> {
        BASE64_URL_SAFE_NO_PAD.decode(text).ok().map(Self)
    }

    /// Encodes as base64url.
    pub fn encode(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(&self.0)
    }

    /// Whether the bitfield has the length for `count` chunks and its padding is zero.
    pub fn fits(&self, count: u32) -> bool {
        let rest = (count..count.next_multiple_of(8)).all(|chunk| !self.contains(chunk));
        self.0.len() == count.div_ceil(8) as usize && rest
    }

    /// Whether the bit of a chunk is set.
    pub fn contains(&self, chunk: u32) -> bool {
        self.0.get(chunk as usize / 8).is_some_and(|byte| byte & (0x80 >> (chunk % 8)) != 0)
    }

    /// Sets or clears the bit of a chunk.
    pub fn set(&mut self, chunk: u32, has: bool) {
        let at = chunk as usize / 8;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let bit = 0x80 >> (chunk % 8);
        self.0[at] = if has { self.0[at] | bit } else { self.0[at] & !bit };
    }

    /// Whether the bits of all `count` chunks are set.
    pub fn is_complete(&self, count: u32) -> bool {
        (0..count).all(|chunk| self.contains(chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_16_the_first_chunk_is_the_highest_bit_of_the_first_byte() {
        let bits = Bitfield::from_fn(10, |chunk| chunk == 0 || chunk == 9);
        assert_eq!((bits.encode().as_str(), Bitfield::decode("gEA")), ("gEA", Some(bits.clone())));
        assert!(bits.contains(0) && bits.contains(9) && !bits.contains(1) && !bits.contains(99));
        assert!(bits.fits(10) && !bits.fits(9) && !bits.fits(17) && !bits.is_complete(10));
        assert!(Bitfield::from_fn(10, |_| true).is_complete(10));
    }
}
