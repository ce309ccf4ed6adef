//! Messages that are framed once: the bytes that every reader of a topic receives, back to back.
use super::frame::{Kind, Opcode, ServerHeader, payload_of, read_frame};
use super::mask::append_unmasked;
use bytes::{BufMut, Bytes, BytesMut};

/// One or more whole messages, each in one frame as the relay sends it. Clones and slices share the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    bytes: Bytes,
    /// The end of each frame. Empty for a single frame, the usual case, which then needs no allocation.
    ends: Vec<usize>,
    payload: usize,
}

impl Batch {
    /// A batch of one encoded frame.
    pub fn framed(frame: Bytes) -> Self {
        let payload = payload_of(frame.len());
        Self { bytes: frame, ends: Vec::new(), payload }
    }

    /// A batch of one message.
    pub fn message(kind: Kind, payload: &[u8]) -> Self {
        let mut builder = Builder::with_capacity(payload.len() + super::frame::MAX_SERVER_HEADER);
        builder.push_plain(kind, payload);
        builder.take().unwrap_or(Self { bytes: Bytes::new(), ends: Vec::new(), payload: 0 })
    }

    /// Validates frames of another relay. `None` unless they are `count` messages, each framed exactly as this relay frames it.
    pub fn read(bytes: Bytes, count: usize) -> Option<Self> {
        let (mut ends, mut at, mut payload) = (Vec::new(), 0, 0);
        while at < bytes.len() && ends.len() < count {
            let (kind, message) = read_frame(&bytes[at..])?;
            let (start, end) = (message.start + at, message.end + at);
            if kind == Kind::Text && std::str::from_utf8(&bytes[start..end]).is_err() {
                return None;
            }
            payload += end - start;
            at = end;
            ends.push(at);
        }
        if at != bytes.len() || ends.len() != count || count == 0 {
            return None;
        }
        let ends = if count == 1 { Vec::new() } else { ends };
        Some(Self { bytes, ends, payload })
    }

    /// All frames, encoded.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The number of messages.
    pub fn count(&self) -> usize {
        self.ends.len().max(1)
    }

    /// The payload of all messages in bytes.
    pub fn payload(&self) -> usize {
        self.payload
    }

    /// The frames from this index on.
    pub fn frames(&self, from: usize) -> impl Iterator<Item = Bytes> + '_ {
        (from..self.count()).map(|at| self.bytes.slice(self.start(at)..self.start(at + 1)))
    }

    /// The batch without its first `count` messages; `None` if nothing remains.
    pub fn skip(&self, count: usize) -> Option<Self> {
        if count >= self.count() {
            return None;
        }
        let start = self.start(count);
        let rest = self.ends.get(count..).filter(|rest| rest.len() > 1).unwrap_or_default();
        let ends = rest.iter().map(|end| end - start).collect();
        let payload = self.frames(count).map(|frame| payload_of(frame.len())).sum();
        Some(Self { bytes: self.bytes.slice(start..), ends, payload })
    }

    /// The index of the first frame that is not completely sent after `sent` bytes of the batch, and how many bytes of it were sent.
    pub fn resume(&self, sent: usize) -> (usize, usize) {
        let first = match self.ends[..] {
            [] => usize::from(sent >= self.bytes.len()),
            ref ends => ends.partition_point(|end| *end <= sent),
        };
        (first, sent - self.start(first))
    }

    fn start(&self, at: usize) -> usize {
        match at.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(self.bytes.len()),
            None => 0,
        }
    }
}

/// Collects the messages of one read.
#[derive(Debug)]
pub(super) struct Builder {
    bytes: BytesMut,
    ends: Vec<usize>,
    payload: usize,
    capacity: usize,
}

impl Builder {
    /// `capacity`: the bytes to reserve when the first message is added.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: BytesMut::new(), ends: Vec::new(), payload: 0, capacity }
    }

    pub(super) fn push_masked(&mut self, kind: Kind, masked: &[u8], mask: [u8; 4]) -> &[u8] {
        let start = self.begin(kind, masked.len());
        append_unmasked(&mut self.bytes, masked, mask, 0);
        self.end(masked.len());
        &self.bytes[start..]
    }

    pub(super) fn push_plain(&mut self, kind: Kind, payload: &[u8]) {
        self.begin(kind, payload.len());
        self.bytes.put_slice(payload);
        self.end(payload.len());
    }

    /// Removes the last message.
    pub(super) fn pop(&mut self, payload: usize) {
        self.ends.pop();
        self.payload -= payload;
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Takes the collected messages, if any, and leaves the builder empty.
    pub(super) fn take(&mut self) -> Option<Batch> {
        if self.ends.is_empty() {
            return None;
        }
        let ends = if self.ends.len() == 1 { Vec::new() } else { std::mem::take(&mut self.ends) };
        self.ends.clear();
        let payload = std::mem::take(&mut self.payload);
        // A few messages must not keep the memory of a whole read while they wait in a queue.
        let is_sparse = self.bytes.len() < self.bytes.capacity() / 2;
        let bytes = if is_sparse { Bytes::copy_from_slice(&self.bytes) } else { self.bytes.split().freeze() };
        self.bytes.clear();
        Some(Batch { bytes, ends, payload })
    }

    fn begin(&mut self, kind: Kind, length: usize) -> usize {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve(self.capacity);
        }
        self.bytes.put_slice(ServerHeader::new(Opcode::from(kind), length).as_bytes());
        self.bytes.len()
    }

    fn end(&mut self, length: usize) {
        self.payload += length;
        self.ends.push(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The capacity of the memory of a batch.
    fn capacity(batch: Batch) -> usize {
        batch.bytes.try_into_mut().unwrap().capacity()
    }

    #[test]
    fn str_142_a_batch_without_its_first_messages_is_the_batch_of_the_others() {
        let frames: Vec<_> =
            [&b"a"[..], b"", &[7; 300]].map(|payload| Batch::message(Kind::Binary, payload).bytes().to_vec()).into();
        let whole = |from: usize| Batch::read(frames[from..].concat().into(), frames.len() - from);
        let batch = whole(0).unwrap();
        assert_eq!([0, 1, 2, 3].map(|count| batch.skip(count)), [whole(0), whole(1), whole(2), None]);
        assert_eq!(Batch::message(Kind::Text, b"one").skip(1), None);
    }

    #[test]
    fn str_40_a_small_message_does_not_keep_the_memory_of_its_read() {
        let mut builder = Builder::with_capacity(256 * 1024);
        builder.push_plain(Kind::Binary, b"small");
        assert!(capacity(builder.take().unwrap()) < 100);
        builder.push_plain(Kind::Binary, &vec![7; 200 * 1024]);
        let batch = builder.take().unwrap();
        assert_eq!((batch.count(), batch.payload()), (1, 200 * 1024));
    }
}
