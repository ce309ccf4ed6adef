//! The order of the subscriptions of one session: which of its streams are sent first.
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The subscriptions of a session in their order. Higher priorities come first, and of equal ones the older subscription, as the sequences of groups
/// of different tracks cannot be compared.
#[derive(Default)]
pub(crate) struct Ranks(Mutex<Vec<Arc<Rank>>>);

/// The place of one subscription.
pub(crate) struct Rank {
    id: u64,
    priority: AtomicU8,
    order: AtomicU8,
}

impl Rank {
    /// Returns the order of the streams of its newest group, and of older ones. Higher values are sent first.
    pub fn order(&self, newest: bool) -> u8 {
        let order = self.order.load(Ordering::Relaxed);
        if newest { order } else { order.saturating_sub(1) }
    }
}

impl Ranks {
    /// Adds a subscription.
    pub fn enter(&self, id: u64, priority: u8) -> Arc<Rank> {
        let rank = Arc::new(Rank { id, priority: AtomicU8::new(priority), order: AtomicU8::default() });
        let mut all = self.0.lock();
        all.push(rank.clone());
        arrange(&mut all);
        rank
    }

    /// Changes the priority of a subscription. Streams of others have their new order from their next group.
    pub fn change(&self, rank: &Rank, priority: u8) {
        rank.priority.store(priority, Ordering::Relaxed);
        arrange(&mut self.0.lock());
    }

    /// Removes a subscription.
    pub fn leave(&self, rank: &Arc<Rank>) {
        let mut all = self.0.lock();
        all.retain(|other| !Arc::ptr_eq(other, rank));
        arrange(&mut all);
    }
}

/// Each subscription has two values: for its newest group, and for older ones. Those after the 127th share the last.
fn arrange(all: &mut [Arc<Rank>]) {
    all.sort_by_key(|rank| (u8::MAX - rank.priority.load(Ordering::Relaxed), rank.id));
    for (place, rank) in all.iter().enumerate() {
        let order = u8::MAX - 2 * u8::try_from(place).unwrap_or(u8::MAX).min(127);
        rank.order.store(order, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn med_72_the_newest_group_of_a_higher_priority_is_sent_first() {
        let ranks = Ranks::default();
        let (video, sound, second) = (ranks.enter(1, 1), ranks.enter(2, 2), ranks.enter(3, 1));
        let orders = || [&sound, &video, &second].map(|rank| [rank.order(true), rank.order(false)]);
        let before = orders().concat();
        assert!(before.is_sorted_by(|a, b| a > b), "{before:?}");
        ranks.change(&second, 3);
        assert!(second.order(false) > sound.order(true));
        ranks.leave(&second);
        assert_eq!(orders()[..2].concat(), before[..4]);
    }

    #[test]
    fn med_72_the_order_of_many_subscriptions_does_not_overflow() {
        let ranks = Ranks::default();
        let all: Vec<_> = (0..300).map(|id| ranks.enter(id, 0)).collect();
        assert!(all.is_sorted_by(|a, b| a.order(true) >= b.order(true)));
        assert_eq!(all[299].order(false), 0);
    }
}
