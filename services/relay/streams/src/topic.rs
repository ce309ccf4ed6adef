//! A topic: fans each message out to its readers. **`publish` is the hot path of the relay.**
use super::hop::{Hop, Stamp};
use super::interest::Interest;
use super::reader::Reader;
use super::replay::Replay;
use super::seen::Seen;
use parking_lot::Mutex;
use parley_net::ws::Batch;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// A topic with its readers.
pub struct Topic {
    /// The name in statistics: `/demo`.
    pub name: Arc<str>,
    state: Mutex<State>,
    /// The messages of other regions that came. Locked before the state, and while they are sent on: two ports may send them at once.
    seen: Mutex<Seen>,
    interest: Option<Arc<Interest<Topic>>>,
}

struct State {
    /// In the order in which they joined: their sockets are in memory in that order, so the kernel walks them faster.
    readers: BTreeMap<u64, Arc<Reader>>,
    /// The readers as a list that publishers walk without the lock; rebuilt at the first message after a reader joined or left.
    list: Option<Arc<[Arc<Reader>]>>,
    /// The subscriptions of other pods, if any.
    remotes: Option<Remotes>,
    /// The number of this pod's subscription at the other pods of the region, while the topic has readers here or in other regions.
    subscription: Option<u64>,
    /// While the messages of other regions are requested.
    crossing: Option<Period>,
    /// The number of the last such period.
    last_period: u64,
    /// The number of the next message that is published here.
    sequence: u64,
    replay: Option<Replay>,
}

/// A period in which the messages of other regions are requested without a pause.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Period {
    number: u64,
    /// Whether other pods of the region request them here.
    serves: bool,
}

/// The subscription of another pod to a topic.
pub trait RemoteSubscriber: Send + Sync {
    /// The hop of the messages that it requests.
    fn hop(&self) -> Hop;

    /// Whether its messages have stamps. They are sent in the order of their stamps.
    fn has_stamps(&self) -> bool;

    /// Writes a batch to the link, or to the queue of this subscription; never waits. `taken`: when the publisher handed it over.
    fn send(&self, batch: &Batch, stamp: Stamp, taken: Instant);
}

type Remotes = Arc<[Arc<dyn RemoteSubscriber>]>;

/// The result of fanning out a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fanout {
    /// Deliveries that were written to a socket at once.
    pub written: u64,
    /// An upper bound of their payload in bytes.
    pub bytes: u64,
    /// Messages dropped from queues of slow readers.
    pub dropped: u64,
    /// Messages of another region that had come before.
    pub duplicates: u64,
}

impl Topic {
    /// A topic without readers. With `interest`, the pod subscribes to it at the other pods while it has readers. `sequence`: the number of its
    /// first message, above those of an earlier topic with this name.
    pub fn new(name: Arc<str>, replay: Option<Replay>, interest: Option<Arc<Interest<Topic>>>, sequence: u64) -> Self {
        let state = State {
            readers: BTreeMap::new(),
            list: None,
            remotes: None,
            subscription: None,
            crossing: None,
            last_period: 0,
            sequence,
            replay,
        };
        Self { name, state: Mutex::new(state), seen: Mutex::default(), interest }
    }

    /// Delivers the same bytes to every reader but the sender. Each reader writes them to its socket or its own queue, so this
    /// never waits. Messages of one publisher reach every reader in the order in which they arrived. Rules STR-1, STR-10 and STR-41.
    pub fn publish(&self, sender: u64, batch: &Batch, now: u64) -> Fanout {
        let mut state = self.state.lock();
        let stamp =
            Stamp { origin: self.interest.as_ref().map_or(0, |own| own.own().origin), sequence: state.sequence };
        state.sequence += batch.count() as u64;
        let readers = state.readers(batch, Hop::Local, stamp);
        if let Some(remotes) = state.remotes.clone() {
            // Links come first: each costs one write, and all readers of that pod depend on it. Another publisher must not send its message
            // between the stamp of this one and its sending.
            let ordered = remotes.iter().any(|remote| remote.has_stamps()).then_some(state);
            forward(&remotes, Hop::Local, batch, stamp);
            drop(ordered);
        } else {
            drop(state);
        }
        fan_out(readers.iter().filter(|reader| reader.id != sender), batch, now)
    }

    /// Delivers a batch that came from another pod to every reader here, and to the pods to which messages of this hop go. `None`: its subscription
    /// has ended. Rules STR-92, STR-94 and STR-141.
    pub fn deliver(&self, subscription: u64, hop: Hop, stamp: Stamp, batch: &Batch, now: u64) -> Option<Fanout> {
        if hop.is_foreign() {
            return self.deliver_foreign(hop, stamp, batch, now);
        }
        let mut state = self.state.lock();
        if state.subscription != Some(subscription) {
            return None;
        }
        let (readers, remotes) = (state.readers(batch, hop, stamp), state.remotes.clone());
        drop(state);
        // One task receives all messages of a pod, so they stay in the order of their stamps.
        forward(remotes.as_deref().unwrap_or_default(), hop, batch, stamp);
        Some(fan_out(readers.iter(), batch, now))
    }

    /// The same for a batch of another region, each message of which is delivered once. Rule STR-142.
    fn deliver_foreign(&self, hop: Hop, stamp: Stamp, batch: &Batch, now: u64) -> Option<Fanout> {
        let mut seen = self.seen.lock();
        let mut state = self.state.lock();
        seen.begin(state.crossing?.number);
        let known = seen.admit(stamp, batch.count());
        let duplicates = known as u64;
        let Some(batch) = batch.skip(known) else { return Some(Fanout { duplicates, ..Fanout::default() }) };
        let stamp = stamp.at(known);
        let (readers, remotes) = (state.readers(&batch, hop, stamp), state.remotes.clone());
        drop(state);
        forward(remotes.as_deref().unwrap_or_default(), hop, &batch, stamp);
        Some(Fanout { duplicates, ..fan_out(readers.iter(), &batch, now) })
    }

    /// Adds a reader, which first receives the kept messages. The lock is the one under which the list is built, so every message reaches
    /// the reader either from the replay or from its publisher, never from both.
    pub fn join(self: &Arc<Self>, reader: &Arc<Reader>, now: u64) {
        let mut state = self.state.lock();
        for kept in state.replay.iter().flat_map(Replay::messages) {
            reader.deliver(kept, now);
        }
        state.readers.insert(reader.id, Arc::clone(reader));
        state.list = None;
        self.update_interest(&mut state);
    }

    /// Waits until every linked pod of the region sends the topic here. `None`: all do already, there are none, or the topic has no reader.
    pub fn until_acknowledged(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let subscription = self.state.lock().subscription?;
        self.interest.as_ref()?.until_acknowledged(subscription)
    }

    /// Removes a reader.
    pub fn leave(self: &Arc<Self>, reader: u64) {
        let mut state = self.state.lock();
        state.readers.remove(&reader);
        state.list = None;
        self.update_interest(&mut state);
    }

    /// Adds the subscription of another pod. With `replay` it first receives the kept messages that go to it.
    pub(crate) fn attach(self: &Arc<Self>, remote: &Arc<dyn RemoteSubscriber>, replay: bool) {
        let mut state = self.state.lock();
        for (kept, stamp) in state.replay.iter().filter(|_| replay).flat_map(|kept| kept.messages_for(remote.hop())) {
            remote.send(kept, stamp, Instant::now());
        }
        let others = state.remotes.iter().flat_map(|remotes| remotes.iter());
        state.remotes = Some(others.chain([remote]).cloned().collect());
        self.update_interest(&mut state);
    }

    /// Removes the subscription of another pod.
    pub fn detach(self: &Arc<Self>, remote: &Arc<dyn RemoteSubscriber>) {
        let mut state = self.state.lock();
        let Some(remotes) = state.remotes.take() else { return };
        let others: Remotes = remotes.iter().filter(|other| !Arc::ptr_eq(other, remote)).cloned().collect();
        state.remotes = (!others.is_empty()).then_some(others);
        self.update_interest(&mut state);
    }

    /// Begins or ends the subscriptions of this pod, after readers or subscriptions of other pods came or went. What the other pods sent is not kept
    /// after a subscription: they send it again at the next one.
    fn update_interest(self: &Arc<Self>, state: &mut State) {
        let Some(interest) = &self.interest else { return };
        let is_requested =
            |hop| state.remotes.iter().flat_map(|remotes| remotes.iter()).any(|remote| remote.hop() == hop);
        let (is_read, serves) = (!state.readers.is_empty(), is_requested(Hop::Inland));
        match (is_read || is_requested(Hop::Ocean), state.subscription) {
            (true, None) => state.subscription = Some(interest.subscribe(&self.name, Arc::clone(self))),
            (false, Some(subscription)) => {
                state.subscription = None;
                interest.unsubscribe(subscription);
                state.forget(&[Hop::Region]);
            }
            _ => {}
        }
        match (is_read || serves, state.crossing) {
            (true, Some(period)) if period.serves == serves => {}
            (true, period) => {
                state.last_period += u64::from(period.is_none());
                state.crossing = Some(Period { number: state.last_period, serves });
                interest.cross(&self.name, self, serves);
            }
            (false, Some(_)) => {
                state.crossing = None;
                interest.uncross(&self.name);
                state.forget(&[Hop::Ocean, Hop::Inland]);
            }
            (false, None) => {}
        }
    }
}

/// Sends a batch that came this far to the subscriptions of other pods to which it goes.
fn forward(remotes: &[Arc<dyn RemoteSubscriber>], hop: Hop, batch: &Batch, stamp: Stamp) {
    let taken = Instant::now();
    for remote in remotes.iter().filter(|remote| hop.goes_to(remote.hop())) {
        remote.send(batch, stamp, taken);
    }
}

fn fan_out<'a>(readers: impl Iterator<Item = &'a Arc<Reader>>, batch: &Batch, now: u64) -> Fanout {
    let mut fanout = Fanout::default();
    let payload = batch.payload() as u64 / batch.count() as u64;
    for reader in readers {
        let delivery = reader.deliver(batch, now);
        fanout.written += delivery.written as u64;
        fanout.dropped += delivery.dropped;
    }
    fanout.bytes = fanout.written * payload;
    fanout
}

impl State {
    /// Keeps the batch for late subscribers, and returns the readers.
    fn readers(&mut self, batch: &Batch, hop: Hop, stamp: Stamp) -> Arc<[Arc<Reader>]> {
        if let Some(replay) = &mut self.replay {
            replay.keep(batch, hop, stamp);
        }
        if let Some(list) = &self.list {
            return Arc::clone(list);
        }
        let list: Arc<[Arc<Reader>]> = self.readers.values().cloned().collect();
        self.list = Some(Arc::clone(&list));
        list
    }

    fn forget(&mut self, hops: &[Hop]) {
        if let Some(replay) = &mut self.replay {
            replay.forget_hops(hops);
        }
    }
}
