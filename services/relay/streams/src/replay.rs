//! The last messages of a topic, which it keeps for late subscribers if a rule matches its name. Rules STR-50 to STR-52.
use super::hop::{Hop, Stamp};
use super::queue::Backlog;
use parley_net::ws::Batch;
use std::collections::VecDeque;
use std::sync::Arc;

/// A rule: topics whose names begin with `prefix` keep their last `messages` messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The prefix, such as `/lab/` or `/out/camera`.
    pub prefix: String,
    /// The number of messages.
    pub messages: usize,
}

/// The rule for a topic: the matching one with the longest prefix.
pub(crate) fn rule_for<'a>(rules: &'a [Rule], topic: &str) -> Option<&'a Rule> {
    rules.iter().filter(|rule| topic.starts_with(&rule.prefix)).max_by_key(|rule| rule.prefix.len())
}

/// The last messages of one topic.
#[derive(Debug)]
pub struct Replay {
    kept: VecDeque<Kept>,
    bytes: usize,
    max_messages: usize,
    max_bytes: usize,
    /// What all topics of the pod keep.
    pod: Arc<Backlog>,
}

#[derive(Debug)]
struct Kept {
    message: Batch,
    hop: Hop,
    stamp: Stamp,
}

impl Replay {
    /// Keeps at most `max_messages` and `max_bytes`, and less while the pod exceeds its limit.
    pub fn new(max_messages: usize, max_bytes: usize, pod: Arc<Backlog>) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, max_messages, max_bytes, pod }
    }

    /// Keeps the messages of a batch, and drops the oldest ones over the limits.
    pub fn keep(&mut self, batch: &Batch, hop: Hop, stamp: Stamp) {
        // Messages that later ones of the same batch would displace are not copied.
        let first = batch.count().saturating_sub(self.max_messages);
        for (index, frame) in batch.frames(first).enumerate() {
            // Copied, because a slice would keep the memory of the whole batch.
            let frame = if batch.count() > 1 { bytes::Bytes::copy_from_slice(&frame) } else { frame };
            self.bytes += frame.len();
            self.pod.add(frame.len());
            self.kept.push_back(Kept { message: Batch::framed(frame), hop, stamp: stamp.at(first + index) });
            while self.kept.len() > self.max_messages || self.bytes > self.max_bytes || self.pod.is_over() {
                let Some(oldest) = self.kept.pop_front() else { break };
                self.forget(&oldest.message);
            }
        }
    }

    fn forget(&mut self, message: &Batch) {
        self.bytes -= message.bytes().len();
        self.pod.remove(message.bytes().len());
    }

    /// The kept messages, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Batch> {
        self.kept.iter().map(|kept| &kept.message)
    }

    /// The kept messages that go to a subscription of another pod for messages of this hop, oldest first. A pod that has become the port of a topic
    /// also has messages that came from the port before. These go to pods of its region alone.
    pub(crate) fn messages_for(&self, requested: Hop) -> impl Iterator<Item = (&Batch, Stamp)> {
        let goes = move |hop: Hop| hop.goes_to(requested) || (hop, requested) == (Hop::Inland, Hop::Inland);
        self.kept.iter().filter(move |kept| goes(kept.hop)).map(|kept| (&kept.message, kept.stamp))
    }

    /// Drops the messages that came in this way.
    pub(crate) fn forget_hops(&mut self, hops: &[Hop]) {
        for kept in std::mem::take(&mut self.kept) {
            match hops.contains(&kept.hop) {
                true => self.forget(&kept.message),
                false => self.kept.push_back(kept),
            }
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        for kept in &self.kept {
            self.pod.remove(kept.message.bytes().len());
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

    /// A batch of this many messages, as decoded from one read.
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
    fn str_52_a_batch_of_many_messages_leaves_no_spare_capacity() {
        let mut replay = Replay::new(3, 100, pod(1 << 20));
        replay.keep(&read(40_000), Hop::Local, Stamp::default());
        assert_eq!(replay.messages().count(), 3);
        assert!(replay.kept.capacity() < 100, "{}", replay.kept.capacity());
    }

    #[test]
    fn str_52_all_topics_of_a_pod_together_stay_within_its_limit() {
        let pod = pod(1000);
        let mut topics: Vec<_> = (0..10).map(|_| Replay::new(3, 1000, Arc::clone(&pod))).collect();
        for topic in &mut topics {
            topic.keep(&Batch::message(Kind::Binary, &[7; 100]), Hop::Local, Stamp::default());
        }
        let kept: Vec<_> = topics.iter().map(|topic| topic.messages().count()).collect();
        assert_eq!(kept, [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
        topics.remove(0);
        topics[8].keep(&Batch::message(Kind::Binary, &[7; 100]), Hop::Region, Stamp::default());
        assert_eq!(topics[8].messages().count(), 1);
        topics[8].forget_hops(&[Hop::Region]);
        topics.truncate(0);
        assert_eq!((pod.bytes(), pod.messages()), (0, 0));
    }

    #[test]
    fn str_51_the_last_messages_are_kept_within_count_and_bytes() {
        let texts = |replay: &Replay| replay.messages().map(|kept| kept.bytes()[2..].to_vec()).collect::<Vec<_>>();
        let mut replay = Replay::new(2, 100, pod(1 << 20));
        for text in [b"a", b"b", b"c"] {
            replay.keep(&Batch::message(Kind::Text, text), Hop::Local, Stamp::default());
        }
        assert_eq!(texts(&replay), [b"b", b"c"]);
        replay.keep(&Batch::message(Kind::Binary, &[7; 97]), Hop::Local, Stamp::default());
        assert_eq!(texts(&replay), [[7; 97]]);
        replay.keep(&Batch::message(Kind::Binary, &[7; 99]), Hop::Local, Stamp::default());
        assert!(texts(&replay).is_empty());
    }

    #[test]
    fn str_96_messages_of_other_pods_are_distinguished_and_dropped() {
        let mut replay = Replay::new(3, 8, pod(1 << 20));
        replay.keep(&Batch::message(Kind::Text, b"a"), Hop::Local, Stamp::default());
        replay.keep(&Batch::message(Kind::Text, b"b"), Hop::Region, Stamp::default());
        assert_eq!((replay.messages().count(), replay.messages_for(Hop::Region).count()), (2, 1));
        replay.forget_hops(&[Hop::Region]);
        // This fits only because the bytes of the dropped message are free again.
        replay.keep(&Batch::message(Kind::Text, b"cc"), Hop::Local, Stamp::default());
        assert_eq!(replay.messages().count(), 2);
    }

    #[test]
    fn str_144_kept_messages_have_the_stamps_with_which_they_came_and_go_on_by_their_hop() {
        let mut replay = Replay::new(5, 1000, pod(1 << 20));
        replay.keep(&read(10), Hop::Local, Stamp { origin: 1, sequence: 100 });
        for (hop, origin) in [(Hop::Region, 2), (Hop::Inland, 4), (Hop::Ocean, 3)] {
            replay.keep(&read(1), hop, Stamp { origin, sequence: 5 });
        }
        let stamps = |requested| {
            let kept = replay.messages_for(requested);
            kept.map(|(_, stamp)| (stamp.origin, stamp.sequence)).collect::<Vec<_>>()
        };
        assert_eq!(stamps(Hop::Region), [(1, 108), (1, 109)]);
        assert_eq!(stamps(Hop::Ocean), [(1, 108), (1, 109), (2, 5)]);
        assert_eq!(stamps(Hop::Inland), [(4, 5), (3, 5)]);
        replay.forget_hops(&[Hop::Ocean, Hop::Inland]);
        assert_eq!(replay.messages().count(), 3);
    }
}
