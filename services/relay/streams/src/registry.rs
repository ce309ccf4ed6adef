//! The topics that exist: each from its first client to its last. Rule STR-7.
use super::interest::Interest;
use super::queue::Backlog;
use super::reader::Reader;
use super::replay::{Replay, Rule, rule_for};
use super::route::Route;
use super::topic::{Remote, Topic};
use parking_lot::Mutex;
use parley_net::codes::Code;
use std::collections::HashMap;
use std::sync::Arc;

/// All topics of a pod.
pub struct Topics {
    state: Mutex<State>,
    most: usize,
    rules: Vec<Rule>,
    replay_bytes: usize,
    /// What all of them keep for late joiners.
    kept: Arc<Backlog>,
    interest: Option<Arc<Interest>>,
}

#[derive(Default)]
struct State {
    open: HashMap<Arc<str>, Open>,
    /// The pods that want a topic, whether or not it is open here.
    remotes: HashMap<Arc<str>, Vec<Arc<dyn Remote>>>,
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
    /// At most `most` topics, with the rules for late joiners. With `interest`, other pods are told what is read here.
    /// A topic keeps at most `replay_bytes`, all of them what `kept` may hold.
    pub fn new(
        most: usize,
        rules: Vec<Rule>,
        replay_bytes: usize,
        kept: Arc<Backlog>,
        interest: Option<Arc<Interest>>,
    ) -> Self {
        Self { state: Mutex::default(), most, rules, replay_bytes, kept, interest }
    }

    /// What all of them keep for late joiners.
    pub fn kept(&self) -> &Backlog {
        &self.kept
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.state.lock().open.len()
    }

    /// Whether a client of this route would be let in. Cheap, and only a hint: `enter` decides.
    pub fn admits(&self, route: &Route) -> bool {
        let open = &self.state.lock().open;
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
        let State { open, remotes } = &mut *self.state.lock();
        if let Some(found) = open.get_mut(name) {
            found.clients += 1;
            return Ok(Arc::clone(&found.topic));
        }
        if open.len() >= self.most {
            return Err(Code::TooManyTopics);
        }
        let name: Arc<str> = name.into();
        let kept = rule_for(&self.rules, &name).filter(|rule| rule.messages > 0);
        let replay = kept.map(|rule| Replay::new(rule.messages, self.replay_bytes, Arc::clone(&self.kept)));
        let topic = Arc::new(Topic::new(Arc::clone(&name), replay, self.interest.clone()));
        for remote in remotes.get(&name).into_iter().flatten() {
            topic.attach(remote, false);
        }
        open.insert(name, Open { topic: Arc::clone(&topic), clients: 1 });
        Ok(topic)
    }

    /// Another pod wants a topic: from now on while it is open here, now or later.
    pub fn want(&self, name: &Arc<str>, remote: &Arc<dyn Remote>, replay: bool) {
        let State { open, remotes } = &mut *self.state.lock();
        remotes.entry(Arc::clone(name)).or_default().push(Arc::clone(remote));
        if let Some(found) = open.get(name) {
            found.topic.attach(remote, replay);
        }
    }

    /// It no longer does.
    pub fn unwant(&self, name: &str, remote: &Arc<dyn Remote>) {
        let State { open, remotes } = &mut *self.state.lock();
        if let Some(wanting) = remotes.get_mut(name) {
            wanting.retain(|other| !Arc::ptr_eq(other, remote));
            if wanting.is_empty() {
                remotes.remove(name);
            }
        }
        if let Some(found) = open.get(name) {
            found.topic.detach(remote);
        }
    }

    fn leave(&self, name: &str) {
        let open = &mut self.state.lock().open;
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

impl Membership {
    /// Waits until every linked pod sends what the client hears. `None`: they do, there are none, or it hears nothing.
    pub fn until_acknowledged(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        self.reader.and_then(|_| self.topic.until_acknowledged())
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
