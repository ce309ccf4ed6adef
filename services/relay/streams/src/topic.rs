//! A topic: fans each message out to its readers. **`publish` is the hot path of the relay.**
use super::interest::Interest;
use super::reader::Reader;
use super::replay::{Origin, Replay};
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
    interest: Option<Arc<Interest<Topic>>>,
}

struct State {
    /// In the order in which they joined: their sockets are in memory in that order, so the kernel walks them faster.
    readers: BTreeMap<u64, Arc<Reader>>,
    /// The readers as a list that publishers walk without the lock; rebuilt at the first message after a reader joined or left.
    list: Option<Arc<[Arc<Reader>]>>,
    /// The subscriptions of other pods, if any.
    remotes: Option<Arc<[Arc<dyn RemoteSubscriber>]>>,
    /// The number of this pod's subscription at the other pods, while the topic has readers here.
    subscription: Option<u64>,
    replay: Option<Replay>,
}

/// The subscription of another pod to a topic.
pub trait RemoteSubscriber: Send + Sync {
    /// Writes a batch to the link, or to the queue of this subscription; never waits. `taken`: when the publisher handed it over.
    fn send(&self, batch: &Batch, taken: Instant);
}

/// The result of fanning out a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fanout {
    /// Deliveries that were written to a socket at once.
    pub written: u64,
    /// An upper bound of their payload in bytes.
    pub bytes: u64,
    /// Messages dropped from queues of slow readers.
    pub dropped: u64,
}

impl Topic {
    /// A topic without readers. With `interest`, the pod subscribes to it at the other pods while it has readers.
    pub fn new(name: Arc<str>, replay: Option<Replay>, interest: Option<Arc<Interest<Topic>>>) -> Self {
        let state = State { readers: BTreeMap::new(), list: None, remotes: None, subscription: None, replay };
        Self { name, state: Mutex::new(state), interest }
    }

    /// Delivers the same bytes to every reader but the sender. Each reader writes them to its socket or its own queue, so this
    /// never waits. Messages of one publisher reach every reader in the order in which they arrived. Rules STR-1, STR-10 and STR-41.
    pub fn publish(&self, sender: u64, batch: &Batch, now: u64) -> Fanout {
        let mut state = self.state.lock();
        let readers = state.readers(batch, Origin::Here);
        let remotes = state.remotes.clone();
        drop(state);
        if let Some(remotes) = remotes {
            // Links come first: each costs one write, and all readers of that pod depend on it.
            let taken = Instant::now();
            for remote in remotes.iter() {
                remote.send(batch, taken);
            }
        }
        fan_out(readers.iter().filter(|reader| reader.id != sender), batch, now)
    }

    /// Delivers a batch from another pod to every reader here, and to no other pod. `None`: its subscription has ended.
    /// Rules STR-92 and STR-94.
    pub fn deliver(&self, subscription: u64, batch: &Batch, now: u64) -> Option<Fanout> {
        let mut state = self.state.lock();
        if state.subscription != Some(subscription) {
            return None;
        }
        let readers = state.readers(batch, Origin::Elsewhere);
        drop(state);
        Some(fan_out(readers.iter(), batch, now))
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
        if state.subscription.is_none() {
            let subscribe = |interest: &Arc<Interest<Topic>>| interest.subscribe(&self.name, Arc::clone(self));
            state.subscription = self.interest.as_ref().map(subscribe);
        }
    }

    /// Waits until every linked pod sends the topic here. `None`: all do already, there are none, or the topic has no reader.
    pub fn until_acknowledged(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let subscription = self.state.lock().subscription?;
        self.interest.as_ref()?.until_acknowledged(subscription)
    }

    /// Removes a reader.
    pub fn leave(&self, reader: u64) {
        let mut state = self.state.lock();
        state.readers.remove(&reader);
        state.list = None;
        if state.readers.is_empty()
            && let (Some(interest), Some(subscription)) = (&self.interest, state.subscription.take())
        {
            interest.unsubscribe(subscription);
            // The other pods send their messages again when the next reader joins.
            if let Some(replay) = &mut state.replay {
                replay.forget_elsewhere();
            }
        }
    }

    /// Adds the subscription of another pod. With `replay` it first receives the kept messages of publishers on this pod.
    pub(crate) fn attach(&self, remote: &Arc<dyn RemoteSubscriber>, replay: bool) {
        let mut state = self.state.lock();
        for kept in state.replay.iter().filter(|_| replay).flat_map(Replay::messages_from_here) {
            remote.send(kept, Instant::now());
        }
        let others = state.remotes.iter().flat_map(|remotes| remotes.iter());
        state.remotes = Some(others.chain([remote]).cloned().collect());
    }

    /// Removes the subscription of another pod.
    pub fn detach(&self, remote: &Arc<dyn RemoteSubscriber>) {
        let mut state = self.state.lock();
        let Some(remotes) = state.remotes.take() else { return };
        let others: Arc<[_]> = remotes.iter().filter(|other| !Arc::ptr_eq(other, remote)).cloned().collect();
        state.remotes = (!others.is_empty()).then_some(others);
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
    fn readers(&mut self, batch: &Batch, origin: Origin) -> Arc<[Arc<Reader>]> {
        if let Some(replay) = &mut self.replay {
            replay.keep(batch, origin);
        }
        if let Some(list) = &self.list {
            return Arc::clone(list);
        }
        let list: Arc<[Arc<Reader>]> = self.readers.values().cloned().collect();
        self.list = Some(Arc::clone(&list));
        list
    }
}
