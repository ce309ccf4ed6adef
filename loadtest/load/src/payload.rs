//! What the generator sends: every message names itself and carries a hash over all of it, which its readers check.
use rapidhash::v3::rapidhash_v3;

/// Hash, topic, length, sequence and time, in this order.
pub const HEADER: usize = 32;
/// A body begins this much later in the pool than the one before it, so that no two neighbours are alike.
const STRIDE: usize = 64;
const POOL: usize = 4096;

/// Makes the messages of one topic.
pub struct Maker {
    topic: u32,
    bytes: usize,
    pool: Vec<u8>,
    made: u64,
}

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Index of its topic.
    pub topic: u32,
    /// Place among its topic's messages, from 0.
    pub sequence: u64,
    /// Nanoseconds of the generator's clock when it was made.
    pub time: u64,
}

impl Maker {
    /// For messages of `bytes`, at least `HEADER`.
    pub fn new(topic: u32, bytes: usize) -> Self {
        let mut state = u64::from(topic);
        let pool = std::iter::repeat_with(|| {
            state = state.wrapping_add(1);
            rapidhash_v3(&state.to_le_bytes()).to_le_bytes()
        });
        Self { topic, bytes, pool: pool.flatten().take(bytes + POOL).collect(), made: 0 }
    }

    /// How many were made.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Appends the next message to `out`.
    pub fn append(&mut self, out: &mut Vec<u8>, time: u64) {
        let offset = usize::try_from(self.made).unwrap_or(0).wrapping_mul(STRIDE) % POOL;
        let stamp = Stamp { topic: self.topic, sequence: self.made, time };
        seal(out, &stamp, &self.pool[offset..][..self.bytes - HEADER]);
        self.made += 1;
    }
}

/// Appends a message with this stamp and body to `out`.
pub fn seal(out: &mut Vec<u8>, stamp: &Stamp, body: &[u8]) {
    let start = out.len();
    out.extend([0; 8]);
    out.extend(stamp.topic.to_le_bytes());
    out.extend(u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(stamp.sequence.to_le_bytes());
    out.extend(stamp.time.to_le_bytes());
    out.extend(body);
    let hash = rapidhash_v3(&out[start + 8..]);
    out[start..start + 8].copy_from_slice(&hash.to_le_bytes());
}

/// Reads a message that arrived; `None`: it is not, byte by byte, one that was sent.
pub fn check(payload: &[u8]) -> Option<Stamp> {
    let (hash, rest) = payload.split_first_chunk::<8>()?;
    let (topic, fields) = rest.split_first_chunk::<4>()?;
    let (length, fields) = fields.split_first_chunk::<4>()?;
    let (sequence, fields) = fields.split_first_chunk::<8>()?;
    let time = fields.first_chunk::<8>()?;
    let whole = u32::from_le_bytes(*length) as usize == payload.len();
    (whole && rapidhash_v3(rest) == u64::from_le_bytes(*hash)).then(|| Stamp {
        topic: u32::from_le_bytes(*topic),
        sequence: u64::from_le_bytes(*sequence),
        time: u64::from_le_bytes(*time),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> Vec<u8> {
        let mut out = Vec::new();
        Maker::new(7, bytes).append(&mut out, 99);
        out
    }

    #[test]
    fn a_message_is_known_by_its_stamp() {
        for bytes in [HEADER, 100, 4583] {
            assert_eq!(message(bytes).len(), bytes);
            assert_eq!(check(&message(bytes)), Some(Stamp { topic: 7, sequence: 0, time: 99 }));
        }
    }

    #[test]
    fn no_byte_changes_unnoticed() {
        for at in 0..100 {
            let mut bent = message(100);
            bent[at] ^= 1;
            assert_eq!(check(&bent), None, "byte {at}");
        }
    }

    #[test]
    fn a_message_that_was_cut_or_glued_is_none() {
        let whole = message(100);
        assert_eq!(check(&whole[..99]), None);
        assert_eq!(check(&[whole.clone(), whole].concat()), None);
        assert_eq!(check(b""), None);
    }
}
