//! The outgoing side of a link. A publisher writes to the link directly while the socket accepts everything; the rest waits in the queue of the
//! subscription, and the task of the link sends one batch of each queue in turn. A frozen peer therefore costs bounded memory and delays no
//! publisher. Rule STR-95.
pub use super::fair_queue::Bounds;

use super::counts::Counts;
use super::fair_queue::{FairQueue, Queued};
use super::frames::{self, ANSWER, Header, Passage};
use bytes::Bytes;
use parking_lot::Mutex;
use parley_net::ws::Batch;
use parley_streams::reader::Outlet;
use parley_streams::{Hop, RemoteSubscriber, Stamp};
use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice, Result};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The frames in one write: their slices take a kilobyte on the stack, and they fill the buffer of a socket.
const MAX_FRAMES: usize = 32;
/// The bytes that are staged at once. A staged batch is no longer dropped.
const MAX_STAGED: usize = 256 * 1024;

/// The outgoing side of one link.
pub struct Outgoing {
    bounds: Bounds,
    counts: Arc<Counts>,
    state: Mutex<State>,
}

struct State {
    /// `None` once the link ended.
    outlet: Option<Box<dyn Outlet>>,
    /// The frames to write next, in order; the first may be partly written.
    staged: VecDeque<Staged>,
    /// The bytes of the first staged frame that were written.
    sent: usize,
    queues: FairQueue,
    /// The stamp of the newest ping that is not answered yet.
    pong: Option<u64>,
    /// The number of the newest subscription that is not acknowledged yet.
    acknowledgement: Option<u64>,
    /// Half of the round trip of the link.
    one_way: Duration,
    waker: Option<Waker>,
    finishing: bool,
}

struct Staged {
    header: Header,
    body: Bytes,
    messages: usize,
    taken: Instant,
}

/// What the task of a link does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait until the socket is writable.
    Blocked,
    /// End: the link ended. After `finish`, everything was sent.
    Ended,
}

/// A subscription of the peer, which receives the batches of one topic.
pub struct Subscription {
    link: Arc<Outgoing>,
    number: u64,
    hop: Option<Hop>,
}

impl Subscription {
    /// The subscription with this number, by hop or not.
    pub fn new(link: &Arc<Outgoing>, number: u64, hop: Option<Hop>) -> Self {
        Self { link: Arc::clone(link), number, hop }
    }
}

impl RemoteSubscriber for Subscription {
    fn hop(&self) -> Hop {
        self.hop.unwrap_or(Hop::Region)
    }

    fn has_stamps(&self) -> bool {
        self.hop.is_some()
    }

    fn send(&self, batch: &Batch, stamp: Stamp, taken: Instant) {
        let passage = self.hop.map(|hop| Passage { hop, stamp });
        self.link.send(self.number, Queued { batch: batch.clone(), passage, taken });
    }
}

impl Outgoing {
    /// A link that writes to `outlet`.
    pub fn new(outlet: Box<dyn Outlet>, bounds: Bounds, counts: Arc<Counts>) -> Self {
        let state = State {
            outlet: Some(outlet),
            staged: VecDeque::new(),
            sent: 0,
            queues: FairQueue::default(),
            pong: None,
            acknowledgement: None,
            one_way: Duration::ZERO,
            waker: None,
            finishing: false,
        };
        Self { bounds, counts, state: Mutex::new(state) }
    }

    /// Begins to accept batches for a subscription.
    pub fn open(&self, number: u64) {
        self.state.lock().queues.open(number);
    }

    /// Stops accepting batches for a subscription, and removes those that wait.
    pub fn close(&self, number: u64) {
        self.state.lock().queues.close(number, &self.counts);
    }

    /// Writes or queues a batch; never waits.
    fn send(&self, number: u64, queued: Queued) {
        let mut state = self.state.lock();
        let state = &mut *state;
        if state.finishing || !state.queues.is_open(number) {
            return;
        }
        let idle = state.is_idle();
        if idle {
            state.stage(number, queued);
            match state.write(&self.counts) {
                Ok(_) if state.is_idle() && state.is_sent() => return,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => state.end(&self.counts),
            }
        } else {
            state.queues.push(number, queued, self.bounds, &self.counts);
        }
        if idle {
            state.wake();
        }
    }

    /// Answers a ping before everything that waits, and records the round trip of the link.
    pub fn pong(&self, stamp: u64, round_trip: Duration) {
        let mut state = self.state.lock();
        state.pong = Some(stamp);
        state.one_way = round_trip / 2;
        state.wake();
    }

    /// Acknowledges, before everything that waits, the subscription with this number and every one before it.
    pub fn acknowledge(&self, number: u64) {
        let mut state = self.state.lock();
        state.acknowledgement = Some(number);
        state.wake();
    }

    /// Accepts nothing more, sends what waits, then ends.
    pub fn finish(&self) {
        let mut state = self.state.lock();
        state.finishing = true;
        state.wake();
    }

    /// Ends at once; what waits is dropped.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.end(&self.counts);
        state.wake();
    }

    /// Sends what waits, as far as the socket accepts it. Only the task of the link calls this; the task is woken when there is more to
    /// do. Pending while nothing waits.
    pub fn flush(&self, cx: &Context<'_>) -> Poll<Next> {
        let mut state = self.state.lock();
        let state = &mut *state;
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        loop {
            state.refill(&self.counts);
            let Some(outlet) = &state.outlet else { return Poll::Ready(Next::Ended) };
            let is_idle = state.is_idle();
            let written = if is_idle { outlet.flush() } else { state.write(&self.counts).map(|_| ()) };
            match written {
                Ok(()) if is_idle && state.finishing => state.end(&self.counts),
                Ok(()) if is_idle => return Poll::Pending,
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Ready(Next::Blocked),
                Err(_) => state.end(&self.counts),
            }
        }
    }
}

impl Staged {
    fn size(&self) -> usize {
        self.header.as_bytes().len() + self.body.len()
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.staged.is_empty() && self.queues.is_empty() && self.pong.is_none() && self.acknowledgement.is_none()
    }

    /// Whether the socket accepted everything that was written to the outlet.
    fn is_sent(&self) -> bool {
        self.outlet.as_ref().is_none_or(|outlet| outlet.flush().is_ok())
    }

    fn stage(&mut self, number: u64, Queued { batch, passage, taken }: Queued) {
        let header = Header::of(number, &batch, passage);
        let (body, messages) = (batch.bytes().clone(), batch.count());
        self.staged.push_back(Staged { header, body, messages, taken });
    }

    /// Stages an answer before all batches, but after a partly written frame and after earlier answers: the numbers of acknowledgements only grow.
    fn stage_first(&mut self, answer: [u8; ANSWER]) {
        let header = Header::answer(answer);
        let frame = Staged { header, body: Bytes::new(), messages: 0, taken: Instant::now() };
        let begun = usize::from(self.sent > 0);
        let answers = self.staged.iter().skip(begun).take_while(|frame| frame.messages == 0).count();
        self.staged.insert(begun + answers, frame);
    }

    /// Stages answers, then one batch of each queue in turn while a write has room.
    fn refill(&mut self, counts: &Counts) {
        if self.staged.len() < MAX_FRAMES {
            let pong = self.pong.take().map(frames::pong);
            let acknowledgement = self.acknowledgement.take().map(frames::acknowledgement);
            for answer in pong.into_iter().chain(acknowledgement) {
                self.stage_first(answer);
            }
        }
        let mut staged: usize = self.staged.iter().map(Staged::size).sum();
        while staged < MAX_STAGED && self.staged.len() < MAX_FRAMES {
            let Some((number, queued)) = self.queues.pop(counts) else { return };
            staged += queued.batch.bytes().len();
            self.stage(number, queued);
        }
    }

    fn write(&mut self, counts: &Counts) -> Result<usize> {
        let Some(outlet) = &self.outlet else { return Ok(0) };
        let mut slices = [IoSlice::new(&[]); 2 * MAX_FRAMES];
        let mut count = 0;
        let mut skip = self.sent;
        for frame in self.staged.iter().take(MAX_FRAMES) {
            for part in [frame.header.as_bytes(), &frame.body[..]] {
                let skipped = skip.min(part.len());
                skip -= skipped;
                if skipped < part.len() {
                    slices[count] = IoSlice::new(&part[skipped..]);
                    count += 1;
                }
            }
        }
        let written = outlet.write_vectored(&slices[..count])?;
        self.sent += written;
        while let Some(front) = self.staged.front()
            && self.sent >= front.size()
        {
            self.sent -= front.size();
            if front.messages > 0 {
                counts.sent.add(front.messages as u64);
                counts.sent_bytes.add(front.size() as u64);
                counts.hop.observe(front.taken.elapsed() + self.one_way, front.messages as u64);
            }
            self.staged.pop_front();
        }
        Ok(written)
    }

    fn end(&mut self, counts: &Counts) {
        self.finishing = true;
        self.outlet = None;
        self.queues.drop_all(counts);
        let staged: usize = self.staged.iter().map(|frame| frame.messages).sum();
        counts.dropped.add(staged as u64);
        self.staged.clear();
        (self.sent, self.pong, self.acknowledgement) = (0, None, None);
    }

    fn wake(&mut self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.state.get_mut().end(&self.counts);
    }
}
