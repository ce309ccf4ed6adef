//! The outgoing side of a socket. A publisher writes to the socket directly while it accepts everything. The rest waits in the queue of the
//! reader, and the reader's task sends it. Publishers and readers therefore never wait for each other. Rules STR-40 to STR-42.
use super::queue::{Backlog, Bounds, Frame, Queue, Tally};
use bytes::Bytes;
use parking_lot::Mutex;
use parley_net::codes::Code;
use parley_net::ws::{Batch, close};
use std::io::{ErrorKind, IoSlice, Result};
use std::sync::Arc;
use std::task::{Context, Waker};

/// A socket that is written without waiting: `WouldBlock` when it accepts no more bytes now. Dropping it ends the stream.
pub trait Outlet: Send {
    /// Writes as much of `bytes` as the socket accepts.
    fn write(&self, bytes: &[u8]) -> Result<usize>;
    /// Writes as much of `slices` as the socket accepts.
    fn write_vectored(&self, slices: &[IoSlice<'_>]) -> Result<usize>;
    /// Sends the bytes that were accepted but not sent yet, if the outlet buffers any.
    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

/// The slices in one write: a kilobyte on the stack, and enough to fill the buffer of a socket.
const MAX_SLICES: usize = 64;

/// The outgoing side of a socket.
pub struct Reader {
    /// An id that is unique on the pod.
    pub id: u64,
    bounds: Bounds,
    backlog: Arc<Backlog>,
    state: Mutex<State>,
}

struct State {
    /// `None` once the stream ended.
    outlet: Option<Box<dyn Outlet>>,
    queue: Queue,
    /// The waker of the reader's task.
    waker: Option<Waker>,
    closing: Option<Reason>,
    /// When the socket last accepted bytes while messages waited, in milliseconds of the pod's clock.
    progress: u64,
    delivered: Tally,
    dropped: Tally,
}

/// The reason for which the stream of a reader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The peer closed, or vanished.
    Peer,
    /// The relay closed it, with this code.
    Code(Code),
}

/// The result of one delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Messages that were written to the socket at once.
    pub written: usize,
    /// Messages that were dropped from the queue.
    pub dropped: u64,
}

/// What the reader's task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the queue is empty.
    Idle,
    /// Wait until the socket is writable.
    Blocked,
    /// End: the stream ended.
    Ended(Reason),
}

/// The counts of a reader, for statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages written to the socket.
    pub delivered: Tally,
    /// Messages dropped because the reader was too slow.
    pub dropped: Tally,
    /// Messages that wait.
    pub queued: usize,
    /// Their bytes.
    pub queued_bytes: usize,
}

impl Reader {
    /// A reader that writes to `outlet`.
    pub fn new(id: u64, outlet: Box<dyn Outlet>, bounds: Bounds, backlog: Arc<Backlog>) -> Self {
        let state = State {
            outlet: Some(outlet),
            queue: Queue::default(),
            waker: None,
            closing: None,
            progress: 0,
            delivered: Tally::default(),
            dropped: Tally::default(),
        };
        Self { id, bounds, backlog, state: Mutex::new(state) }
    }

    /// Writes or queues a batch; never waits. `now`: milliseconds of the pod's clock.
    pub fn deliver(&self, batch: &Batch, now: u64) -> Delivery {
        let mut state = self.state.lock();
        let state = &mut *state;
        if state.closing.is_some() {
            return Delivery::default();
        }
        let mut sent = 0;
        if state.queue.is_empty() {
            let Some(outlet) = &state.outlet else { return Delivery::default() };
            match outlet.write(batch.bytes()) {
                Ok(all) if all == batch.bytes().len() => {
                    state.delivered.add(batch.count(), batch.payload());
                    return Delivery { written: batch.count(), dropped: 0 };
                }
                Ok(part) => sent = part,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => {
                    state.end(Reason::Peer, &self.backlog);
                    return Delivery::default();
                }
            }
            state.progress = now;
        }
        let wakes = state.queue.is_empty();
        let before = state.queue.messages();
        let dropped = state.queue.push(batch, sent, self.bounds, &self.backlog);
        // The messages of the batch that the write completed.
        let waiting = state.queue.messages() + parley_net::size(dropped.messages) - before;
        let written = batch.count() - waiting;
        if written > 0 {
            state.delivered.add(written, batch.payload() * written / batch.count());
        }
        state.dropped.add(parley_net::size(dropped.messages), parley_net::size(dropped.bytes));
        if wakes {
            state.wake();
        }
        Delivery { written, dropped: dropped.messages }
    }

    /// Sends the answer to the upgrade, a ping or a pong before the messages that wait.
    pub fn control(&self, frame: Frame, bytes: Bytes, now: u64) {
        let mut state = self.state.lock();
        if state.closing.is_some() {
            return;
        }
        if state.queue.is_empty() {
            state.progress = now;
        }
        state.queue.push_control(frame, bytes);
        state.wake();
    }

    /// Ends the stream with a code after the messages that wait.
    pub fn close(&self, code: Code) {
        self.finish(Reason::Code(code), close::of_code(code), false);
    }

    /// Ends the stream with a code, and discards the messages that wait.
    pub fn close_now(&self, code: Code) {
        self.finish(Reason::Code(code), close::of_code(code), true);
    }

    /// Answers the peer's close frame, and discards the messages that wait.
    pub fn answer_close(&self, code: Option<u16>) {
        self.finish(Reason::Peer, close::answer(code), true);
    }

    /// Whether the stream is ending; the reader accepts no more messages.
    pub fn is_closing(&self) -> bool {
        self.state.lock().closing.is_some()
    }

    /// Ends the stream at once, without a close frame. Returns the reason for which it was ending already, if it was.
    pub fn abort(&self) -> Option<Reason> {
        let mut state = self.state.lock();
        let reason = state.closing;
        state.end(reason.unwrap_or(Reason::Peer), &self.backlog);
        reason
    }

    /// Sends what waits, as far as the socket accepts it. Only the reader's task calls this; the task is woken when there is more
    /// to do. Also returns the messages that were completed.
    pub fn flush(&self, cx: &Context<'_>, now: u64) -> (Next, Tally) {
        let mut state = self.state.lock();
        let state = &mut *state;
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        let mut total = Tally::default();
        loop {
            let Some(outlet) = &state.outlet else {
                return (Next::Ended(state.closing.unwrap_or(Reason::Peer)), total);
            };
            if state.queue.is_empty() {
                return (Next::Idle, total);
            }
            let mut slices = [IoSlice::new(&[]); MAX_SLICES];
            let count = state.queue.slices(&mut slices);
            match outlet.write_vectored(&slices[..count]) {
                Ok(written) => {
                    state.progress = now;
                    let (completed, closed) = state.queue.advance(written, &self.backlog);
                    total.messages += completed.messages;
                    total.bytes += completed.bytes;
                    state.delivered.messages += completed.messages;
                    state.delivered.bytes += completed.bytes;
                    if closed {
                        state.outlet = None;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return (Next::Blocked, total),
                Err(_) => state.end(Reason::Peer, &self.backlog),
            }
        }
    }

    /// Drops messages over an equal share while all queues together exceed the limit. The sweep calls this for every reader, as a reader
    /// that gets no new messages would otherwise keep its queue. Returns how many messages were dropped.
    pub fn trim(&self) -> u64 {
        if !self.backlog.is_over() {
            return 0;
        }
        let mut state = self.state.lock();
        let dropped = state.queue.trim(self.bounds, &self.backlog);
        state.dropped.messages += dropped.messages;
        state.dropped.bytes += dropped.bytes;
        dropped.messages
    }

    /// The partly sent message, and when the socket last accepted bytes.
    pub fn begun(&self) -> Option<(Bytes, u64)> {
        let state = self.state.lock();
        state.queue.begun().map(|message| (message.clone(), state.progress))
    }

    /// Ends the stream at once, without a close frame, within a partly sent message.
    pub fn abort_with(&self, code: Code) {
        let mut state = self.state.lock();
        if state.outlet.is_some() {
            state.end(Reason::Code(code), &self.backlog);
        }
    }

    /// Whether messages have waited since before `since` and the socket accepted no byte. Messages behind the answer to the upgrade do not count:
    /// they wait for the relay.
    pub fn is_stalled(&self, since: u64) -> bool {
        let state = self.state.lock();
        let waits = state.queue.messages() > 0 && !state.queue.is_unanswered();
        state.closing.is_none() && waits && state.progress < since
    }

    /// The current counts.
    pub fn counts(&self) -> Counts {
        let state = self.state.lock();
        let (queued, queued_bytes) = (state.queue.messages(), state.queue.bytes());
        Counts { delivered: state.delivered, dropped: state.dropped, queued, queued_bytes }
    }

    /// Only the first call takes effect: its frame may wait already, and a later call must not remove it.
    fn finish(&self, reason: Reason, frame: Bytes, discards: bool) {
        let mut state = self.state.lock();
        if state.closing.is_some() {
            return;
        }
        state.closing = Some(reason);
        if discards {
            state.queue.purge(&self.backlog);
        }
        state.queue.push_control(Frame::Close, frame);
        state.wake();
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    fn end(&mut self, reason: Reason, backlog: &Backlog) {
        self.closing = Some(reason);
        self.outlet = None;
        self.queue.clear(backlog);
        self.wake();
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.state.get_mut().queue.clear(&self.backlog);
    }
}
