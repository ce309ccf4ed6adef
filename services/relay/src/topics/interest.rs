//! Which topics are read here, told to every other pod: so that a topic crosses only while somebody here reads it, once
//! whatever the number of readers. Rules STR-93 and STR-94.
use super::topic::Topic;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::Notify;

/// What this pod wants from the others.
#[derive(Default)]
pub struct Interest {
    state: Mutex<State>,
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
        state.followers.insert(id, Following { changes, changed: Arc::clone(&changed) });
        Follower { interest: Arc::clone(self), id, changed }
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
        state.followers.get_mut(&self.id).map(|following| std::mem::take(&mut following.changes)).unwrap_or_default()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.interest.state.lock().followers.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
