//! From a socket's bytes, cut anywhere, to whole messages: unmasked, reassembled and framed for readers. Rules STR-10 to STR-14.
use super::batch::{Batch, Builder};
use super::close;
use super::frame::{
    CLIENT_HEADER_MAX, CONTROL_MAX, Header, Kind, Opcode, SERVER_HEADER_MAX, ServerHeader, Violation, parse_header,
};
use super::mask::append_unmasked;
use bytes::{Buf, BytesMut};

/// What a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Whole messages, in the order they came.
    Messages(Batch),
    /// To be answered with the same bytes.
    Ping(Vec<u8>),
    /// An answer to a ping.
    Pong,
    /// The client ends the connection; its code, if it gave one.
    Close(Option<u16>),
}

/// A message up to this size that came in pieces joins the batch of its read, so that a reader gets it in one write with the
/// others; copying a larger one would cost more than the write.
const JOINS_BATCH: usize = 16 * 1024;
/// Room is made for so many times what has come of a message: a claimed length alone must not cost memory, and what has come should not
/// be moved again and again.
const AHEAD: usize = 4;

/// One socket's decoder. A quiet one holds no buffer.
#[derive(Debug)]
pub struct Decoder {
    message_bytes: u64,
    fragments: u64,
    /// A header that was cut by the end of a read.
    cut: [u8; CLIENT_HEADER_MAX],
    cut_size: usize,
    frame: Option<Frame>,
    message: Option<Box<Message>>,
    control: BytesMut,
    /// A close frame came: nothing after it counts.
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
    /// Room for the longest header, then the payload so far.
    bytes: BytesMut,
    fragments: u64,
}

impl Message {
    fn payload(&self) -> &[u8] {
        &self.bytes[SERVER_HEADER_MAX..]
    }

    /// Where the next `coming` bytes go; `left`: what is to come of the frame, with them.
    fn room_for(&mut self, coming: usize, left: u64) -> &mut BytesMut {
        if self.bytes.len() + coming > self.bytes.capacity() {
            let ahead = (self.payload().len() + coming).saturating_mul(AHEAD);
            self.bytes.reserve(coming.max(ahead.min(crate::size(left))));
        }
        &mut self.bytes
    }

    fn into_batch(mut self) -> Batch {
        let header = ServerHeader::new(Opcode::from(self.kind), self.payload().len());
        let start = SERVER_HEADER_MAX - header.as_bytes().len();
        self.bytes[start..SERVER_HEADER_MAX].copy_from_slice(header.as_bytes());
        self.bytes.advance(start);
        Batch::framed(self.bytes.freeze())
    }
}

impl Decoder {
    /// Takes messages of at most `message_bytes` bytes in at most `fragments` fragments.
    pub fn new(message_bytes: u64, fragments: u64) -> Self {
        let cut = [0; CLIENT_HEADER_MAX];
        Self {
            message_bytes,
            fragments,
            cut,
            cut_size: 0,
            frame: None,
            message: None,
            control: BytesMut::new(),
            ended: false,
        }
    }

    /// Takes what was read and hands out what it completes. After an error the socket is of no more use; messages that were
    /// complete before it have been handed out.
    pub fn feed(&mut self, input: &[u8], emit: &mut impl FnMut(Event)) -> Result<(), Violation> {
        let mut batch = Builder::with_capacity(input.len());
        let result = self.decode(input, &mut batch, emit);
        if let Some(batch) = batch.take() {
            emit(Event::Messages(batch));
        }
        result
    }

    /// Memory that holds an incomplete message, in bytes.
    pub fn held(&self) -> usize {
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
        if self.cut_size == 0
            && let Some((header, size)) = parse_header(input)?
        {
            *input = &input[size..];
            return Ok(Some(header));
        }
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            self.cut[self.cut_size] = byte;
            self.cut_size += 1;
            if let Some((header, _)) = parse_header(&self.cut[..self.cut_size])? {
                self.cut_size = 0;
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

    /// The usual case: a message in one frame, all of it in this read. False: it is not that.
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
            let bytes = BytesMut::zeroed(SERVER_HEADER_MAX);
            self.message = Some(Box::new(Message { kind, bytes, fragments: 0 }));
        }
        if let (false, Some(message)) = (header.opcode.is_control(), &mut self.message) {
            message.fragments += 1;
        }
        self.frame = Some(Frame { header, position: 0, left: header.length });
    }

    /// Takes the frame's payload from the input. True: the frame is complete.
    fn fill(&mut self, input: &mut &[u8]) -> bool {
        let Some(frame) = &mut self.frame else { return false };
        let (masked, rest) = input.split_at(crate::size(frame.left).min(input.len()));
        *input = rest;
        let out = match &mut self.message {
            Some(message) if !frame.header.opcode.is_control() => message.room_for(masked.len(), frame.left),
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
            debug_assert!(payload.len() <= CONTROL_MAX);
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
        if message.payload().len() <= JOINS_BATCH {
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
