//! One direction of a link, without devices or a clock: which packets get through, and when.
use crate::settings::Settings;
use fastrand::Rng;
use serde::Serialize;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a packet waits at most for those before it to be sent at the link's rate. Routers at homes hold about as much.
const MAX_WAIT: Duration = Duration::from_millis(200);
/// Under way at once; 23 MB.
const MAX_PACKETS: usize = 16_384;

/// What became of packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// That have arrived.
    pub packets: u64,
    /// In them.
    pub bytes: u64,
    /// By chance, or as the link or a device was down.
    pub lost: u64,
    /// As the queue was full.
    pub queue_drops: u64,
}

/// One direction of a link. Times are those of one clock, whichever; packets leave in the order they came in.
#[derive(Debug)]
pub struct Direction {
    pub settings: Settings,
    pub counts: Counts,
    random: Rng,
    in_flight: VecDeque<Packet>,
    /// When the last packet is sent entirely.
    sent: Duration,
    /// When the last packet arrives.
    last_due: Duration,
}

#[derive(Debug)]
struct Packet {
    due: Duration,
    content: Box<[u8]>,
}

impl Direction {
    pub fn new(settings: Settings, seed: u64) -> Self {
        let (sent, last_due) = (Duration::ZERO, Duration::ZERO);
        let random = Rng::with_seed(seed);
        Self { settings, counts: Counts::default(), random, in_flight: VecDeque::new(), sent, last_due }
    }

    /// Takes a packet that comes in now, or loses it.
    pub fn offer(&mut self, now: Duration, content: &[u8]) {
        let Settings { delay, jitter, loss, rate, up } = self.settings;
        if !up || self.random.f64() < loss {
            self.counts.lost += 1;
            return;
        }
        let begins = self.sent.max(now);
        let waits = begins - now;
        if self.in_flight.len() == MAX_PACKETS || (rate.is_some() && waits > MAX_WAIT) {
            self.counts.queue_drops += 1;
            return;
        }
        // Without a rate nothing takes time to send.
        self.sent = rate.map_or(now, |rate| begins + Duration::from_secs_f64(bits(content) / rate));
        let more = jitter.mul_f64(2.0 * self.random.f64());
        self.last_due = self.last_due.max((self.sent + delay + more).saturating_sub(jitter).max(now));
        self.in_flight.push_back(Packet { due: self.last_due, content: content.into() });
    }

    /// When the next packet arrives.
    pub fn due(&self) -> Option<Duration> {
        self.in_flight.front().map(|packet| packet.due)
    }

    /// The next packet, to be counted when it is through.
    pub fn pop(&mut self) -> Option<Box<[u8]>> {
        self.in_flight.pop_front().map(|packet| packet.content)
    }

    pub fn count(&mut self, content: &[u8], arrived: bool) {
        if arrived {
            self.counts.packets += 1;
            self.counts.bytes += content.len() as u64;
        } else {
            self.counts.lost += 1;
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a packet is short")]
fn bits(content: &[u8]) -> f64 {
    8.0 * content.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRE: Settings = Settings { delay: Duration::ZERO, jitter: Duration::ZERO, loss: 0.0, rate: None, up: true };
    /// 8000 bits.
    const PACKET: [u8; 1000] = [7; 1000];

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// When packets arrive that come in at these times.
    fn arrivals(direction: &mut Direction, offered: impl IntoIterator<Item = Duration>) -> Vec<Duration> {
        offered.into_iter().for_each(|now| direction.offer(now, &PACKET));
        std::iter::from_fn(|| direction.due().inspect(|_| drop(direction.pop()))).collect()
    }

    #[test]
    fn a_packet_arrives_after_the_delay_as_it_was() {
        let mut direction = Direction::new(Settings { delay: ms(45), ..WIRE }, 7);
        direction.offer(ms(100), &[1, 2, 3]);
        assert_eq!(direction.due(), Some(ms(145)));
        assert_eq!(direction.pop().as_deref(), Some(&[1, 2, 3][..]));
        assert_eq!(direction.due(), None);
    }

    #[test]
    fn a_shorter_delay_lets_nothing_overtake() {
        let mut direction = Direction::new(Settings { delay: ms(80), ..WIRE }, 7);
        direction.offer(ms(0), &PACKET);
        direction.settings.delay = ms(10);
        assert_eq!(arrivals(&mut direction, [ms(10), ms(90)]), [ms(80), ms(80), ms(100)]);
    }

    #[test]
    fn jitter_is_to_both_sides_and_reorders_nothing() {
        let mut direction = Direction::new(Settings { delay: ms(45), jitter: ms(2), ..WIRE }, 7);
        let apart: Vec<_> = (0..1000).map(|nth| ms(10 * nth)).collect();
        let late: Vec<_> = arrivals(&mut direction, apart.clone()).iter().zip(&apart).map(|(a, o)| *a - *o).collect();
        assert!(late.iter().all(|late| (ms(43)..=ms(47)).contains(late)));
        assert!(late.iter().any(|late| *late < ms(44)) && late.iter().any(|late| *late > ms(46)));
        let at_once = arrivals(&mut direction, [ms(20_000); 1000]);
        assert!(at_once.is_sorted() && at_once[0] < at_once[999]);
    }

    #[test]
    fn jitter_above_the_delay_lets_nothing_arrive_before_it_came_in() {
        let mut direction = Direction::new(Settings { delay: ms(1), jitter: ms(50), ..WIRE }, 7);
        let offered = (1..100).map(|nth| ms(1000 * nth));
        let arrived = arrivals(&mut direction, offered.clone());
        assert!(arrived.iter().zip(offered).all(|(arrived, offered)| *arrived >= offered));
    }

    #[test]
    fn so_many_are_lost_and_the_same_ones_with_the_same_seed() {
        let through = |seed| arrivals(&mut Direction::new(Settings { loss: 0.05, ..WIRE }, seed), (0..4000).map(ms));
        let lost = 4000 - through(7).len();
        assert!((160..=240).contains(&lost), "{lost}");
        assert_eq!(through(7), through(7));
        assert_ne!(through(7), through(8));
    }

    #[test]
    fn a_chance_of_one_loses_all_and_a_link_that_is_down_as_well() {
        for settings in [Settings { loss: 1.0, ..WIRE }, Settings { up: false, ..WIRE }] {
            let mut direction = Direction::new(settings, 7);
            assert_eq!(arrivals(&mut direction, [ms(0); 100]), []);
            assert_eq!(direction.counts, Counts { lost: 100, ..Counts::default() });
        }
    }

    #[test]
    fn a_rate_spaces_packets_and_what_would_wait_longer_than_200_ms_is_dropped() {
        // A packet every 10 ms.
        let mut direction = Direction::new(Settings { delay: ms(45), rate: Some(800_000.0), ..WIRE }, 7);
        let arrived = arrivals(&mut direction, [ms(0); 30]);
        assert_eq!(arrived, (1..=21).map(|nth| ms(10 * nth + 45)).collect::<Vec<_>>());
        assert_eq!(direction.counts.queue_drops, 9);
        assert_eq!(arrivals(&mut direction, [ms(1000)]), [ms(1055)], "the line is free again");
    }

    #[test]
    fn so_many_are_in_flight_at_most() {
        let mut direction = Direction::new(Settings { delay: ms(1000), ..WIRE }, 7);
        assert_eq!(arrivals(&mut direction, vec![ms(0); MAX_PACKETS + 3]).len(), MAX_PACKETS);
        assert_eq!(direction.counts.queue_drops, 3);
    }

    #[test]
    fn what_arrived_is_counted_and_what_no_device_took_is_lost() {
        let mut direction = Direction::new(WIRE, 7);
        direction.count(&PACKET, true);
        direction.count(&PACKET, false);
        assert_eq!(direction.counts, Counts { packets: 1, bytes: 1000, lost: 1, queue_drops: 0 });
    }
}
