//! A link's outgoing side. Whoever publishes writes to the link directly while it takes everything; what it does not take waits
//! in the topic's own lane, and the link's own task sends one batch of each lane in turn. So no topic takes the turn of
//! another, and a peer that is frozen costs bounded memory and delays nobody. Rule STR-95.
use super::counts::Counts;
use super::frames::{self, ANSWER, BATCH_HEADER, BATCH_OVERHEAD};
use crate::Limits;
use bytes::Bytes;
use parking_lot::Mutex;
use parley_net::size;
use parley_net::ws::Batch;
use parley_streams::RemoteSubscriber;
use parley_streams::reader::Outlet;
use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, IoSlice, Result};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Frames in one write: a kilobyte of pieces on the stack, and enough to fill a socket's buffer.
const FRAMES: usize = 32;
/// Bytes that are taken out of the lanes at once: what is taken is no longer dropped.
const STAGED: usize = 256 * 1024;

/// The bounds of a link.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Messages that wait in one lane.
    pub messages: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Bytes that wait in all lanes of a link.
    pub link_bytes: usize,
}

impl Bounds {
    /// Those of the limits in force.
    pub fn of(limits: &Limits) -> Self {
        let largest = size(limits.message_bytes) + BATCH_OVERHEAD;
        Self {
            messages: size(limits.link_messages),
            bytes: size(limits.link_bytes).max(largest),
            link_bytes: size(limits.link_queued_bytes).max(largest),
        }
    }
}

/// The outgoing side of one link.
pub struct Outgoing {
    bounds: Bounds,
    counts: Arc<Counts>,
    state: Mutex<State>,
}

struct State {
    /// `None` once the link ended.
    outlet: Option<Box<dyn Outlet>>,
    /// Taken out of the lanes: in order, the first perhaps begun.
    staged: VecDeque<Staged>,
    /// How much of the first was sent.
    sent: usize,
    lanes: HashMap<u64, Waiting>,
    /// Lanes in which something waits, by turn.
    turns: VecDeque<u64>,
    /// Bytes in all lanes.
    bytes: usize,
    /// The newest ping's stamp, while its answer waits.
    pong: Option<u64>,
    /// The newest want's number, while its answer waits.
    acknowledgement: Option<u64>,
    /// Half of the link's round trip.
    way: Duration,
    waker: Option<Waker>,
    finishing: bool,
}

#[derive(Default)]
struct Waiting {
    batches: VecDeque<Taken>,
    messages: usize,
    bytes: usize,
}

struct Taken {
    batch: Batch,
    at: Instant,
}

struct Staged {
    header: [u8; BATCH_HEADER],
    header_size: usize,
    body: Bytes,
    messages: usize,
    taken: Instant,
}

/// What a link's own task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The socket takes no more: go on when it is writable.
    Blocked,
    /// The link ended; everything was sent if it was told to finish.
    Ended,
}

/// One want's place on a link.
pub struct Lane {
    link: Arc<Outgoing>,
    number: u64,
}

impl Lane {
    /// For the want with this number.
    pub fn new(link: &Arc<Outgoing>, number: u64) -> Self {
        Self { link: Arc::clone(link), number }
    }
}

impl RemoteSubscriber for Lane {
    fn send(&self, batch: &Batch, taken: Instant) {
        self.link.send(self.number, batch, taken);
    }
}

impl Outgoing {
    /// A link whose socket is behind `outlet`.
    pub fn new(outlet: Box<dyn Outlet>, bounds: Bounds, counts: Arc<Counts>) -> Self {
        let state = State {
            outlet: Some(outlet),
            staged: VecDeque::new(),
            sent: 0,
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            bytes: 0,
            pong: None,
            acknowledgement: None,
            way: Duration::ZERO,
            waker: None,
            finishing: false,
        };
        Self { bounds, counts, state: Mutex::new(state) }
    }

    /// Takes batches for this want.
    pub fn open(&self, number: u64) {
        self.state.lock().lanes.entry(number).or_default();
    }

    /// Takes none any more; what waits is forgotten.
    pub fn shut(&self, number: u64) {
        let mut state = self.state.lock();
        let lane = state.lanes.remove(&number).unwrap_or_default();
        state.turns.retain(|turn| *turn != number);
        state.bytes -= lane.bytes;
        lane.forget(&self.counts, false);
    }

    /// Hands over a batch; never waits.
    fn send(&self, number: u64, batch: &Batch, taken: Instant) {
        let mut state = self.state.lock();
        let state = &mut *state;
        if state.finishing || !state.lanes.contains_key(&number) {
            return;
        }
        let idle = state.is_idle();
        if idle {
            state.stage(number, batch, taken);
            match state.write(&self.counts) {
                Ok(_) if state.is_idle() && state.is_sent() => return,
                Ok(_) => {}
                Err(why) if why.kind() == ErrorKind::WouldBlock => {}
                Err(_) => state.end(&self.counts),
            }
        } else {
            state.queue(number, batch, taken, self.bounds, &self.counts);
        }
        if idle {
            state.wake();
        }
    }

    /// Answers a ping, before everything that waits, and learns the link's round trip.
    pub fn pong(&self, stamp: u64, round_trip: Duration) {
        let mut state = self.state.lock();
        state.pong = Some(stamp);
        state.way = round_trip / 2;
        state.wake();
    }

    /// Says, before everything that waits, that this want was taken, and every want before it.
    pub fn acknowledge(&self, number: u64) {
        let mut state = self.state.lock();
        state.acknowledgement = Some(number);
        state.wake();
    }

    /// Takes no more, sends what waits, then ends.
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

    /// Sends what waits, as far as the socket takes it. Only the link's own task calls this; it is woken when there is more to
    /// do, and pending while nothing waits.
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
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Poll::Ready(Next::Blocked),
                Err(_) => state.end(&self.counts),
            }
        }
    }
}

impl Waiting {
    fn forget(&self, counts: &Counts, dropped: bool) {
        counts.queued.sub(self.messages as u64);
        counts.queued_bytes.sub(self.bytes as u64);
        if dropped {
            counts.dropped.add(self.messages as u64);
        }
    }

    fn pop(&mut self, counts: &Counts) -> Option<Taken> {
        let oldest = self.batches.pop_front()?;
        let (messages, bytes) = (oldest.batch.count(), oldest.batch.bytes().len());
        self.messages -= messages;
        self.bytes -= bytes;
        counts.queued.sub(messages as u64);
        counts.queued_bytes.sub(bytes as u64);
        Some(oldest)
    }
}

impl Staged {
    fn size(&self) -> usize {
        self.header_size + self.body.len()
    }
}

impl State {
    fn is_idle(&self) -> bool {
        self.staged.is_empty() && self.turns.is_empty() && self.pong.is_none() && self.acknowledgement.is_none()
    }

    /// Whether the socket has everything that was written.
    fn is_sent(&self) -> bool {
        self.outlet.as_ref().is_none_or(|outlet| outlet.flush().is_ok())
    }

    fn stage(&mut self, number: u64, batch: &Batch, taken: Instant) {
        let header = frames::batch_header(number, batch);
        let (body, messages) = (batch.bytes().clone(), batch.count());
        self.staged.push_back(Staged { header, header_size: BATCH_HEADER, body, messages, taken });
    }

    /// Before everything but the frame that was begun, and answers that came sooner: acknowledgements only grow.
    fn stage_first(&mut self, answer: [u8; ANSWER]) {
        let mut header = [0; BATCH_HEADER];
        header[..ANSWER].copy_from_slice(&answer);
        let frame = Staged { header, header_size: ANSWER, body: Bytes::new(), messages: 0, taken: Instant::now() };
        let begun = usize::from(self.sent > 0);
        let sooner = self.staged.iter().skip(begun).take_while(|frame| frame.messages == 0).count();
        self.staged.insert(begun + sooner, frame);
    }

    fn queue(&mut self, number: u64, batch: &Batch, taken: Instant, bounds: Bounds, counts: &Counts) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        if lane.batches.is_empty() {
            self.turns.push_back(number);
        }
        let (messages, bytes) = (batch.count(), batch.bytes().len());
        lane.batches.push_back(Taken { batch: batch.clone(), at: taken });
        lane.messages += messages;
        lane.bytes += bytes;
        self.bytes += bytes;
        counts.queued.add(messages as u64);
        counts.queued_bytes.add(bytes as u64);
        // The newest batch may have more messages than the bound: a read is full of small ones.
        while (lane.messages > bounds.messages && lane.batches.len() > 1)
            || lane.bytes > bounds.bytes
            || self.bytes > bounds.link_bytes
        {
            let Some(oldest) = lane.pop(counts) else { break };
            self.bytes -= oldest.batch.bytes().len();
            counts.dropped.add(oldest.batch.count() as u64);
        }
        if lane.batches.is_empty() {
            self.turns.retain(|turn| *turn != number);
        }
    }

    /// Takes one batch of each lane in turn while there is room for a write.
    fn refill(&mut self, counts: &Counts) {
        if self.staged.len() < FRAMES {
            let pong = self.pong.take().map(frames::pong);
            let acknowledgement = self.acknowledgement.take().map(frames::acknowledgement);
            for answer in pong.into_iter().chain(acknowledgement) {
                self.stage_first(answer);
            }
        }
        let mut staged: usize = self.staged.iter().map(Staged::size).sum();
        while staged < STAGED && self.staged.len() < FRAMES {
            let Some(number) = self.turns.pop_front() else { return };
            let Some(lane) = self.lanes.get_mut(&number) else { continue };
            let Some(Taken { batch, at }) = lane.pop(counts) else { continue };
            if !lane.batches.is_empty() {
                self.turns.push_back(number);
            }
            self.bytes -= batch.bytes().len();
            staged += batch.bytes().len();
            self.stage(number, &batch, at);
        }
    }

    fn write(&mut self, counts: &Counts) -> Result<usize> {
        let Some(outlet) = &self.outlet else { return Ok(0) };
        let mut pieces = [IoSlice::new(&[]); 2 * FRAMES];
        let mut count = 0;
        let mut skip = self.sent;
        for frame in self.staged.iter().take(FRAMES) {
            for piece in [&frame.header[..frame.header_size], &frame.body[..]] {
                let skipped = skip.min(piece.len());
                skip -= skipped;
                if skipped < piece.len() {
                    pieces[count] = IoSlice::new(&piece[skipped..]);
                    count += 1;
                }
            }
        }
        let written = outlet.write_vectored(&pieces[..count])?;
        self.sent += written;
        while let Some(front) = self.staged.front()
            && self.sent >= front.size()
        {
            self.sent -= front.size();
            if front.messages > 0 {
                counts.sent.add(front.messages as u64);
                counts.sent_bytes.add(front.size() as u64);
                counts.hop.observe(front.taken.elapsed() + self.way, front.messages as u64);
            }
            self.staged.pop_front();
        }
        Ok(written)
    }

    fn end(&mut self, counts: &Counts) {
        self.finishing = true;
        self.outlet = None;
        for lane in self.lanes.values() {
            lane.forget(counts, true);
        }
        let staged: usize = self.staged.iter().map(|frame| frame.messages).sum();
        counts.dropped.add(staged as u64);
        self.lanes.clear();
        self.turns.clear();
        self.staged.clear();
        (self.bytes, self.sent, self.pong, self.acknowledgement) = (0, 0, None, None);
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
