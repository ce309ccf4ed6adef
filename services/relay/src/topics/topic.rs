//! A topic: the place where one message becomes many. **`publish` is the hot path of the relay.**
use super::reader::Reader;
use super::replay::Replay;
use crate::ws::Batch;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Those who read a topic.
pub struct Topic {
    /// As in statistics: `/demo`.
    pub name: Arc<str>,
    state: Mutex<State>,
}

struct State {
    /// In the order they came: their sockets lie in memory that way, and the kernel walks them faster.
    readers: BTreeMap<u64, Arc<Reader>>,
    /// The readers as a list that publishers walk without the lock; made anew at the first message after somebody came or went.
    list: Option<Arc<[Arc<Reader>]>>,
    replay: Option<Replay>,
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
    /// A topic nobody reads yet.
    pub fn new(name: Arc<str>, replay: Option<Replay>) -> Self {
        Self { name, state: Mutex::new(State { readers: BTreeMap::new(), list: None, replay }) }
    }

    /// Hands the same bytes to every reader but the sender. Each reader takes them into its socket or its own queue, so this
    /// never waits. Messages of one publisher reach every reader in the order they came. Rules STR-1, STR-10 and STR-41.
    pub fn publish(&self, sender: u64, batch: &Batch, now: u64) -> Fanout {
        let mut fanout = Fanout::default();
        let payload = batch.payload() as u64 / batch.count() as u64;
        for reader in self.readers(batch).iter().filter(|reader| reader.id != sender) {
            let delivery = reader.deliver(batch, now);
            fanout.written += delivery.written as u64;
            fanout.dropped += delivery.dropped;
        }
        fanout.bytes = fanout.written * payload;
        fanout
    }

    /// Adds a reader, who first gets what the topic kept. Under the same lock as the list is made: every message reaches it
    /// either from there or from its publisher, and never both ways.
    pub fn join(&self, reader: &Arc<Reader>, now: u64) {
        let mut state = self.state.lock();
        for kept in state.replay.iter().flat_map(Replay::messages) {
            reader.deliver(kept, now);
        }
        state.readers.insert(reader.id, Arc::clone(reader));
        state.list = None;
    }

    /// Removes a reader.
    pub fn leave(&self, reader: u64) {
        let mut state = self.state.lock();
        state.readers.remove(&reader);
        state.list = None;
    }

    fn readers(&self, batch: &Batch) -> Arc<[Arc<Reader>]> {
        let mut state = self.state.lock();
        if let Some(replay) = &mut state.replay {
            replay.keep(batch);
        }
        if let Some(list) = &state.list {
            return Arc::clone(list);
        }
        let list: Arc<[Arc<Reader>]> = state.readers.values().cloned().collect();
        state.list = Some(Arc::clone(&list));
        list
    }
}
