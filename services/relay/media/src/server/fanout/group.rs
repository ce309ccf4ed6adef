//! A group of a track: what was read of it, and its deliveries.
use moq_net::bytes::Bytes;
use moq_net::{Timestamp, frame, group, kio};
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::server::fanout::delivery::{Delivery, Log, code};
use crate::server::fanout::streams::Unfinished;
use crate::server::fanout::watcher::Watcher;
use crate::server::fanout::wire::Piece;

/// How much is read of a group before the reader looks at others, in pieces.
pub(crate) const TURN: usize = 256;
/// Frames up to this size are kept for deliveries that are just behind, in bytes.
const MAX_KEPT: usize = 64 << 10;

/// A group that is being read, or that watchers who come late may still want.
pub(crate) struct Group {
    log: Log,
    reading: group::Consumer,
    /// The frame that is not yet whole, with its timestamp.
    frame: Option<(frame::Consumer, Timestamp)>,
    /// The header of that frame is not yet in the log.
    headed: bool,
    /// The timestamps of its first and its latest frame.
    start: Option<Timestamp>,
    latest: Option<Timestamp>,
    /// The size of the latest whole frame, in bytes.
    frame_size: Option<usize>,
    deliveries: Vec<Delivery>,
    /// Whether no delivery can continue before more of the group is read.
    settled: bool,
}

impl Group {
    /// Returns a group of which nothing was read; `None` if its beginning is missing.
    pub fn new(reading: group::Consumer) -> Option<Self> {
        let log = Log {
            sequence: reading.sequence,
            cached: reading.clone(),
            frames: 0,
            time: 0,
            last: None,
            begun: Vec::new(),
            begun_bytes: 0,
            ended: None,
        };
        let whole = reading.index() == 0;
        let (frame, start, latest, frame_size) = (None, None, None, None);
        let (deliveries, settled) = (Vec::new(), true);
        whole.then_some(Self { log, reading, frame, headed: false, start, latest, frame_size, deliveries, settled })
    }

    /// Returns the timestamps of its first and its latest frame.
    pub fn times(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.start, self.latest)
    }

    pub fn sequence(&self) -> u64 {
        self.log.sequence
    }

    pub fn is_ended(&self) -> bool {
        self.log.ended.is_some()
    }

    /// Reports whether it ended with an error, so that it cannot be read from its beginning.
    pub fn has_failed(&self) -> bool {
        matches!(self.log.ended, Some(Err(_)))
    }

    /// Reports whether nothing is left to send.
    pub fn is_idle(&self) -> bool {
        self.deliveries.is_empty()
    }

    /// Begins to send the group to a watcher.
    pub fn deliver(&mut self, watcher: &mut Watcher, newest: bool, waker: &Waker) {
        watcher.receives(self.log.sequence);
        self.settled = false;
        self.deliveries.push(Delivery::begin(watcher, self.log.sequence, newest, waker));
    }

    /// Reads what there is of the group, at most `TURN` pieces, and writes it to all watchers. Returns the number of pieces.
    pub fn drive(&mut self, waiter: &kio::Waiter) -> usize {
        let mut pieces = 0;
        while pieces < TURN
            && !self.is_ended()
            && let Some(piece) = self.read(waiter)
        {
            pieces += 1;
            for delivery in &mut self.deliveries {
                self.settled &= delivery.offer(&piece, &self.log, waiter.waker());
            }
        }
        self.advance();
        pieces
    }

    /// Returns the size of the latest whole frame, in bytes.
    pub fn frame_size(&self) -> Option<usize> {
        self.frame_size
    }

    /// Returns the number of watchers to which it is being sent.
    pub fn watchers(&self) -> usize {
        self.deliveries.len()
    }

    /// Continues the deliveries that were waiting.
    pub fn advance(&mut self) {
        if self.settled {
            return;
        }
        for delivery in &mut self.deliveries {
            delivery.advance(&self.log);
        }
        self.deliveries.retain(|delivery| !delivery.is_over());
        self.settled = self.deliveries.iter().all(Delivery::is_settled);
    }

    /// Reads the next piece into the log. `None` if there is none yet, or the group has ended.
    fn read(&mut self, waiter: &kio::Waiter) -> Option<Piece> {
        loop {
            if let Some((frame, time)) = &mut self.frame {
                let (size, time) = (frame.size, *time);
                match frame.poll_read_chunk(waiter) {
                    Poll::Pending => return None,
                    Poll::Ready(Ok(Some(chunk))) if chunk.is_empty() => {}
                    Poll::Ready(Ok(Some(chunk))) => {
                        let headed = std::mem::replace(&mut self.headed, true);
                        let first = || Piece::first(time.value(), self.log.time, size, chunk.clone());
                        let piece = if headed { Piece::more(chunk.clone()) } else { first() };
                        self.log.begun_bytes += piece.len();
                        self.log.begun.push(piece.clone());
                        return Some(piece);
                    }
                    Poll::Ready(Ok(None)) if !self.headed => {
                        let piece = Piece::first(time.value(), self.log.time, size, Bytes::new());
                        self.complete(time, piece.len(), Some(&piece));
                        return Some(piece);
                    }
                    Poll::Ready(Ok(None)) => self.complete(time, self.log.begun_bytes, None),
                    Poll::Ready(Err(error)) => return self.end(Err(code(&error))),
                }
                continue;
            }
            match self.reading.poll_read_frame(waiter) {
                Poll::Ready(Ok(Some(frame))) => {
                    let piece = Piece::frame(frame.timestamp.value(), self.log.time, frame.payload);
                    let size = piece.len();
                    self.complete(frame.timestamp, size, Some(&piece).filter(|_| size <= MAX_KEPT));
                    return Some(piece);
                }
                Poll::Ready(Ok(None)) => return self.end(Ok(())),
                Poll::Ready(Err(error)) => return self.end(Err(code(&error))),
                Poll::Pending => {}
            }
            match self.reading.poll_next_frame(waiter) {
                Poll::Ready(Ok(Some(frame))) => {
                    let time = frame.timestamp;
                    self.note(time);
                    (self.frame, self.headed) = (Some((frame, time)), false);
                }
                Poll::Ready(Ok(None)) => return self.end(Ok(())),
                Poll::Ready(Err(error)) => return self.end(Err(code(&error))),
                Poll::Pending => return None,
            }
        }
    }

    fn note(&mut self, time: Timestamp) {
        self.start.get_or_insert(time);
        self.latest = self.latest.max(Some(time));
    }

    fn complete(&mut self, time: Timestamp, size: usize, piece: Option<&Piece>) {
        self.note(time);
        self.frame_size = Some(size);
        self.frame = None;
        self.log.frames += 1;
        self.log.time = time.value();
        self.log.last = piece.cloned();
        self.log.begun.clear();
        self.log.begun_bytes = 0;
    }

    fn end(&mut self, ended: Result<(), u32>) -> Option<Piece> {
        self.log.ended = Some(ended);
        self.settled = false;
        self.frame = None;
        None
    }

    /// Ends the deliveries to watchers for which the group is too old, at this age of the group.
    pub fn expire(&mut self, age: Duration) {
        for delivery in &mut self.deliveries {
            if let Some(late) = age.checked_sub(delivery.max_age) {
                delivery.expire(late, &self.log);
            }
        }
        self.deliveries.retain(|delivery| !delivery.is_over());
    }

    /// Ends all deliveries, after whole frames where that is possible.
    pub fn withhold(mut self) {
        for delivery in &mut self.deliveries {
            delivery.expire(Duration::ZERO, &self.log);
        }
    }

    /// Applies a changed wish to the delivery to this watcher.
    pub fn update(&mut self, watcher: &Watcher, newest: bool) {
        for delivery in self.deliveries.iter_mut().filter(|delivery| delivery.watcher == watcher.key) {
            delivery.max_age = watcher.max_age;
            delivery.set_order(watcher.rank.order(newest));
        }
    }

    /// Sends the group after newer ones from now on, and keeps no frame of it.
    pub fn is_no_longer_newest(&mut self, rank: impl Fn(u64) -> Option<u8>) {
        self.log.last = None;
        for delivery in &mut self.deliveries {
            if let Some(order) = rank(delivery.watcher) {
                delivery.set_order(order);
            }
        }
    }

    /// Ends the delivery to a watcher that leaves.
    pub fn leave(&mut self, watcher: u64) {
        self.deliveries.retain(|delivery| delivery.watcher != watcher);
    }

    /// Reports whether a watcher still has to get parts of the group.
    pub fn owes(&self, watcher: u64) -> bool {
        self.deliveries.iter().any(|delivery| delivery.watcher == watcher && !delivery.is_written())
    }

    /// Returns the stream of a watcher that it may not have received yet.
    pub fn take_unreceived(&mut self, watcher: u64) -> Option<Unfinished> {
        let at = self.deliveries.iter().position(|delivery| delivery.watcher == watcher)?;
        self.deliveries.swap_remove(at).into_unreceived()
    }

    /// Reports whether a delivery waits for room on a stream that does not wake the reader.
    pub fn has_to_try(&self) -> bool {
        self.deliveries.iter().any(Delivery::has_to_try)
    }
}
