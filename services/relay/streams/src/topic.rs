//! A topic: the place where one message becomes many. **`publish` is the hot path of the relay.**
use super::interest::Interest;
use super::reader::Reader;
use super::replay::{Origin, Replay};
use parking_lot::Mutex;
use parley_net::ws::Batch;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Those who read a topic.
pub struct Topic {
    /// As in statistics: `/demo`.
    pub name: Arc<str>,
    state: Mutex<State>,
    interest: Option<Arc<Interest>>,
}

struct State {
    /// In the order they came: their sockets lie in memory that way, and the kernel walks them faster.
    readers: BTreeMap<u64, Arc<Reader>>,
    /// The readers as a list that publishers walk without the lock; made anew at the first message after somebody came or went.
    list: Option<Arc<[Arc<Reader>]>>,
    /// The pods that want the topic, if any.
    remotes: Option<Arc<[Arc<dyn Remote>]>>,
    /// The number under which others send it here, while it has readers here.
    wanted: Option<u64>,
    replay: Option<Replay>,
}

/// Another pod that wants a topic, for one of its wants.
pub trait Remote: Send + Sync {
    /// Takes a batch into the link or a queue of the want's own; never waits. `taken`: when its publisher handed it over.
    fn send(&self, batch: &Batch, taken: Instant);
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fanout {
    /// Deliveries that went straight to a socket.
    pub written: u64,
    /// Bytes of payload of those, at most.
    pub bytes: u64,
    /// Messages dropped from queues of slow readers.
    pub dropped: u64,
}

impl Topic {
    /// A topic nobody reads yet. With `interest`, other pods are told while somebody does.
    pub fn new(name: Arc<str>, replay: Option<Replay>, interest: Option<Arc<Interest>>) -> Self {
        let state = State { readers: BTreeMap::new(), list: None, remotes: None, wanted: None, replay };
        Self { name, state: Mutex::new(state), interest }
    }

    /// Hands the same bytes to every reader but the sender. Each reader takes them into its socket or its own queue, so this
    /// never waits. Messages of one publisher reach every reader in the order they came. Rules STR-1, STR-10 and STR-41.
    pub fn publish(&self, sender: u64, batch: &Batch, now: u64) -> Fanout {
        let mut state = self.state.lock();
        let readers = state.readers(batch, Origin::Here);
        let remotes = state.remotes.clone();
        drop(state);
        if let Some(remotes) = remotes {
            // One write each, and everyone over there waits for it.
            let taken = Instant::now();
            for remote in remotes.iter() {
                remote.send(batch, taken);
            }
        }
        fan_out(readers.iter().filter(|reader| reader.id != sender), batch, now)
    }

    /// Hands what came from another pod to every reader here, and to no other pod. `None`: the want it came for has ended.
    /// Rules STR-92 and STR-94.
    pub fn deliver(&self, wanted: u64, batch: &Batch, now: u64) -> Option<Fanout> {
        let mut state = self.state.lock();
        if state.wanted != Some(wanted) {
            return None;
        }
        let readers = state.readers(batch, Origin::Elsewhere);
        drop(state);
        Some(fan_out(readers.iter(), batch, now))
    }

    /// Adds a reader, who first gets what the topic kept. Under the same lock as the list is made: every message reaches it
    /// either from there or from its publisher, and never both ways.
    pub fn join(self: &Arc<Self>, reader: &Arc<Reader>, now: u64) {
        let mut state = self.state.lock();
        for kept in state.replay.iter().flat_map(Replay::messages) {
            reader.deliver(kept, now);
        }
        state.readers.insert(reader.id, Arc::clone(reader));
        state.list = None;
        if state.wanted.is_none() {
            state.wanted = self.interest.as_ref().map(|interest| interest.want(self));
        }
    }

    /// Waits until every linked pod sends the topic here. `None`: they do, there are none, or nobody reads it.
    pub fn until_acknowledged(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let wanted = self.state.lock().wanted?;
        self.interest.as_ref()?.until_acknowledged(wanted)
    }

    /// Removes a reader.
    pub fn leave(&self, reader: u64) {
        let mut state = self.state.lock();
        state.readers.remove(&reader);
        state.list = None;
        if state.readers.is_empty()
            && let (Some(interest), Some(wanted)) = (&self.interest, state.wanted.take())
        {
            interest.unwant(wanted);
            // Other pods send theirs again to the next reader.
            if let Some(replay) = &mut state.replay {
                replay.forget_elsewhere();
            }
        }
    }

    /// Adds a pod that wants the topic. With `replay` it first gets what publishers here sent, as a late joiner does.
    pub fn attach(&self, remote: &Arc<dyn Remote>, replay: bool) {
        let mut state = self.state.lock();
        for kept in state.replay.iter().filter(|_| replay).flat_map(Replay::messages_from_here) {
            remote.send(kept, Instant::now());
        }
        let others = state.remotes.iter().flat_map(|remotes| remotes.iter());
        state.remotes = Some(others.chain([remote]).cloned().collect());
    }

    /// Removes a pod.
    pub fn detach(&self, remote: &Arc<dyn Remote>) {
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
