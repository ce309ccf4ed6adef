//! The topics that exist: each from its first client to its last. Rule STR-7.
use super::reader::Reader;
use super::replay::{Replay, Rule, rule_for};
use super::route::Route;
use super::topic::Topic;
use crate::codes::Code;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// All topics of a pod.
pub struct Topics {
    open: Mutex<HashMap<Arc<str>, Open>>,
    most: usize,
    rules: Vec<Rule>,
    replay_bytes: usize,
}

struct Open {
    topic: Arc<Topic>,
    clients: usize,
}

/// One client's place on a topic; dropping it leaves.
pub struct Membership {
    topics: Arc<Topics>,
    /// The topic.
    pub topic: Arc<Topic>,
    reader: Option<u64>,
}

impl Topics {
    /// At most `most` topics, with the rules for late joiners.
    pub fn new(most: usize, rules: Vec<Rule>, replay_bytes: usize) -> Self {
        Self { open: Mutex::new(HashMap::new()), most, rules, replay_bytes }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Whether a client of this route would be let in. Cheap, and only a hint: `enter` decides.
    pub fn admits(&self, route: &Route) -> bool {
        let open = self.open.lock();
        open.len() < self.most || open.contains_key(route.topic.as_str())
    }

    /// Puts a client on its topic, which is made if this is the first.
    pub fn enter(self: &Arc<Self>, route: &Route, reader: &Arc<Reader>, now: u64) -> Result<Membership, Code> {
        let topic = self.open(&route.topic)?;
        let reader = route.role.subscribes().then(|| {
            topic.join(reader, now);
            reader.id
        });
        Ok(Membership { topics: Arc::clone(self), topic, reader })
    }

    fn open(&self, name: &str) -> Result<Arc<Topic>, Code> {
        let mut open = self.open.lock();
        if let Some(found) = open.get_mut(name) {
            found.clients += 1;
            return Ok(Arc::clone(&found.topic));
        }
        if open.len() >= self.most {
            return Err(Code::TooManyTopics);
        }
        let name: Arc<str> = name.into();
        let kept = rule_for(&self.rules, &name).filter(|rule| rule.messages > 0);
        let replay = kept.map(|rule| Replay::new(rule.messages, self.replay_bytes));
        let topic = Arc::new(Topic::new(Arc::clone(&name), replay));
        open.insert(name, Open { topic: Arc::clone(&topic), clients: 1 });
        Ok(topic)
    }

    fn leave(&self, name: &str) {
        let mut open = self.open.lock();
        let Some(found) = open.get_mut(name) else { return };
        found.clients -= 1;
        if found.clients == 0 {
            open.remove(name);
            if open.is_empty() {
                open.shrink_to_fit();
            }
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if let Some(reader) = self.reader {
            self.topic.leave(reader);
        }
        self.topics.leave(&self.topic.name);
    }
}
