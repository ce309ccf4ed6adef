//! Numbers of the whole pod that only grow.
use crate::topic::Fanout;
use parley_metrics::Counter;
use parley_net::codes::Code;

/// The pod's numbers.
#[derive(Debug, Default)]
pub struct Counters {
    /// WebSockets that were opened.
    pub opened: Counter,
    /// Messages that publishers sent.
    pub received: Counter,
    /// Their payload.
    pub received_bytes: Counter,
    /// Deliveries to readers' sockets.
    pub delivered: Counter,
    /// Their payload.
    pub delivered_bytes: Counter,
    /// Messages dropped as their reader was too slow.
    pub dropped: Counter,
    /// Messages that clients of `/out/` sent.
    pub discarded: Counter,
    /// Upgrades and requests refused.
    pub refused: ByCode,
    /// Sockets the relay closed.
    pub closed: ByCode,
}

impl Counters {
    /// What became of a batch.
    pub fn fanned_out(&self, fanout: Fanout) {
        self.delivered.add(fanout.written);
        self.delivered_bytes.add(fanout.bytes);
        if fanout.dropped > 0 {
            self.dropped.add(fanout.dropped);
        }
    }
}

/// A number for each code.
#[derive(Debug)]
pub struct ByCode([Counter; Code::ALL.len()]);

impl Default for ByCode {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

impl ByCode {
    /// Counts one.
    pub fn count(&self, code: Code) {
        if let Some(counter) = self.0.get(code as usize) {
            counter.add(1);
        }
    }

    /// Every code with its number.
    pub fn iter(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        Code::ALL.iter().copied().zip(self.0.iter().map(Counter::get))
    }
}
