//! Which topics have readers on this pod, and so which ones it subscribes to at every other pod. A topic crosses a link only while it has a
//! reader here, and once whatever the number of readers. Rules STR-93 and STR-94.
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// The subscriptions of this pod at the other pods. `T` receives the messages of one subscription.
pub struct Interest<T> {
    state: Mutex<State<T>>,
    /// Every follower acknowledged the subscriptions up to this number; `u64::MAX` without followers. A new follower lowers it.
    acknowledged: watch::Sender<u64>,
}

struct State<T> {
    /// The greatest number assigned. No number is assigned twice, so a message with the number of an ended subscription is known to be late.
    last: u64,
    subscriptions: HashMap<u64, Subscription<T>>,
    followers: HashMap<u64, FollowerState>,
    last_follower: u64,
}

struct Subscription<T> {
    name: Arc<str>,
    receiver: Arc<T>,
}

struct FollowerState {
    /// Changes that the follower has not taken. A subscription that begins and ends in between leaves no entry, so this never grows beyond the
    /// number of subscriptions.
    pending: Changes,
    changed: Arc<Notify>,
    /// The greatest number that the follower took.
    taken: u64,
    /// The subscriptions up to this number were acknowledged.
    acknowledged: u64,
}

/// By number: the name of a topic whose subscription began, or `None` for a subscription that ended.
pub(crate) type Changes = BTreeMap<u64, Option<Arc<str>>>;

/// The result of looking up a number.
pub enum Lookup<T> {
    /// The receiver of an active subscription.
    Active(Arc<T>),
    /// The subscription ended.
    Ended,
    /// The number was never assigned.
    Unknown,
}

/// Receives all changes of the subscriptions, beginning with the active ones. Dropping it ends that.
pub struct Follower<T> {
    interest: Arc<Interest<T>>,
    id: u64,
    changed: Arc<Notify>,
}

impl<T> Default for Interest<T> {
    fn default() -> Self {
        let state = State { last: 0, subscriptions: HashMap::new(), followers: HashMap::new(), last_follower: 0 };
        Self { state: Mutex::new(state), acknowledged: watch::Sender::new(u64::MAX) }
    }
}

impl<T> Interest<T> {
    /// Subscribes to a topic when it gets its first reader. Returns the number under which its messages arrive.
    pub fn subscribe(&self, name: &Arc<str>, receiver: Arc<T>) -> u64 {
        let mut state = self.state.lock();
        state.last += 1;
        let number = state.last;
        state.subscriptions.insert(number, Subscription { name: Arc::clone(name), receiver });
        for follower in state.followers.values_mut() {
            follower.notify(number, Some(Arc::clone(name)));
        }
        number
    }

    /// Ends a subscription when the last reader of its topic leaves.
    pub fn unsubscribe(&self, number: u64) {
        let mut state = self.state.lock();
        if state.subscriptions.remove(&number).is_none() {
            return;
        }
        for follower in state.followers.values_mut() {
            match follower.pending.remove(&number) {
                Some(_) => {}
                None => follower.notify(number, None),
            }
        }
    }

    /// Looks up the subscription with a number.
    pub fn find(&self, number: u64) -> Lookup<T> {
        let state = self.state.lock();
        match state.subscriptions.get(&number) {
            Some(subscription) => Lookup::Active(Arc::clone(&subscription.receiver)),
            None if number == 0 || number > state.last => Lookup::Unknown,
            None => Lookup::Ended,
        }
    }

    /// Waits until every follower acknowledged the subscription with this number, including followers that are added meanwhile. `None`: every
    /// follower did already.
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

    /// The number of active subscriptions.
    pub fn count(&self) -> usize {
        self.state.lock().subscriptions.len()
    }

    /// Adds a follower. The active subscriptions are its first changes.
    pub fn follow(self: &Arc<Self>) -> Follower<T> {
        let mut state = self.state.lock();
        state.last_follower += 1;
        let id = state.last_follower;
        let active = state.subscriptions.iter();
        let pending = active.map(|(number, subscription)| (*number, Some(Arc::clone(&subscription.name)))).collect();
        let changed = Arc::new(Notify::new());
        changed.notify_one();
        let follower = FollowerState { pending, changed: Arc::clone(&changed), taken: 0, acknowledged: 0 };
        state.followers.insert(id, follower);
        self.update_acknowledged(&state);
        Follower { interest: Arc::clone(self), id, changed }
    }

    /// Publishes the lowest number that every follower acknowledged, if it changed.
    fn update_acknowledged(&self, state: &State<T>) {
        let least = state.followers.values().map(|follower| follower.acknowledged).min().unwrap_or(u64::MAX);
        self.acknowledged.send_if_modified(|before| std::mem::replace(before, least) != least);
    }
}

impl FollowerState {
    fn notify(&mut self, number: u64, topic: Option<Arc<str>>) {
        self.pending.insert(number, topic);
        self.changed.notify_one();
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
        let mut state = self.interest.state.lock();
        state.followers.remove(&self.id);
        self.interest.update_acknowledged(&state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    fn subscribe(interest: &Interest<()>, name: &str) -> u64 {
        interest.subscribe(&name.into(), Arc::new(()))
    }

    fn taken(follower: &Follower<()>) -> Vec<(u64, Option<String>)> {
        follower.take().into_iter().map(|(number, name)| (number, name.map(|name| name.to_string()))).collect()
    }

    #[test]
    fn str_93_a_follower_takes_the_active_subscriptions_and_then_the_changes() {
        let interest = Arc::new(Interest::default());
        let a = subscribe(&interest, "/a");
        let follower = interest.follow();
        assert_eq!(taken(&follower), [(a, Some("/a".into()))]);
        let b = subscribe(&interest, "/b");
        interest.unsubscribe(a);
        assert_eq!(taken(&follower), [(a, None), (b, Some("/b".into()))]);
        assert_eq!(taken(&follower), []);
    }

    #[test]
    fn str_93_a_subscription_that_ended_before_it_was_taken_leaves_no_change() {
        let interest = Arc::new(Interest::default());
        let follower = interest.follow();
        for _ in 0..1000 {
            let number = subscribe(&interest, "/a");
            interest.unsubscribe(number);
        }
        let last = subscribe(&interest, "/a");
        assert_eq!(taken(&follower), [(last, Some("/a".into()))]);
    }

    #[test]
    fn str_94_a_number_is_never_assigned_twice() {
        let interest = Interest::default();
        let first = subscribe(&interest, "/a");
        interest.unsubscribe(first);
        let second = subscribe(&interest, "/a");
        assert!(matches!(interest.find(first), Lookup::Ended));
        assert!(matches!(interest.find(second), Lookup::Active(_)));
        assert!(matches!(interest.find(second + 1), Lookup::Unknown));
        assert!(matches!(interest.find(0), Lookup::Unknown));
    }

    /// Whether the wait is over, at once or after a poll.
    fn is_over(wait: &mut Option<impl Future<Output = ()> + Unpin>) -> bool {
        wait.as_mut().is_none_or(|wait| Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())).is_ready())
    }

    #[test]
    fn str_93_the_wait_for_a_subscription_ends_when_every_follower_acknowledged_it() {
        let interest = Arc::new(Interest::default());
        let wait = |number| interest.until_acknowledged(number).map(Box::pin);
        let first = subscribe(&interest, "/a");
        assert!(wait(first).is_none(), "no follower");
        let (one, two) = (interest.follow(), interest.follow());
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
        let interest = Arc::new(Interest::default());
        let (one, two) = (interest.follow(), interest.follow());
        let number = subscribe(&interest, "/a");
        let mut wait = interest.until_acknowledged(number).map(Box::pin);
        one.take();
        assert!(one.acknowledge(number) && !is_over(&mut wait));
        let three = interest.follow();
        drop(two);
        assert!(!is_over(&mut wait));
        three.take();
        assert!(three.acknowledge(number) && is_over(&mut wait));
    }

    #[test]
    fn str_94_only_a_number_that_was_taken_can_be_acknowledged_and_only_once() {
        let interest = Arc::new(Interest::default());
        let follower = interest.follow();
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
