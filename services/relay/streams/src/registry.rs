//! The topics that exist: each from its first client to its last. Rule STR-7.
use super::hop::Hop;
use super::interest::Interest;
use super::queue::Backlog;
use super::reader::Reader;
use super::replay::{Replay, Rule, rule_for};
use super::route::Route;
use super::topic::{RemoteSubscriber, Topic};
use parking_lot::Mutex;
use parley_net::codes::Code;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// All topics of a pod.
pub struct Topics {
    state: Mutex<State>,
    max: usize,
    rules: Vec<Rule>,
    replay_bytes: usize,
    /// The messages that all topics together keep for late subscribers.
    kept: Arc<Backlog>,
    interest: Option<Arc<Interest<Topic>>>,
    began: Instant,
}

#[derive(Default)]
struct State {
    open: HashMap<Arc<str>, Open>,
    /// The subscriptions of other pods, whether or not the topic is open here.
    remotes: HashMap<Arc<str>, Vec<Arc<dyn RemoteSubscriber>>>,
}

struct Open {
    topic: Arc<Topic>,
    /// Clients, and subscriptions of other pods that make this pod a port.
    clients: usize,
}

/// The membership of one client in a topic. Dropping it removes the client.
pub struct Membership {
    topics: Arc<Topics>,
    /// The topic.
    pub topic: Arc<Topic>,
    reader: Option<u64>,
}

impl Topics {
    /// A registry of at most `max` topics, with the replay rules. With `interest`, the pod subscribes at the other pods to topics with readers.
    /// A topic keeps at most `replay_bytes`, all topics together at most the limit of `kept`.
    pub fn new(
        max: usize,
        rules: Vec<Rule>,
        replay_bytes: usize,
        kept: Arc<Backlog>,
        interest: Option<Arc<Interest<Topic>>>,
    ) -> Self {
        Self { state: Mutex::default(), max, rules, replay_bytes, kept, interest, began: Instant::now() }
    }

    /// The messages that all topics together keep for late subscribers.
    pub fn kept(&self) -> &Backlog {
        &self.kept
    }

    /// The number of open topics.
    pub fn count(&self) -> usize {
        self.state.lock().open.len()
    }

    /// Whether a client of this route would be admitted. Cheap, and only a hint: `enter` decides.
    pub fn admits(&self, route: &Route) -> bool {
        let open = &self.state.lock().open;
        open.len() < self.max || open.contains_key(route.topic.as_str())
    }

    /// Adds a client to its topic, which is created for the first client.
    pub fn enter(self: &Arc<Self>, route: &Route, reader: &Arc<Reader>, now: u64) -> Result<Membership, Code> {
        let topic = self.open(&mut self.state.lock(), &route.topic)?;
        let reader = route.role.subscribes().then(|| {
            topic.join(reader, now);
            reader.id
        });
        Ok(Membership { topics: Arc::clone(self), topic, reader })
    }

    fn open(&self, state: &mut State, name: &str) -> Result<Arc<Topic>, Code> {
        let State { open, remotes } = state;
        if let Some(found) = open.get_mut(name) {
            found.clients += 1;
            return Ok(Arc::clone(&found.topic));
        }
        if open.len() >= self.max {
            return Err(Code::TooManyTopics);
        }
        let name: Arc<str> = name.into();
        let kept = rule_for(&self.rules, &name).filter(|rule| rule.messages > 0);
        let replay = kept.map(|rule| Replay::new(rule.messages, self.replay_bytes, Arc::clone(&self.kept)));
        // A topic sends less than one message in a nanosecond, so one that opens again continues above its earlier numbers.
        let sequence = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let topic = Arc::new(Topic::new(Arc::clone(&name), replay, self.interest.clone(), sequence));
        for remote in remotes.get(&name).into_iter().flatten() {
            topic.attach(remote, false);
        }
        open.insert(name, Open { topic: Arc::clone(&topic), clients: 1 });
        Ok(topic)
    }

    /// Adds the subscription of another pod. It takes effect whenever the topic is open here, now or later. A subscription that makes this pod
    /// a port opens the topic itself: refused with TOO_MANY_TOPICS over `pod.topics`.
    pub fn subscribe(&self, name: &Arc<str>, remote: &Arc<dyn RemoteSubscriber>, replay: bool) -> Result<(), Code> {
        let mut state = self.state.lock();
        if remote.hop() != Hop::Region {
            self.open(&mut state, name)?;
        }
        let State { open, remotes } = &mut *state;
        remotes.entry(Arc::clone(name)).or_default().push(Arc::clone(remote));
        if let Some(found) = open.get(name) {
            found.topic.attach(remote, replay);
        }
        Ok(())
    }

    /// Removes the subscription of another pod.
    pub fn unsubscribe(&self, name: &str, remote: &Arc<dyn RemoteSubscriber>) {
        let mut state = self.state.lock();
        let State { open, remotes } = &mut *state;
        if let Some(subscribers) = remotes.get_mut(name) {
            subscribers.retain(|other| !Arc::ptr_eq(other, remote));
            if subscribers.is_empty() {
                remotes.remove(name);
            }
        }
        if let Some(found) = open.get(name) {
            found.topic.detach(remote);
        }
        if remote.hop() != Hop::Region {
            state.leave(name);
        }
    }
}

impl State {
    fn leave(&mut self, name: &str) {
        let open = &mut self.open;
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
    /// Waits until every linked pod sends the topic here. `None`: all do already, there are none, or the client does not subscribe.
    pub fn until_acknowledged(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        self.reader.and_then(|_| self.topic.until_acknowledged())
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if let Some(reader) = self.reader {
            self.topic.leave(reader);
        }
        self.topics.state.lock().leave(&self.topic.name);
    }
}
