//! What all participants together experienced.
use super::admission::Answer;
use crate::latency::Latency;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Where a participant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has not arrived.
    Expected,
    /// It joins.
    Arriving,
    /// It was given a slot, and waits for it.
    Waiting,
    /// It is in its room, on an open socket.
    Here,
    /// It lost its socket, and comes back.
    Away,
    /// Its room was full.
    Full,
    /// It ended for good, by an error.
    Gone,
}

/// How many are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "as `Phase` says")]
pub struct Present {
    pub arriving: u64,
    pub waiting: u64,
    pub here: u64,
    pub away: u64,
    pub full: u64,
    pub gone: u64,
}

/// How often something happened, by its code.
pub type Codes = BTreeMap<String, u64>;

/// Answers to requests for tickets.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Answers {
    /// Tickets.
    pub tickets: u64,
    /// Slots.
    pub slots: u64,
    /// Of a full room.
    pub full: u64,
    /// All others.
    pub refused: u64,
}

/// What happened so far.
pub struct Tally {
    present: Present,
    /// Answers to requests for tickets.
    pub answers: Answers,
    /// Messages that let a participant wait on its socket.
    pub waits: u64,
    /// Sockets that were lost, by the code of the close.
    pub losses: Codes,
    /// Attempts that were refused. The participant repeats those that may succeed later.
    pub refusals: Codes,
    /// Why participants ended for good.
    pub errors: Codes,
    /// Participants that were in a room and did not come back.
    pub lost: u64,
    answer_times: Histogram<u64>,
    join_times: Histogram<u64>,
    back_times: Histogram<u64>,
    lateness: Histogram<u64>,
}

impl Tally {
    /// Without an event.
    pub fn new() -> anyhow::Result<Self> {
        let times = || Histogram::new_with_bounds(1_000, 600_000_000_000, 3);
        Ok(Self {
            present: Present::default(),
            answers: Answers::default(),
            waits: 0,
            losses: Codes::new(),
            refusals: Codes::new(),
            errors: Codes::new(),
            lost: 0,
            answer_times: times()?,
            join_times: times()?,
            back_times: times()?,
            lateness: times()?,
        })
    }

    /// How many are where now.
    pub fn present(&self) -> Present {
        self.present
    }

    /// A participant changed its phase.
    pub fn moved(&mut self, from: Phase, to: Phase) {
        if let Some(count) = self.present.of(from) {
            *count -= 1;
        }
        if let Some(count) = self.present.of(to) {
            *count += 1;
        }
    }

    /// A request for a ticket was answered after this time.
    pub fn answered(&mut self, answer: &Answer, time: Duration) {
        record(&mut self.answer_times, time);
        match answer {
            Answer::Ticket { .. } => self.answers.tickets += 1,
            Answer::Slot { .. } => self.answers.slots += 1,
            Answer::Refused { code, .. } if code == "ROOM_FULL" => self.answers.full += 1,
            Answer::Refused { code, .. } => {
                self.answers.refused += 1;
                self.refused(code);
            }
        }
    }

    /// A participant was welcomed this long after it arrived.
    pub fn joined(&mut self, time: Duration) {
        record(&mut self.join_times, time);
    }

    /// A socket was lost.
    pub fn lost_socket(&mut self, code: &str) {
        count(&mut self.losses, code);
    }

    /// An attempt was refused.
    pub fn refused(&mut self, code: &str) {
        count(&mut self.refusals, code);
    }

    /// A participant was welcomed again this long after it lost its socket.
    pub fn back(&mut self, time: Duration) {
        record(&mut self.back_times, time);
    }

    /// The service let a participant wait on its socket.
    pub fn waited(&mut self) {
        self.waits += 1;
    }

    /// A participant that was in a room will not come back.
    pub fn gone(&mut self) {
        self.lost += 1;
    }

    /// A participant ended for good.
    pub fn error(&mut self, code: &str) {
        count(&mut self.errors, code);
    }

    /// A timer of the generator was this late.
    pub fn late(&mut self, time: Duration) {
        record(&mut self.lateness, time);
    }

    /// The times of answers, joins and returns, each with how many there are; and of the lateness of timers.
    pub fn times(&self) -> [(u64, Latency); 4] {
        [&self.answer_times, &self.join_times, &self.back_times, &self.lateness]
            .map(|times| (times.len(), Latency::of(times)))
    }
}

impl Present {
    fn of(&mut self, phase: Phase) -> Option<&mut u64> {
        match phase {
            Phase::Expected => None,
            Phase::Arriving => Some(&mut self.arriving),
            Phase::Waiting => Some(&mut self.waiting),
            Phase::Here => Some(&mut self.here),
            Phase::Away => Some(&mut self.away),
            Phase::Full => Some(&mut self.full),
            Phase::Gone => Some(&mut self.gone),
        }
    }
}

fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

fn count(codes: &mut Codes, code: &str) {
    match codes.get_mut(code) {
        Some(times) => *times += 1,
        None => {
            codes.insert(code.to_owned(), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_participant_is_in_one_phase() {
        let mut tally = Tally::new().unwrap();
        tally.moved(Phase::Expected, Phase::Arriving);
        tally.moved(Phase::Arriving, Phase::Here);
        tally.moved(Phase::Here, Phase::Away);
        assert_eq!(tally.present(), Present { away: 1, ..Present::default() });
    }

    #[test]
    fn an_answer_of_a_full_room_and_a_slot_are_no_refusals() {
        let mut tally = Tally::new().unwrap();
        let refusal = |code: &str| Answer::Refused { code: code.into(), after: None };
        tally.answered(&refusal("ROOM_FULL"), Duration::from_millis(3));
        tally.answered(&Answer::Slot { slot: "s".into(), after: Duration::ZERO }, Duration::from_millis(3));
        tally.answered(&refusal("POD_FULL"), Duration::from_millis(3));
        let Answers { tickets, slots, full, refused } = tally.answers;
        assert_eq!((tickets, slots, full, refused), (0, 1, 1, 1));
        assert_eq!(tally.refusals, Codes::from([("POD_FULL".to_owned(), 1)]));
        assert_eq!(tally.times()[0].0, 3);
    }
}
