//! One socket's outgoing side. Whoever publishes writes to the socket directly while it takes everything; what it does not
//! take waits in the reader's own queue, and the reader's own task sends it. So nobody waits for anybody. Rules STR-40 to STR-42.
use super::queue::{Backlog, Bounds, Frame, Queue, Tally};
use bytes::Bytes;
use parking_lot::Mutex;
use parley_net::codes::Code;
use parley_net::ws::{Batch, close};
use std::io::{ErrorKind, IoSlice, Result};
use std::sync::Arc;
use std::task::{Context, Waker};

/// A socket that is written without waiting: `WouldBlock` when it takes no more now. Dropping it ends the stream.
pub trait Outlet: Send {
    /// Writes what it can of `bytes`.
    fn write(&self, bytes: &[u8]) -> Result<usize>;
    /// Writes what it can of several pieces.
    fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> Result<usize>;
    /// Sends what it took and has not sent yet, where it keeps anything.
    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

/// How many pieces one write takes: half a kilobyte on the stack, and enough to fill a socket's buffer.
const PIECES: usize = 64;

/// One socket's outgoing side.
pub struct Reader {
    /// Unique on the pod.
    pub id: u64,
    bounds: Bounds,
    backlog: Arc<Backlog>,
    state: Mutex<State>,
}

struct State {
    /// `None` once the stream was ended.
    outlet: Option<Box<dyn Outlet>>,
    queue: Queue,
    /// The reader's own task, where it waits for something to do.
    waker: Option<Waker>,
    closing: Option<Reason>,
    /// When the socket last took something while others waited; milliseconds of the pod's clock.
    progress: u64,
    delivered: Tally,
    dropped: Tally,
}

/// Why a reader's stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The peer closed, or vanished.
    Peer,
    /// The relay closed, with this code.
    Code(Code),
}

/// What became of one delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Messages that went straight to the socket.
    pub written: usize,
    /// Messages that were dropped from the queue.
    pub dropped: u64,
}

/// What a reader's own task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing waits.
    Idle,
    /// The socket takes no more: go on when it is writable.
    Blocked,
    /// Everything was sent and the stream was ended.
    Ended(Reason),
}

/// A reader's counts, for statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handed to the socket.
    pub delivered: Tally,
    /// Dropped, as the reader was too slow.
    pub dropped: Tally,
    /// Messages that wait.
    pub queued: usize,
    /// Their bytes.
    pub queued_bytes: usize,
}

impl Reader {
    /// A reader of the socket behind `outlet`.
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

    /// Hands over a batch; never waits. `now`: milliseconds of the pod's clock.
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
                Ok(some) => sent = some,
                Err(why) if why.kind() == ErrorKind::WouldBlock => {}
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
        // Messages of the batch that the first write completed.
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

    /// Sends the answer to the upgrade, a ping, or the answer to one, before the messages that wait.
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

    /// Ends the stream with a code, after the messages that wait.
    pub fn close(&self, code: Code) {
        self.finish(Reason::Code(code), close::of_code(code), false);
    }

    /// Ends the stream with a code; the messages that wait are forgotten.
    pub fn cut(&self, code: Code) {
        self.finish(Reason::Code(code), close::of_code(code), true);
    }

    /// Answers the peer's close frame; the messages that wait are forgotten.
    pub fn answer_close(&self, code: Option<u16>) {
        self.finish(Reason::Peer, close::answer(code), true);
    }

    /// Whether the stream ends: nothing more is taken for this reader.
    pub fn is_closing(&self) -> bool {
        self.state.lock().closing.is_some()
    }

    /// Ends the stream at once, without a word. Answers why it was closing already, if it was.
    pub fn abort(&self) -> Option<Reason> {
        let mut state = self.state.lock();
        let reason = state.closing;
        state.end(reason.unwrap_or(Reason::Peer), &self.backlog);
        reason
    }

    /// Sends what waits, as far as the socket takes it. Only the reader's own task calls this; it is woken when there is more
    /// to do. Answers also what was completed.
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
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let count = state.queue.slices(&mut pieces);
            match outlet.write_vectored(&pieces[..count]) {
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
                Err(why) if why.kind() == ErrorKind::WouldBlock => return (Next::Blocked, total),
                Err(_) => state.end(Reason::Peer, &self.backlog),
            }
        }
    }

    /// Gives back what is more than an equal share, while all queues together hold too much: a reader to whom nothing more is sent
    /// would keep its own. Answers how many messages were dropped.
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

    /// The message that was begun, and when the socket last took something.
    pub fn begun(&self) -> Option<(Bytes, u64)> {
        let state = self.state.lock();
        state.queue.begun().map(|message| (message.clone(), state.progress))
    }

    /// Ends the stream at once, in the middle of a message.
    pub fn break_off(&self, code: Code) {
        let mut state = self.state.lock();
        if state.outlet.is_some() {
            state.end(Reason::Code(code), &self.backlog);
        }
    }

    /// Whether messages have waited since before `since` without one byte being taken. Those behind the answer to the upgrade
    /// wait for us.
    pub fn is_stuck(&self, since: u64) -> bool {
        let state = self.state.lock();
        let waits = state.queue.messages() > 0 && !state.queue.is_unanswered();
        state.closing.is_none() && waits && state.progress < since
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        let state = self.state.lock();
        let (queued, queued_bytes) = (state.queue.messages(), state.queue.bytes());
        Counts { delivered: state.delivered, dropped: state.dropped, queued, queued_bytes }
    }

    /// The first close counts: its frame may wait already, and nothing after it may take it away.
    fn finish(&self, reason: Reason, frame: Bytes, forgets: bool) {
        let mut state = self.state.lock();
        if state.closing.is_some() {
            return;
        }
        state.closing = Some(reason);
        if forgets {
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
