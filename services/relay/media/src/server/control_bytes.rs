//! Bytes other than media from a client (MED-27): requests, acknowledgements, and data on streams without a subscription. MoQ's library reads a
//! request of up to 64 MB into memory before it parses it, on as many streams as a client may open.
use std::time::{Duration, Instant};

use crate::server::metrics::Traffic;

/// The allowed rate. Requests and pings of a client that watches a large room need a hundredth of it.
const BYTES_PER_SECOND: u64 = 256 << 10;

/// A leaky bucket of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ControlBytes {
    level: u64,
    counted: Traffic,
    at: Option<Instant>,
}

impl ControlBytes {
    /// Returns the level after `traffic`. Twice the received media is subtracted, for headers and retransmissions, and a quarter of the sent
    /// bytes, for acknowledgements.
    pub fn level(&mut self, traffic: Traffic, now: Instant) -> u64 {
        let grown = |of: fn(&Traffic) -> u64| of(&traffic).saturating_sub(of(&self.counted));
        let since = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let media = 2 * grown(|traffic| traffic.bytes_in) + grown(|traffic| traffic.wire_out) / 4;
        let leaked = u64::try_from(since.as_millis()).unwrap_or(u64::MAX).saturating_mul(BYTES_PER_SECOND) / 1000;
        self.level = (self.level + grown(|traffic| traffic.wire_in)).saturating_sub(media.saturating_add(leaked));
        (self.counted, self.at) = (traffic, Some(now));
        self.level
    }

    /// Returns the bytes on the wire that the level includes.
    pub fn counted(&self) -> u64 {
        self.counted.wire_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(steps: &[Traffic]) -> u64 {
        let (mut control_bytes, mut sum, mut level) = (ControlBytes::default(), Traffic::default(), 0);
        let mut now = Instant::now();
        control_bytes.level(sum, now);
        for step in steps {
            now += Duration::from_secs(1);
            sum.add(*step);
            level = control_bytes.level(sum, now);
        }
        level
    }

    #[test]
    fn med_27_media_with_headers_and_retransmissions_does_not_count() {
        let publishes = Traffic { bytes_in: 10 << 20, wire_in: 20 << 20, ..Traffic::default() };
        let watches = Traffic { bytes_out: 90 << 20, wire_out: 100 << 20, wire_in: 10 << 20, ..Traffic::default() };
        let asks = Traffic { wire_in: 200 << 10, ..Traffic::default() };
        for traffic in [publishes, watches, asks] {
            assert_eq!(after(&[traffic; 100]), 0);
        }
    }

    #[test]
    fn med_27_other_bytes_add_up_and_leak_at_a_fixed_rate() {
        let sends = Traffic { wire_in: 1 << 20, ..Traffic::default() };
        assert_eq!(after(&[sends; 4]), 3 << 20);
        assert_eq!(after(&[sends, Traffic::default(), Traffic::default(), Traffic::default()]), 0);
    }

    #[test]
    fn med_27_an_idle_hour_gives_no_credit() {
        let sends = Traffic { wire_in: 64 << 20, ..Traffic::default() };
        let mut steps = vec![Traffic::default(); 3600];
        steps.push(sends);
        assert_eq!(after(&steps), (64 << 20) - BYTES_PER_SECOND);
    }
}
