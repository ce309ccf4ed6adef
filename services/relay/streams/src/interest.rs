//! Which topics are read here, told to every other pod: so that a topic crosses only while somebody here reads it, once
//! whatever the number of readers. Rules STR-93 and STR-94.
use super::topic::Topic;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// What this pod wants from the others.
pub struct Interest {
    state: Mutex<State>,
    /// Every follower acknowledged the wants up to this number; `u64::MAX` while there is none. Less when one comes.
    acknowledged: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    /// The greatest number given. None is ever given twice: what comes under an old one is known to be late.
    last: u64,
    wanted: HashMap<u64, Arc<Topic>>,
    followers: HashMap<u64, Following>,
    last_follower: u64,
}

#[derive(Default)]
struct Following {
    /// Not told yet; a want that ended before it was told is not told at all, so this never grows beyond what is wanted.
    changes: Changes,
    changed: Arc<Notify>,
    /// The greatest number that was taken.
    told: u64,
    /// The wants up to this number were acknowledged.
    acknowledged: u64,
}

/// By number: a topic that is wanted from now on, or `None` for one that no longer is.
pub type Changes = BTreeMap<u64, Option<Arc<str>>>;

/// What a number stands for.
pub enum Found {
    /// A topic that is wanted.
    Topic(Arc<Topic>),
    /// One that was.
    Late,
    /// It was never given.
    Never,
}

/// Hears what is wanted, from the beginning; dropping it ends that.
pub struct Follower {
    interest: Arc<Interest>,
    id: u64,
    changed: Arc<Notify>,
}

impl Default for Interest {
    fn default() -> Self {
        Self { state: Mutex::default(), acknowledged: watch::Sender::new(u64::MAX) }
    }
}

impl Interest {
    /// A topic has its first reader. Answers the number under which its messages come.
    pub fn want(&self, topic: &Arc<Topic>) -> u64 {
        let mut state = self.state.lock();
        state.last += 1;
        let number = state.last;
        state.wanted.insert(number, Arc::clone(topic));
        for follower in state.followers.values_mut() {
            follower.tell(number, Some(Arc::clone(&topic.name)));
        }
        number
    }

    /// Its last reader left.
    pub fn unwant(&self, number: u64) {
        let mut state = self.state.lock();
        if state.wanted.remove(&number).is_none() {
            return;
        }
        for follower in state.followers.values_mut() {
            match follower.changes.remove(&number) {
                Some(_) => {}
                None => follower.tell(number, None),
            }
        }
    }

    /// What a number stands for.
    pub fn find(&self, number: u64) -> Found {
        let state = self.state.lock();
        match state.wanted.get(&number) {
            Some(topic) => Found::Topic(Arc::clone(topic)),
            None if number == 0 || number > state.last => Found::Never,
            None => Found::Late,
        }
    }

    /// Waits until every follower acknowledged the want with this number, one that comes meanwhile too. `None`: they all have.
    pub fn until_acknowledged(&self, number: u64) -> Option<impl Future<Output = ()> + Send + use<>> {
        let mut acknowledged = self.acknowledged.subscribe();
        let is_enough = move |upto: &u64| *upto >= number;
        if is_enough(&acknowledged.borrow()) {
            return None;
        }
        Some(async move {
            let _ = acknowledged.wait_for(is_enough).await;
        })
    }

    /// How many topics are wanted.
    pub fn count(&self) -> usize {
        self.state.lock().wanted.len()
    }

    /// Begins to follow.
    pub fn follow(self: &Arc<Self>) -> Follower {
        let mut state = self.state.lock();
        state.last_follower += 1;
        let id = state.last_follower;
        let changes = state.wanted.iter().map(|(number, topic)| (*number, Some(Arc::clone(&topic.name)))).collect();
        let changed = Arc::new(Notify::new());
        changed.notify_one();
        let following = Following { changes, changed: Arc::clone(&changed), told: 0, acknowledged: 0 };
        state.followers.insert(id, following);
        self.sum_up(&state);
        Follower { interest: Arc::clone(self), id, changed }
    }

    /// Tells who waits, if the least that every follower acknowledged is another number now.
    fn sum_up(&self, state: &State) {
        let least = state.followers.values().map(|follower| follower.acknowledged).min().unwrap_or(u64::MAX);
        self.acknowledged.send_if_modified(|before| std::mem::replace(before, least) != least);
    }
}

impl Following {
    fn tell(&mut self, number: u64, topic: Option<Arc<str>>) {
        self.changes.insert(number, topic);
        self.changed.notify_one();
    }
}

impl Follower {
    /// Waits until there is something to take.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// What changed since the last time.
    pub fn take(&self) -> Changes {
        let mut state = self.interest.state.lock();
        let Some(following) = state.followers.get_mut(&self.id) else { return Changes::new() };
        let changes = std::mem::take(&mut following.changes);
        if let Some((number, _)) = changes.iter().rfind(|(_, topic)| topic.is_some()) {
            following.told = *number;
        }
        changes
    }

    /// The other end takes the want with this number, and took every want before it. False: it was never told of it, or said so
    /// before.
    pub fn acknowledge(&self, number: u64) -> bool {
        let mut state = self.interest.state.lock();
        let Some(following) = state.followers.get_mut(&self.id) else { return false };
        if number <= following.acknowledged || number > following.told {
            return false;
        }
        following.acknowledged = number;
        self.interest.sum_up(&state);
        true
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut state = self.interest.state.lock();
        state.followers.remove(&self.id);
        self.interest.sum_up(&state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    fn topic(name: &str) -> Arc<Topic> {
        Arc::new(Topic::new(name.into(), None, None))
    }

    fn told(follower: &Follower) -> Vec<(u64, Option<String>)> {
        follower.take().into_iter().map(|(number, name)| (number, name.map(|name| name.to_string()))).collect()
    }

    #[test]
    fn str_93_a_follower_is_told_what_is_wanted_already_and_what_changes() {
        let interest = Arc::new(Interest::default());
        let a = interest.want(&topic("/a"));
        let follower = interest.follow();
        assert_eq!(told(&follower), [(a, Some("/a".into()))]);
        let b = interest.want(&topic("/b"));
        interest.unwant(a);
        assert_eq!(told(&follower), [(a, None), (b, Some("/b".into()))]);
        assert_eq!(told(&follower), []);
    }

    #[test]
    fn str_93_a_want_that_ended_before_it_was_told_is_not_told() {
        let interest = Arc::new(Interest::default());
        let follower = interest.follow();
        for _ in 0..1000 {
            let number = interest.want(&topic("/a"));
            interest.unwant(number);
        }
        let last = interest.want(&topic("/a"));
        assert_eq!(told(&follower), [(last, Some("/a".into()))]);
    }

    #[test]
    fn str_94_a_number_is_never_given_twice() {
        let interest = Interest::default();
        let first = interest.want(&topic("/a"));
        interest.unwant(first);
        let second = interest.want(&topic("/a"));
        assert!(matches!(interest.find(first), Found::Late));
        assert!(matches!(interest.find(second), Found::Topic(_)));
        assert!(matches!(interest.find(second + 1), Found::Never));
        assert!(matches!(interest.find(0), Found::Never));
    }

    /// Whether the wait is over: at the first look, or later.
    fn is_over(wait: &mut Option<impl Future<Output = ()> + Unpin>) -> bool {
        wait.as_mut().is_none_or(|wait| Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())).is_ready())
    }

    #[test]
    fn str_93_a_want_is_waited_for_until_every_follower_acknowledged_it() {
        let interest = Arc::new(Interest::default());
        let wait = |number| interest.until_acknowledged(number).map(Box::pin);
        let first = interest.want(&topic("/a"));
        assert!(wait(first).is_none(), "no follower");
        let (one, two) = (interest.follow(), interest.follow());
        let second = interest.want(&topic("/b"));
        let (mut known, mut new) = (wait(first), wait(second));
        one.take();
        two.take();
        // Each acknowledgement is for all wants before it too.
        assert!(one.acknowledge(second) && two.acknowledge(first));
        assert!(is_over(&mut known) && !is_over(&mut new));
        assert!(two.acknowledge(second));
        assert!(is_over(&mut new) && wait(second).is_none());
    }

    #[test]
    fn str_93_a_follower_that_goes_is_not_waited_for_and_one_that_comes_is() {
        let interest = Arc::new(Interest::default());
        let (one, two) = (interest.follow(), interest.follow());
        let number = interest.want(&topic("/a"));
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
    fn str_94_only_what_was_told_is_acknowledged_and_once() {
        let interest = Arc::new(Interest::default());
        let follower = interest.follow();
        let numbers = [(); 3].map(|()| interest.want(&topic("/a")));
        assert!(!follower.acknowledge(numbers[0]), "not told");
        follower.take();
        interest.unwant(numbers[2]);
        let later = interest.want(&topic("/b"));
        let answers =
            [0, numbers[1], numbers[1], numbers[0], later, numbers[2]].map(|number| follower.acknowledge(number));
        assert_eq!(answers, [false, true, false, false, false, true]);
    }
}
