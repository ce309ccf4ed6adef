//! What a topic keeps for those who come late: its last messages. Off unless a rule names the topic. Rules STR-50 to STR-52.
use super::queue::Backlog;
use parley_net::ws::Batch;
use std::collections::VecDeque;
use std::sync::Arc;

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

/// Which pod a message was published on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This one.
    Here,
    /// Another, which keeps it too.
    Elsewhere,
}

/// The last messages of one topic.
#[derive(Debug)]
pub struct Replay {
    kept: VecDeque<(Batch, Origin)>,
    bytes: usize,
    most_messages: usize,
    most_bytes: usize,
    /// What all topics keep together.
    pod: Arc<Backlog>,
}

impl Replay {
    /// Keeps at most so many messages and bytes, and fewer while the pod keeps too much.
    pub fn new(most_messages: usize, most_bytes: usize, pod: Arc<Backlog>) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, most_messages, most_bytes, pod }
    }

    /// Keeps the messages of a batch, and forgets the oldest.
    pub fn keep(&mut self, batch: &Batch, origin: Origin) {
        // Those that the batch itself pushes out are not even copied.
        for frame in batch.frames(batch.count().saturating_sub(self.most_messages)) {
            // Copied, as a slice of a batch would keep all of the batch.
            let frame = if batch.count() > 1 { bytes::Bytes::copy_from_slice(&frame) } else { frame };
            self.bytes += frame.len();
            self.pod.add(frame.len());
            self.kept.push_back((Batch::framed(frame), origin));
            while self.kept.len() > self.most_messages || self.bytes > self.most_bytes || self.pod.is_over() {
                let Some((oldest, _)) = self.kept.pop_front() else { break };
                self.forget(&oldest);
            }
        }
    }

    fn forget(&mut self, message: &Batch) {
        self.bytes -= message.bytes().len();
        self.pod.remove(message.bytes().len());
    }

    /// What is kept, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Batch> {
        self.kept.iter().map(|(message, _)| message)
    }

    /// Those that were published here, oldest first.
    pub fn messages_from_here(&self) -> impl Iterator<Item = &Batch> {
        self.kept.iter().filter(|(_, origin)| *origin == Origin::Here).map(|(message, _)| message)
    }

    /// Forgets those that were published on other pods.
    pub fn forget_elsewhere(&mut self) {
        for (message, origin) in std::mem::take(&mut self.kept) {
            match origin {
                Origin::Here => self.kept.push_back((message, origin)),
                Origin::Elsewhere => self.forget(&message),
            }
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        for (message, _) in &self.kept {
            self.pod.remove(message.bytes().len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_net::ws::Kind;

    #[test]
    fn str_50_the_longest_prefix_decides() {
        let rule = |prefix: &str, messages| Rule { prefix: prefix.into(), messages };
        let rules = [rule("/lab/", 5), rule("/lab/quiet/", 0), rule("/out/", 9)];
        assert_eq!(rule_for(&rules, "/lab/x").map(|rule| rule.messages), Some(5));
        assert_eq!(rule_for(&rules, "/lab/quiet/x").map(|rule| rule.messages), Some(0));
        assert_eq!(rule_for(&rules, "/labs"), None);
    }

    fn pod(limit: u64) -> Arc<Backlog> {
        Arc::new(Backlog::new(limit))
    }

    /// As a publisher sends them in one read.
    fn read(messages: usize) -> Batch {
        let mut batches = Vec::new();
        let frames = [0x82, 0x80, 0, 0, 0, 0].repeat(messages);
        parley_net::ws::Decoder::new(1024, 1).feed(&frames, &mut |event| batches.push(event)).unwrap();
        match batches.pop() {
            Some(parley_net::ws::Event::Messages(batch)) => batch,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn str_52_a_read_full_of_messages_leaves_no_room_behind() {
        let mut replay = Replay::new(3, 100, pod(1 << 20));
        replay.keep(&read(40_000), Origin::Here);
        assert_eq!(replay.messages().count(), 3);
        assert!(replay.kept.capacity() < 100, "{}", replay.kept.capacity());
    }

    #[test]
    fn str_52_all_topics_of_a_pod_together_keep_no_more_than_it_may() {
        let pod = pod(1000);
        let mut topics: Vec<_> = (0..10).map(|_| Replay::new(3, 1000, Arc::clone(&pod))).collect();
        for topic in &mut topics {
            topic.keep(&Batch::message(Kind::Binary, &[7; 100]), Origin::Here);
        }
        let kept: Vec<_> = topics.iter().map(|topic| topic.messages().count()).collect();
        assert_eq!(kept, [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
        topics.remove(0);
        topics[8].keep(&Batch::message(Kind::Binary, &[7; 100]), Origin::Elsewhere);
        assert_eq!(topics[8].messages().count(), 1);
        topics[8].forget_elsewhere();
        topics.truncate(0);
        assert_eq!((pod.bytes(), pod.messages()), (0, 0));
    }

    #[test]
    fn str_51_the_last_messages_are_kept_within_count_and_bytes() {
        let texts = |replay: &Replay| replay.messages().map(|kept| kept.bytes()[2..].to_vec()).collect::<Vec<_>>();
        let mut replay = Replay::new(2, 100, pod(1 << 20));
        for text in [b"a", b"b", b"c"] {
            replay.keep(&Batch::message(Kind::Text, text), Origin::Here);
        }
        assert_eq!(texts(&replay), [b"b", b"c"]);
        replay.keep(&Batch::message(Kind::Binary, &[7; 97]), Origin::Here);
        assert_eq!(texts(&replay), [[7; 97]]);
        replay.keep(&Batch::message(Kind::Binary, &[7; 99]), Origin::Here);
        assert!(texts(&replay).is_empty());
    }

    #[test]
    fn str_96_what_other_pods_keep_too_is_told_apart_and_forgotten() {
        let mut replay = Replay::new(3, 8, pod(1 << 20));
        replay.keep(&Batch::message(Kind::Text, b"a"), Origin::Here);
        replay.keep(&Batch::message(Kind::Text, b"b"), Origin::Elsewhere);
        assert_eq!((replay.messages().count(), replay.messages_from_here().count()), (2, 1));
        replay.forget_elsewhere();
        // Its bytes are free again: with them there would be no room for this.
        replay.keep(&Batch::message(Kind::Text, b"cc"), Origin::Here);
        assert_eq!(replay.messages().count(), 2);
    }
}
