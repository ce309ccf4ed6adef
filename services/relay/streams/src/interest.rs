//! Which topics have readers on this pod, and so which ones it subscribes to at every other pod of the region, and at which pod it requests the
//! messages of other regions. A topic crosses a link only while it has a reader behind it, and once whatever the number of readers.
//! Rules STR-93, STR-94, STR-140 and STR-143.
use crate::crossing::{Crossing, Own, Peer, Route, rank, targets};
use crate::hop::Hop;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// The subscriptions of this pod at the other pods. `T` receives the messages of one subscription.
pub struct Interest<T> {
    own: Own,
    state: Mutex<State<T>>,
    /// Every follower of the region acknowledged the subscriptions up to this number; `u64::MAX` without followers. A new follower lowers it.
    acknowledged: watch::Sender<u64>,
}

struct State<T> {
    /// The greatest number assigned. No number is assigned twice, so a message with the number of an ended subscription is known to be late.
    last: u64,
    subscriptions: HashMap<u64, Subscription<T>>,
    /// The topics whose messages of other regions are requested.
    crossings: HashMap<Arc<str>, Crossing<T>>,
    followers: HashMap<u64, FollowerState>,
    last_follower: u64,
}

struct Subscription<T> {
    name: Arc<str>,
    hop: Hop,
    /// The follower that has it alone; `None`: every follower of the region has it.
    follower: Option<u64>,
    receiver: Arc<T>,
}

struct FollowerState {
    peer: Peer,
    /// Changes that the follower has not taken. A subscription that begins and ends in between leaves no entry, so this never grows beyond the
    /// number of subscriptions.
    pending: Changes,
    changed: Arc<Notify>,
    /// The greatest number that the follower took.
    taken: u64,
    /// The subscriptions up to this number were acknowledged.
    acknowledged: u64,
}

/// By number: the topic whose subscription began, with the hop of the messages, or `None` for a subscription that ended.
pub(crate) type Changes = BTreeMap<u64, Option<(Hop, Arc<str>)>>;

/// The result of looking up a number.
pub enum Lookup<T> {
    /// The receiver of an active subscription, and the hop of its messages.
    Active(Arc<T>, Hop),
    /// The subscription ended.
    Ended,
    /// The number was never assigned, or belongs to a subscription at another peer.
    Unknown,
}

/// Receives the changes of the subscriptions at one peer, beginning with the active ones. Dropping it ends that.
pub struct Follower<T> {
    interest: Arc<Interest<T>>,
    id: u64,
    changed: Arc<Notify>,
}

impl<T> Interest<T> {
    /// The interest of this pod, without subscriptions and peers.
    pub fn new(own: Own) -> Self {
        let state = State {
            last: 0,
            subscriptions: HashMap::new(),
            crossings: HashMap::new(),
            followers: HashMap::new(),
            last_follower: 0,
        };
        Self { own, state: Mutex::new(state), acknowledged: watch::Sender::new(u64::MAX) }
    }

    /// This pod.
    pub fn own(&self) -> &Own {
        &self.own
    }

    /// Subscribes to a topic at the pods of this region. Returns the number under which its messages arrive.
    pub fn subscribe(&self, name: &Arc<str>, receiver: Arc<T>) -> u64 {
        let mut state = self.state.lock();
        let number = state.add(name, Hop::Region, None, receiver);
        for follower in state.followers.values_mut().filter(|follower| follower.peer.region.is_none()) {
            follower.notify(number, Some((Hop::Region, Arc::clone(name))));
        }
        number
    }

    /// Ends such a subscription.
    pub fn unsubscribe(&self, number: u64) {
        let mut state = self.state.lock();
        if state.subscriptions.remove(&number).is_some() {
            for follower in state.followers.values_mut().filter(|follower| follower.peer.region.is_none()) {
                follower.end(number);
            }
        }
    }

    /// Requests the messages of other regions. `serves`: other pods of the region request them here.
    pub fn cross(&self, name: &Arc<str>, receiver: &Arc<T>, serves: bool) {
        let state = &mut *self.state.lock();
        let new = || Crossing { receiver: Arc::clone(receiver), serves, routes: Vec::new() };
        state.crossings.entry(Arc::clone(name)).or_insert_with(new).serves = serves;
        state.route(&self.own, name);
    }

    /// Requests them no more.
    pub fn uncross(&self, name: &str) {
        let mut state = self.state.lock();
        for route in state.crossings.remove(name).into_iter().flat_map(|crossing| crossing.routes) {
            state.end(&route);
        }
    }

    /// Waits until every follower of the region acknowledged the subscription with this number, including followers that are added meanwhile.
    /// `None`: every one did already. Pods of other regions are not waited for.
    pub fn until_acknowledged(&self, number: u64) -> Option<impl Future<Output = ()> + Send + use<T>> {
        let mut acknowledged = self.acknowledged.subscribe();
        let is_enough = move |upto: &u64| *upto >= number;
        if is_enough(&acknowledged.borrow()) {
            return None;
        }
        Some(async move {
            let _ = acknowledged.wait_for(is_enough).await;
        })
    }

    /// Adds a follower for the link to a peer. The active subscriptions are its first changes.
    pub fn follow(self: &Arc<Self>, peer: Peer) -> Follower<T> {
        let state = &mut *self.state.lock();
        state.last_follower += 1;
        let id = state.last_follower;
        let is_near = peer.region.is_none();
        let active = state.subscriptions.iter().filter(|(_, active)| is_near && active.hop == Hop::Region);
        let pending = active.map(|(number, active)| (*number, Some((active.hop, Arc::clone(&active.name))))).collect();
        let changed = Arc::new(Notify::new());
        changed.notify_one();
        let changed_topics = state.topics_that_choose(&peer, &self.own);
        let follower = FollowerState { peer, pending, changed: Arc::clone(&changed), taken: 0, acknowledged: 0 };
        state.followers.insert(id, follower);
        changed_topics.iter().for_each(|name| state.route(&self.own, name));
        self.update_acknowledged(state);
        Follower { interest: Arc::clone(self), id, changed }
    }

    /// Publishes the lowest number that every follower of the region acknowledged, if it changed.
    fn update_acknowledged(&self, state: &State<T>) {
        let near = state.followers.values().filter(|follower| follower.peer.region.is_none());
        let least = near.map(|follower| follower.acknowledged).min().unwrap_or(u64::MAX);
        self.acknowledged.send_if_modified(|before| std::mem::replace(before, least) != least);
    }
}

impl<T> State<T> {
    fn add(&mut self, name: &Arc<str>, hop: Hop, follower: Option<u64>, receiver: Arc<T>) -> u64 {
        self.last += 1;
        self.subscriptions.insert(self.last, Subscription { name: Arc::clone(name), hop, follower, receiver });
        self.last
    }

    /// Subscribes to a topic at the peers that are its ports now, and ends the subscriptions at those that were.
    fn route(&mut self, own: &Own, name: &Arc<str>) {
        let Some(crossing) = self.crossings.get_mut(name) else { return };
        let peers = self.followers.iter().map(|(id, follower)| (*id, &follower.peer));
        let mut wanted = targets(name, crossing.serves, own, peers);
        let ended: Vec<Route> = crossing.routes.extract_if(.., |route| !wanted.contains(&route.target)).collect();
        wanted.retain(|target| !crossing.routes.iter().any(|route| route.target == *target));
        let receiver = Arc::clone(&crossing.receiver);
        for route in ended {
            self.end(&route);
        }
        for target in wanted {
            let number = self.add(name, target.1, Some(target.0), Arc::clone(&receiver));
            if let Some(follower) = self.followers.get_mut(&target.0) {
                follower.notify(number, Some((target.1, Arc::clone(name))));
            }
            if let Some(crossing) = self.crossings.get_mut(name) {
                crossing.routes.push(Route { target, number });
            }
        }
    }

    fn end(&mut self, route: &Route) {
        self.subscriptions.remove(&route.number);
        if let Some(follower) = self.followers.get_mut(&route.target.0) {
            follower.end(route.number);
        }
    }

    /// The topics of which a new peer becomes a port: it beats the one that is chosen now. All other topics keep their ports, and are not
    /// looked at again, as links open while messages flow.
    fn topics_that_choose(&self, new: &Peer, own: &Own) -> Vec<Arc<str>> {
        let is_better = |name: &str, than: &str| rank(name, &new.name) > rank(name, than);
        let is_chosen = |(name, crossing): &(&Arc<str>, &Crossing<T>)| {
            let mut ports = crossing.routes.iter().filter_map(|route| self.followers.get(&route.target.0));
            match ports.find(|port| port.peer.region == new.region) {
                Some(port) => is_better(name, &port.peer.name),
                None if new.region.is_some() => crossing.routes.iter().all(|route| route.target.1 == Hop::Ocean),
                None => !own.is_port || (!crossing.serves && is_better(name, &own.name)),
            }
        };
        let crossings = self.crossings.iter().filter(|_| new.is_port);
        crossings.filter(is_chosen).map(|(name, _)| Arc::clone(name)).collect()
    }

    /// The topics of which a peer is a port.
    fn topics_at(&self, follower: u64) -> Vec<Arc<str>> {
        let is_at = |crossing: &Crossing<T>| crossing.routes.iter().any(|route| route.target.0 == follower);
        self.crossings.iter().filter(|(_, crossing)| is_at(crossing)).map(|(name, _)| Arc::clone(name)).collect()
    }
}

impl FollowerState {
    fn notify(&mut self, number: u64, topic: Option<(Hop, Arc<str>)>) {
        self.pending.insert(number, topic);
        self.changed.notify_one();
    }

    /// A subscription that was not taken leaves no change.
    fn end(&mut self, number: u64) {
        if self.pending.remove(&number).is_none() {
            self.notify(number, None);
        }
    }
}

impl<T> Follower<T> {
    /// Waits until there are changes to take.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Takes the changes since the last call.
    pub fn take(&self) -> Changes {
        let mut state = self.interest.state.lock();
        let Some(follower) = state.followers.get_mut(&self.id) else { return Changes::new() };
        let changes = std::mem::take(&mut follower.pending);
        if let Some((number, _)) = changes.iter().rfind(|(_, topic)| topic.is_some()) {
            follower.taken = *number;
        }
        changes
    }

    /// Looks up the subscription with a number that the peer sent.
    pub fn find(&self, number: u64) -> Lookup<T> {
        let state = self.interest.state.lock();
        match state.subscriptions.get(&number) {
            Some(active) if active.follower.is_none_or(|id| id == self.id) => {
                Lookup::Active(Arc::clone(&active.receiver), active.hop)
            }
            Some(_) => Lookup::Unknown,
            None if number == 0 || number > state.last => Lookup::Unknown,
            None => Lookup::Ended,
        }
    }

    /// Records that the peer acknowledged the subscription with this number, and every one before it. Returns false if the follower has not
    /// taken that number, or acknowledged it before.
    pub fn acknowledge(&self, number: u64) -> bool {
        let mut state = self.interest.state.lock();
        let Some(follower) = state.followers.get_mut(&self.id) else { return false };
        if number <= follower.acknowledged || number > follower.taken {
            return false;
        }
        follower.acknowledged = number;
        self.interest.update_acknowledged(&state);
        true
    }
}

impl<T> Drop for Follower<T> {
    fn drop(&mut self) {
        let state = &mut *self.interest.state.lock();
        state.followers.remove(&self.id);
        for name in state.topics_at(self.id) {
            state.route(&self.interest.own, &name);
        }
        self.interest.update_acknowledged(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    fn interest() -> Arc<Interest<()>> {
        Arc::new(Interest::new(Own { name: "eu_0".into(), origin: 1, is_port: false }))
    }

    fn near(name: &str) -> Peer {
        Peer { name: name.into(), region: None, is_port: false }
    }

    fn subscribe(interest: &Interest<()>, name: &str) -> u64 {
        interest.subscribe(&name.into(), Arc::new(()))
    }

    fn taken(follower: &Follower<()>) -> Vec<(u64, Option<String>)> {
        follower.take().into_iter().map(|(number, topic)| (number, topic.map(|(_, name)| name.to_string()))).collect()
    }

    #[test]
    fn str_93_a_follower_takes_the_active_subscriptions_and_then_the_changes() {
        let interest = interest();
        let a = subscribe(&interest, "/a");
        let follower = interest.follow(near("eu_1"));
        assert_eq!(taken(&follower), [(a, Some("/a".into()))]);
        let b = subscribe(&interest, "/b");
        interest.unsubscribe(a);
        assert_eq!(taken(&follower), [(a, None), (b, Some("/b".into()))]);
        assert_eq!(taken(&follower), []);
    }

    #[test]
    fn str_93_a_subscription_that_ended_before_it_was_taken_leaves_no_change() {
        let interest = interest();
        let follower = interest.follow(near("eu_1"));
        for _ in 0..1000 {
            let number = subscribe(&interest, "/a");
            interest.unsubscribe(number);
        }
        let last = subscribe(&interest, "/a");
        assert_eq!(taken(&follower), [(last, Some("/a".into()))]);
    }

    #[test]
    fn str_94_a_number_is_never_assigned_twice() {
        let interest = interest();
        let follower = interest.follow(near("eu_1"));
        let first = subscribe(&interest, "/a");
        interest.unsubscribe(first);
        let second = subscribe(&interest, "/a");
        assert!(matches!(follower.find(first), Lookup::Ended));
        assert!(matches!(follower.find(second), Lookup::Active(_, Hop::Region)));
        assert!(matches!(follower.find(second + 1), Lookup::Unknown));
        assert!(matches!(follower.find(0), Lookup::Unknown));
    }

    /// Whether the wait is over, at once or after a poll.
    fn is_over(wait: &mut Option<impl Future<Output = ()> + Unpin>) -> bool {
        wait.as_mut().is_none_or(|wait| Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())).is_ready())
    }

    #[test]
    fn str_93_the_wait_for_a_subscription_ends_when_every_follower_acknowledged_it() {
        let interest = interest();
        let wait = |number| interest.until_acknowledged(number).map(Box::pin);
        let first = subscribe(&interest, "/a");
        assert!(wait(first).is_none(), "no follower");
        let (one, two) = (interest.follow(near("eu_1")), interest.follow(near("eu_2")));
        let second = subscribe(&interest, "/b");
        let (mut known, mut new) = (wait(first), wait(second));
        one.take();
        two.take();
        // An acknowledgement covers all subscriptions before it.
        assert!(one.acknowledge(second) && two.acknowledge(first));
        assert!(is_over(&mut known) && !is_over(&mut new));
        assert!(two.acknowledge(second));
        assert!(is_over(&mut new) && wait(second).is_none());
    }

    #[test]
    fn str_93_the_wait_ignores_a_follower_that_was_dropped_and_includes_a_new_one() {
        let interest = interest();
        let (one, two) = (interest.follow(near("eu_1")), interest.follow(near("eu_2")));
        let number = subscribe(&interest, "/a");
        let mut wait = interest.until_acknowledged(number).map(Box::pin);
        one.take();
        assert!(one.acknowledge(number) && !is_over(&mut wait));
        let three = interest.follow(near("eu_3"));
        drop(two);
        assert!(!is_over(&mut wait));
        three.take();
        assert!(three.acknowledge(number) && is_over(&mut wait));
    }

    #[test]
    fn str_94_only_a_number_that_was_taken_can_be_acknowledged_and_only_once() {
        let interest = interest();
        let follower = interest.follow(near("eu_1"));
        let numbers = [(); 3].map(|()| subscribe(&interest, "/a"));
        assert!(!follower.acknowledge(numbers[0]), "not taken");
        follower.take();
        interest.unsubscribe(numbers[2]);
        let later = subscribe(&interest, "/b");
        let answers =
            [0, numbers[1], numbers[1], numbers[0], later, numbers[2]].map(|number| follower.acknowledge(number));
        assert_eq!(answers, [false, true, false, false, false, true]);
    }
}
