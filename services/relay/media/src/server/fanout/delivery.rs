//! One group on its way to one watcher.
//!
//! Usually a delivery is _live_: the watcher's stream has all that was read of the group, and each piece is written as it is read. A delivery that has just
//! begun, or whose stream had no room, is _behind_: it reads what it lacks from the cache of MoQ's library, and is live again when it has all.
use moq_net::bytes::Bytes;
use moq_net::{Error, StreamError, group, kio};
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::server::fanout::streams::{Closed, OLD, OpeningStream, Signal, Unfinished};
use crate::server::fanout::watcher::{Counts, Watcher};
use crate::server::fanout::wire::{self, Piece};

/// What was read of a group.
pub(crate) struct Log {
    pub sequence: u64,
    /// Reads the group from its beginning, while it is cached.
    pub cached: group::Consumer,
    /// The number of whole frames.
    pub frames: u64,
    /// The timestamp of the last of them, in the timescale of the track; 0 if there is none.
    pub time: u64,
    /// The last of them, if it is small.
    pub last: Option<Piece>,
    /// The pieces of the frame after them, and their size in bytes.
    pub begun: Vec<Piece>,
    pub begun_bytes: usize,
    /// How the group ended, with the code of an error.
    pub ended: Option<Result<(), u32>>,
}

impl Log {
    /// The place after all that was read.
    fn place(&self) -> Place {
        Place { frame: self.frames, offset: self.begun_bytes, time: self.time }
    }
}

/// A place in the stream of a group.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The number of whole frames before it, and of bytes of the next.
    frame: u64,
    offset: usize,
    /// The timestamp of the last whole frame.
    time: u64,
}

/// A group on its way to a watcher.
pub(crate) struct Delivery {
    /// The key of the watcher.
    pub watcher: u64,
    pub max_age: Duration,
    counts: Arc<Counts>,
    order: u8,
    state: State,
}

enum State {
    /// Waits until the watcher allows another stream. The last is the header of the group.
    Opening(OpeningStream, Arc<Signal>, Bytes),
    Behind(Box<Behind>),
    Live(Unfinished),
    /// All is written. The watcher may not have received it.
    Finished(Unfinished),
    /// Nothing more is to be done.
    Over,
}

struct Behind {
    stream: Unfinished,
    signal: Arc<Signal>,
    /// What is to be written next, and the place after it.
    rest: [Bytes; 3],
    place: Place,
    cached: Option<group::Consumer>,
}

/// Returns the code with which MoQ's library would reset a stream.
pub(crate) fn code(error: &Error) -> u32 {
    StreamError::from(error).to_code()
}

impl Delivery {
    /// Begins to open a stream for a group. `waker`: of the reader.
    pub fn begin(watcher: &Watcher, group: u64, newest: bool, waker: &Waker) -> Self {
        let session = &watcher.session;
        let header = wire::group(session.version, watcher.id, group);
        Self {
            watcher: watcher.key,
            max_age: watcher.max_age,
            counts: session.counts.clone(),
            order: watcher.rank.order(newest),
            state: State::Opening(session.connection.open(), Signal::new(waker), header),
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Reports whether it cannot continue by itself.
    pub fn is_settled(&self) -> bool {
        matches!(self.state, State::Live(_) | State::Finished(_) | State::Over)
    }

    /// Reports whether all is written.
    pub fn is_written(&self) -> bool {
        matches!(self.state, State::Finished(_) | State::Over)
    }

    /// Reports whether it waits for room on a stream that does not wake the reader.
    pub fn has_to_try(&self) -> bool {
        matches!(&self.state, State::Behind(behind) if !behind.stream.wakes())
    }

    /// Returns the stream of a delivery whose bytes are all written.
    pub fn into_unreceived(self) -> Option<Unfinished> {
        match self.state {
            State::Finished(stream) => Some(stream),
            _ => None,
        }
    }

    /// Changes which streams of the connection are sent first.
    pub fn set_order(&mut self, order: u8) {
        if mem::replace(&mut self.order, order) == order {
            return;
        }
        match &mut self.state {
            State::Behind(behind) => behind.stream.set_order(order),
            State::Live(stream) | State::Finished(stream) => stream.set_order(order),
            State::Opening(..) | State::Over => {}
        }
    }

    /// Writes a piece that was just read and is in the log. Reports whether the delivery is live after it.
    pub fn offer(&mut self, piece: &Piece, log: &Log, waker: &Waker) -> bool {
        let State::Live(stream) = &mut self.state else {
            self.advance(log);
            return matches!(self.state, State::Live(_) | State::Finished(_));
        };
        self.counts.add(0, piece.payload);
        let [first, second] = piece.bytes.clone();
        let mut rest = [first, second, Bytes::new()];
        match stream.poll_write(&mut Context::from_waker(waker), &mut rest) {
            Poll::Ready(Ok(())) => return true,
            Poll::Ready(Err(Closed)) => self.state = State::Over,
            Poll::Pending => {
                let State::Live(stream) = mem::replace(&mut self.state, State::Over) else { return false };
                let (signal, place) = (Signal::new(waker), log.place());
                self.state = State::Behind(Box::new(Behind { stream, signal, rest, place, cached: None }));
                self.advance(log);
            }
        }
        false
    }

    /// Continues a delivery that was waiting, and ends one whose group has ended.
    pub fn advance(&mut self, log: &Log) {
        let mut continues = true;
        while continues {
            (self.state, continues) = match mem::replace(&mut self.state, State::Over) {
                State::Opening(stream, signal, header) => self.open(stream, signal, header),
                State::Behind(behind) => self.catch_up(behind, log),
                State::Live(mut stream) => match log.ended {
                    None => (State::Live(stream), false),
                    Some(Ok(())) => {
                        stream.finish();
                        (State::Finished(stream), false)
                    }
                    Some(Err(code)) => {
                        stream.reset(code);
                        (State::Over, false)
                    }
                },
                over @ (State::Finished(_) | State::Over) => (over, false),
            };
        }
    }

    /// Returns the next state of a delivery whose stream opens, and whether it continues.
    fn open(&self, mut opening: OpeningStream, signal: Arc<Signal>, header: Bytes) -> (State, bool) {
        if !signal.take() {
            return (State::Opening(opening, signal, header), false);
        }
        let waker = Waker::from(signal.clone());
        match opening.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => (State::Opening(opening, signal, header), false),
            Poll::Ready(None) => (State::Over, false),
            Poll::Ready(Some(mut stream)) => {
                stream.set_order(self.order);
                signal.set();
                let (rest, place) = ([header, Bytes::new(), Bytes::new()], Place::default());
                (State::Behind(Box::new(Behind { stream, signal, rest, place, cached: None })), true)
            }
        }
    }

    /// Returns the next state of a delivery that is behind, and whether it continues.
    fn catch_up(&self, mut behind: Box<Behind>, log: &Log) -> (State, bool) {
        if !behind.signal.take() && behind.stream.wakes() {
            return (State::Behind(behind), false);
        }
        match behind.poll(log, &self.counts) {
            Poll::Pending => (State::Behind(behind), false),
            Poll::Ready(Ok(())) => (State::Live(behind.stream), true),
            Poll::Ready(Err(code)) => {
                if let Some(code) = code {
                    behind.stream.reset(code);
                }
                (State::Over, false)
            }
        }
    }

    /// Ends a delivery whose group is too old for the watcher by `late`. If the watcher has whole frames and all of them so far, the stream ends after
    /// them.
    pub fn expire(&mut self, late: Duration, log: &Log) {
        /// How long a written group may take to the watcher before it is reset: it is on its way, and a reset would take away its last frames.
        const FINISHED_TIME: Duration = Duration::from_millis(500);
        self.state = match mem::replace(&mut self.state, State::Over) {
            State::Opening(..) | State::Over => State::Over,
            State::Behind(mut behind) => {
                behind.stream.reset(OLD);
                State::Over
            }
            State::Live(mut stream) if log.begun_bytes == 0 => {
                stream.finish();
                State::Finished(stream)
            }
            State::Finished(stream) if late < FINISHED_TIME => State::Finished(stream),
            State::Live(mut stream) | State::Finished(mut stream) => {
                stream.reset(OLD);
                State::Over
            }
        };
    }
}

impl Behind {
    /// Writes until the stream has all that was read of the group.
    ///
    /// # Errors
    /// The code with which to reset the stream; `None` if it is closed.
    fn poll(&mut self, log: &Log, counts: &Counts) -> Poll<Result<(), Option<u32>>> {
        let waker = Waker::from(self.signal.clone());
        let mut context = Context::from_waker(&waker);
        loop {
            if self.rest[1..].iter().all(Bytes::is_empty)
                && let Some(piece) = self.next(log).map_err(Some)?
            {
                counts.add(0, piece.payload);
                let [first, second] = piece.bytes;
                (self.rest[1], self.rest[2]) = (first, second);
            } else if self.rest.iter().all(Bytes::is_empty) {
                return Poll::Ready(Ok(()));
            }
            match self.stream.poll_write(&mut context, &mut self.rest) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(Closed)) => return Poll::Ready(Err(None)),
            }
        }
    }

    /// Returns the piece at the place, and moves the place after it; `None` if there is none yet.
    fn next(&mut self, log: &Log) -> Result<Option<Piece>, u32> {
        let Place { frame, offset, time } = self.place;
        if frame < log.frames {
            let (whole, time) = match &log.last {
                Some(last) if frame + 1 == log.frames => (last.clone(), log.time),
                _ => self.read(log, time)?,
            };
            self.place = Place { frame: frame + 1, offset: 0, time };
            return Ok(Some(whole.after(offset)));
        }
        let mut begin = 0;
        for piece in &log.begun {
            let end = begin + piece.len();
            if offset < end {
                self.place.offset = end;
                return Ok(Some(piece.clone().after(offset - begin)));
            }
            begin = end;
        }
        Ok(None)
    }

    /// Reads the frame at the place from the cache. Returns it and its timestamp.
    fn read(&mut self, log: &Log, previous: u64) -> Result<(Piece, u64), u32> {
        let cached = self.cached.get_or_insert_with(|| log.cached.clone());
        if cached.index() != self.place.frame {
            cached.skip_to(self.place.frame);
        }
        match cached.poll_read_frame(&kio::Waiter::noop()) {
            Poll::Ready(Ok(Some(frame))) => {
                let time = frame.timestamp.value();
                Ok((Piece::frame_for_one(time, previous, frame.payload), time))
            }
            Poll::Ready(Err(error)) => Err(code(&error)),
            // Frames that were read do not become unread, so the group was removed.
            Poll::Ready(Ok(None)) | Poll::Pending => Err(code(&Error::Evicted)),
        }
    }
}
