//! The counters of the whole pod.
use crate::topic::Fanout;
use parley_metrics::Counter;
use parley_net::codes::Code;

/// The counters of a pod.
#[derive(Debug, Default)]
pub struct Counters {
    /// Opened WebSockets.
    pub opened: Counter,
    /// Messages received from publishers.
    pub received: Counter,
    /// Their payload in bytes.
    pub received_bytes: Counter,
    /// Messages written to sockets of readers.
    pub delivered: Counter,
    /// Their payload in bytes.
    pub delivered_bytes: Counter,
    /// Messages dropped because their reader was too slow.
    pub dropped: Counter,
    /// Messages that clients of `/out/` sent, which are discarded.
    pub discarded: Counter,
    /// Refused upgrades and requests.
    pub refused: ByCode,
    /// Sockets that the relay closed.
    pub closed: ByCode,
}

impl Counters {
    /// Counts the result of fanning out a batch.
    pub fn fanned_out(&self, fanout: Fanout) {
        self.delivered.add(fanout.written);
        self.delivered_bytes.add(fanout.bytes);
        if fanout.dropped > 0 {
            self.dropped.add(fanout.dropped);
        }
    }
}

/// A counter for each code.
#[derive(Debug)]
pub struct ByCode([Counter; Code::ALL.len()]);

impl Default for ByCode {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

impl ByCode {
    /// Adds one for a code.
    pub fn count(&self, code: Code) {
        if let Some(counter) = self.0.get(code as usize) {
            counter.add(1);
        }
    }

    /// The count of every code.
    pub fn iter(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        Code::ALL.iter().copied().zip(self.0.iter().map(Counter::get))
    }
}
