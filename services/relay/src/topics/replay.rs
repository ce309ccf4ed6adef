//! What a topic keeps for those who come late: its last messages. Off unless a rule names the topic. Rules STR-50 to STR-52.
use crate::ws::Batch;
use std::collections::VecDeque;

/// Topics that begin with `prefix` keep their last `messages` messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `/lab/` or `/out/camera`.
    pub prefix: String,
    /// How many.
    pub messages: usize,
}

/// The rule for a topic: the one with the longest prefix.
pub fn rule_for<'a>(rules: &'a [Rule], topic: &str) -> Option<&'a Rule> {
    rules.iter().filter(|rule| topic.starts_with(&rule.prefix)).max_by_key(|rule| rule.prefix.len())
}

/// The last messages of one topic.
#[derive(Debug)]
pub struct Replay {
    kept: VecDeque<Batch>,
    bytes: usize,
    most_messages: usize,
    most_bytes: usize,
}

impl Replay {
    /// Keeps at most so many messages and bytes.
    pub fn new(most_messages: usize, most_bytes: usize) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, most_messages, most_bytes }
    }

    /// Keeps the messages of a batch, and forgets the oldest.
    pub fn keep(&mut self, batch: &Batch) {
        for (frame, _) in batch.unsent(0) {
            // Copied, as a slice of a batch would keep all of the batch.
            let frame = if batch.count() > 1 { bytes::Bytes::copy_from_slice(&frame) } else { frame };
            self.bytes += frame.len();
            self.kept.push_back(Batch::framed(frame));
        }
        while self.kept.len() > self.most_messages || self.bytes > self.most_bytes {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.bytes().len();
        }
    }

    /// What is kept, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Batch> {
        self.kept.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ws::Kind;

    #[test]
    fn str_50_the_longest_prefix_decides() {
        let rule = |prefix: &str, messages| Rule { prefix: prefix.into(), messages };
        let rules = [rule("/lab/", 5), rule("/lab/quiet/", 0), rule("/out/", 9)];
        assert_eq!(rule_for(&rules, "/lab/x").map(|rule| rule.messages), Some(5));
        assert_eq!(rule_for(&rules, "/lab/quiet/x").map(|rule| rule.messages), Some(0));
        assert_eq!(rule_for(&rules, "/labs"), None);
    }

    #[test]
    fn str_51_the_last_messages_are_kept_within_count_and_bytes() {
        let texts = |replay: &Replay| replay.messages().map(|kept| kept.bytes()[2..].to_vec()).collect::<Vec<_>>();
        let mut replay = Replay::new(2, 100);
        for text in [b"a", b"b", b"c"] {
            replay.keep(&Batch::message(Kind::Text, text));
        }
        assert_eq!(texts(&replay), [b"b", b"c"]);
        replay.keep(&Batch::message(Kind::Binary, &[7; 97]));
        assert_eq!(texts(&replay), [[7; 97]]);
        replay.keep(&Batch::message(Kind::Binary, &[7; 99]));
        assert!(texts(&replay).is_empty());
    }
}
