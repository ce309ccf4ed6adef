//! Decodes the bytes of a socket, split anywhere, to whole messages: unmasked, reassembled and framed for readers. Rules STR-10 to STR-14.
use super::batch::{Batch, Builder};
use super::close;
use super::frame::{
    Header, Kind, MAX_CLIENT_HEADER, MAX_CONTROL, MAX_SERVER_HEADER, Opcode, ServerHeader, Violation, parse_header,
};
use super::mask::append_unmasked;
use bytes::{Buf, BytesMut};

/// An event that a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Whole messages, in order.
    Messages(Batch),
    /// A ping, to answer with the same bytes.
    Ping(Vec<u8>),
    /// An answer to a ping.
    Pong,
    /// A close frame, with its close code if there is one.
    Close(Option<u16>),
}

/// A fragmented or split message up to this size is copied into the batch of its read, so that a reader gets it in one write with the
/// other messages. Copying a larger message would cost more than a write.
const MAX_COPIED: usize = 16 * 1024;
/// Memory is reserved for this multiple of the received bytes of a message: a claimed length alone must not cost memory, and received bytes should not
/// be moved often.
const GROWTH_FACTOR: usize = 4;

/// The decoder of one socket. It holds no buffer between messages.
#[derive(Debug)]
pub struct Decoder {
    message_bytes: u64,
    fragments: u64,
    /// The part of a header that the last read contained.
    partial: [u8; MAX_CLIENT_HEADER],
    partial_size: usize,
    frame: Option<Frame>,
    message: Option<Box<Message>>,
    control: BytesMut,
    /// Whether a close frame arrived; further input is ignored.
    ended: bool,
}

#[derive(Debug)]
struct Frame {
    header: Header,
    position: usize,
    left: u64,
}

#[derive(Debug)]
struct Message {
    kind: Kind,
    /// Space for the longest header, then the payload received so far.
    bytes: BytesMut,
    fragments: u64,
}

impl Message {
    fn payload(&self) -> &[u8] {
        &self.bytes[MAX_SERVER_HEADER..]
    }

    /// The buffer for the next `coming` bytes. `left`: the bytes of the frame that have not arrived, including these.
    fn buffer_for(&mut self, coming: usize, left: u64) -> &mut BytesMut {
        if self.bytes.len() + coming > self.bytes.capacity() {
            let ahead = (self.payload().len() + coming).saturating_mul(GROWTH_FACTOR);
            self.bytes.reserve(coming.max(ahead.min(crate::size(left))));
        }
        &mut self.bytes
    }

    fn into_batch(mut self) -> Batch {
        let header = ServerHeader::new(Opcode::from(self.kind), self.payload().len());
        let start = MAX_SERVER_HEADER - header.as_bytes().len();
        self.bytes[start..MAX_SERVER_HEADER].copy_from_slice(header.as_bytes());
        self.bytes.advance(start);
        Batch::framed(self.bytes.freeze())
    }
}

impl Decoder {
    /// Accepts messages of at most `message_bytes` bytes in at most `fragments` fragments.
    pub fn new(message_bytes: u64, fragments: u64) -> Self {
        let partial = [0; MAX_CLIENT_HEADER];
        Self {
            message_bytes,
            fragments,
            partial,
            partial_size: 0,
            frame: None,
            message: None,
            control: BytesMut::new(),
            ended: false,
        }
    }

    /// Decodes input and emits the events that it completes. After an error the socket must be closed; messages that were complete before
    /// it have been emitted.
    pub fn feed(&mut self, input: &[u8], emit: &mut impl FnMut(Event)) -> Result<(), Violation> {
        let mut batch = Builder::with_capacity(input.len());
        let result = self.decode(input, &mut batch, emit);
        if let Some(batch) = batch.take() {
            emit(Event::Messages(batch));
        }
        result
    }

    /// The memory of an incomplete message in bytes.
    pub fn incomplete_bytes(&self) -> usize {
        self.message.as_ref().map_or(0, |message| message.bytes.capacity())
    }

    fn decode(&mut self, mut input: &[u8], batch: &mut Builder, emit: &mut impl FnMut(Event)) -> Result<(), Violation> {
        while !self.ended {
            if self.frame.is_none() {
                let Some(header) = self.next_header(&mut input)? else { return Ok(()) };
                self.check(&header)?;
                if self.take_whole(header, &mut input, batch)? {
                    continue;
                }
                self.begin(header);
            }
            if !self.fill(&mut input) {
                return Ok(());
            }
            self.finish(batch, emit)?;
        }
        Ok(())
    }

    fn next_header(&mut self, input: &mut &[u8]) -> Result<Option<Header>, Violation> {
        if self.partial_size == 0
            && let Some((header, size)) = parse_header(input)?
        {
            *input = &input[size..];
            return Ok(Some(header));
        }
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            self.partial[self.partial_size] = byte;
            self.partial_size += 1;
            if let Some((header, _)) = parse_header(&self.partial[..self.partial_size])? {
                self.partial_size = 0;
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    fn check(&self, header: &Header) -> Result<(), Violation> {
        if header.opcode.is_control() {
            return Ok(());
        }
        let (before, fragments) = match (&self.message, header.opcode) {
            (None, Opcode::Continuation) => return Err(Violation::UnexpectedContinuation),
            (Some(message), Opcode::Continuation) => (message.payload().len() as u64, message.fragments),
            (Some(_), _) => return Err(Violation::InterleavedMessage),
            (None, _) => (0, 0),
        };
        if header.length > self.message_bytes - before {
            return Err(Violation::TooLarge);
        }
        if fragments >= self.fragments {
            return Err(Violation::TooManyFragments);
        }
        Ok(())
    }

    /// Decodes the usual case: a message in one frame that is complete in this read. Returns false if it is another case.
    fn take_whole(&mut self, header: Header, input: &mut &[u8], batch: &mut Builder) -> Result<bool, Violation> {
        let kind = match header.opcode {
            Opcode::Text => Kind::Text,
            Opcode::Binary => Kind::Binary,
            _ => return Ok(false),
        };
        if !header.fin || header.length > input.len() as u64 {
            return Ok(false);
        }
        let (masked, rest) = input.split_at(crate::size(header.length));
        *input = rest;
        let payload = batch.push_masked(kind, masked, header.mask);
        if kind == Kind::Text && std::str::from_utf8(payload).is_err() {
            batch.pop(masked.len());
            return Err(Violation::NotUtf8);
        }
        Ok(true)
    }

    fn begin(&mut self, header: Header) {
        let kind = match header.opcode {
            Opcode::Text => Some(Kind::Text),
            Opcode::Binary => Some(Kind::Binary),
            _ => None,
        };
        if let Some(kind) = kind {
            let bytes = BytesMut::zeroed(MAX_SERVER_HEADER);
            self.message = Some(Box::new(Message { kind, bytes, fragments: 0 }));
        }
        if let (false, Some(message)) = (header.opcode.is_control(), &mut self.message) {
            message.fragments += 1;
        }
        self.frame = Some(Frame { header, position: 0, left: header.length });
    }

    /// Takes payload of the frame from the input. Returns whether the frame is complete.
    fn fill(&mut self, input: &mut &[u8]) -> bool {
        let Some(frame) = &mut self.frame else { return false };
        let (masked, rest) = input.split_at(crate::size(frame.left).min(input.len()));
        *input = rest;
        let out = match &mut self.message {
            Some(message) if !frame.header.opcode.is_control() => message.buffer_for(masked.len(), frame.left),
            _ => &mut self.control,
        };
        append_unmasked(out, masked, frame.header.mask, frame.position);
        frame.position = (frame.position + masked.len()) % 4;
        frame.left -= masked.len() as u64;
        frame.left == 0
    }

    fn finish(&mut self, batch: &mut Builder, emit: &mut impl FnMut(Event)) -> Result<(), Violation> {
        let Some(Frame { header, .. }) = self.frame.take() else { return Ok(()) };
        if header.opcode.is_control() {
            let payload = std::mem::take(&mut self.control);
            debug_assert!(payload.len() <= MAX_CONTROL);
            let event = match header.opcode {
                Opcode::Close => Event::Close(close::parse(&payload)?),
                Opcode::Ping => Event::Ping(payload.to_vec()),
                _ => Event::Pong,
            };
            self.ended = matches!(event, Event::Close(_));
            if self.ended {
                batch.take().map(Event::Messages).into_iter().for_each(&mut *emit);
            }
            emit(event);
            return Ok(());
        }
        if !header.fin {
            return Ok(());
        }
        let Some(message) = self.message.take() else { return Ok(()) };
        if message.kind == Kind::Text && std::str::from_utf8(message.payload()).is_err() {
            return Err(Violation::NotUtf8);
        }
        if message.payload().len() <= MAX_COPIED {
            batch.push_plain(message.kind, message.payload());
            return Ok(());
        }
        if let Some(before) = batch.take() {
            emit(Event::Messages(before));
        }
        emit(Event::Messages(message.into_batch()));
        Ok(())
    }
}
