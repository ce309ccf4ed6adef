//! The messages that the generator sends. Each carries a stamp and a hash over all of its bytes, which its readers verify.
use rapidhash::v3::rapidhash_v3;

/// Hash, topic, length, sequence number and time, in this order.
pub const HEADER_BYTES: usize = 32;
/// The body of a message begins this much later in the pool than that of the previous one, so that successive bodies differ.
const STRIDE: usize = 64;
const POOL_BYTES: usize = 4096;

/// Makes the messages of one topic.
pub struct MessageSource {
    topic: u32,
    bytes: usize,
    pool: Vec<u8>,
    made: u64,
}

/// What identifies a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The index of its topic.
    pub topic: u32,
    /// Its place among the messages of its topic, from 0.
    pub sequence: u64,
    /// When it was made, in nanoseconds of the generator's clock.
    pub time: u64,
}

impl MessageSource {
    /// For messages of `bytes`, at least `HEADER_BYTES`.
    pub fn new(topic: u32, bytes: usize) -> Self {
        let mut state = u64::from(topic);
        let pool = std::iter::repeat_with(|| {
            state = state.wrapping_add(1);
            rapidhash_v3(&state.to_le_bytes()).to_le_bytes()
        });
        Self { topic, bytes, pool: pool.flatten().take(bytes + POOL_BYTES).collect(), made: 0 }
    }

    /// How many messages were made.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Appends the next message to `out`.
    pub fn append(&mut self, out: &mut Vec<u8>, time: u64) {
        let offset = usize::try_from(self.made).unwrap_or(0).wrapping_mul(STRIDE) % POOL_BYTES;
        let stamp = Stamp { topic: self.topic, sequence: self.made, time };
        encode(out, &stamp, &self.pool[offset..][..self.bytes - HEADER_BYTES]);
        self.made += 1;
    }
}

/// Appends a message with this stamp and body to `out`.
pub fn encode(out: &mut Vec<u8>, stamp: &Stamp, body: &[u8]) {
    let start = out.len();
    out.extend([0; 8]);
    out.extend(stamp.topic.to_le_bytes());
    out.extend(u32::try_from(HEADER_BYTES + body.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(stamp.sequence.to_le_bytes());
    out.extend(stamp.time.to_le_bytes());
    out.extend(body);
    let hash = rapidhash_v3(&out[start + 8..]);
    out[start..start + 8].copy_from_slice(&hash.to_le_bytes());
}

/// Verifies a message that arrived, and returns its stamp. `None`: its bytes are not those of a message that was sent.
pub fn verify(payload: &[u8]) -> Option<Stamp> {
    let (hash, rest) = payload.split_first_chunk::<8>()?;
    let (topic, fields) = rest.split_first_chunk::<4>()?;
    let (length, fields) = fields.split_first_chunk::<4>()?;
    let (sequence, fields) = fields.split_first_chunk::<8>()?;
    let time = fields.first_chunk::<8>()?;
    let complete = u32::from_le_bytes(*length) as usize == payload.len();
    (complete && rapidhash_v3(rest) == u64::from_le_bytes(*hash)).then(|| Stamp {
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
        MessageSource::new(7, bytes).append(&mut out, 99);
        out
    }

    #[test]
    fn a_message_is_identified_by_its_stamp() {
        for bytes in [HEADER_BYTES, 100, 4583] {
            assert_eq!(message(bytes).len(), bytes);
            assert_eq!(verify(&message(bytes)), Some(Stamp { topic: 7, sequence: 0, time: 99 }));
        }
    }

    #[test]
    fn a_change_of_any_byte_is_detected() {
        for at in 0..100 {
            let mut changed = message(100);
            changed[at] ^= 1;
            assert_eq!(verify(&changed), None, "byte {at}");
        }
    }

    #[test]
    fn a_truncated_or_concatenated_message_is_rejected() {
        let complete = message(100);
        assert_eq!(verify(&complete[..99]), None);
        assert_eq!(verify(&[complete.clone(), complete].concat()), None);
        assert_eq!(verify(b""), None);
    }
}
