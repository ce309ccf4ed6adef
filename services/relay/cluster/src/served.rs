//! The links over which this pod sends: one for each pod that dialled. Rules STR-91 and STR-97.
use super::end::End;
use super::lanes::Outgoing;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Who dialled, by name.
pub struct Served {
    most: usize,
    links: Mutex<HashMap<String, (u64, Arc<Outgoing>)>>,
}

/// A link's place; dropping it leaves.
pub struct Place {
    served: Arc<Served>,
    pod: String,
    outgoing: Arc<Outgoing>,
}

impl Served {
    /// At most `most` pods.
    pub fn new(most: usize) -> Self {
        Self { most, links: Mutex::default() }
    }

    /// Lets a pod in. Its link from before ends; an earlier run of it is not let in.
    pub fn enter(self: &Arc<Self>, pod: &str, epoch: u64, outgoing: &Arc<Outgoing>) -> Result<Place, End> {
        let mut links = self.links.lock();
        match links.get(pod) {
            Some((linked, _)) if *linked > epoch => return Err(End::Epoch),
            None if links.len() >= self.most => return Err(End::Full),
            _ => {}
        }
        if let Some((_, old)) = links.insert(pod.to_owned(), (epoch, Arc::clone(outgoing))) {
            old.end();
        }
        Ok(Place { served: Arc::clone(self), pod: pod.to_owned(), outgoing: Arc::clone(outgoing) })
    }

    /// Every link sends what waits, and ends.
    pub fn finish(&self) {
        for (_, outgoing) in self.links.lock().values() {
            outgoing.finish();
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.links.lock().len()
    }
}

impl Place {
    /// Whether no newer link of the pod took it.
    pub fn is_held(&self) -> bool {
        self.served.links.lock().get(&self.pod).is_some_and(|(_, holder)| Arc::ptr_eq(holder, &self.outgoing))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut links = self.served.links.lock();
        if links.get(&self.pod).is_some_and(|(_, holder)| Arc::ptr_eq(holder, &self.outgoing)) {
            links.remove(&self.pod);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Bounds;
    use parley_streams::reader::Outlet;
    use std::io::{IoSlice, Result};

    struct Nowhere;

    impl Outlet for Nowhere {
        fn write(&self, bytes: &[u8]) -> Result<usize> {
            Ok(bytes.len())
        }

        fn write_vectored(&self, _: &[IoSlice<'_>]) -> Result<usize> {
            Ok(0)
        }
    }

    #[test]
    fn str_97_an_earlier_run_does_not_take_the_place_of_a_later_one_and_no_pod_is_too_many() {
        let served = Arc::new(Served::new(1));
        let enter = |pod: &str, epoch| {
            let bounds = Bounds { messages: 1, bytes: 1, link_bytes: 1 };
            served.enter(pod, epoch, &Arc::new(Outgoing::new(Box::new(Nowhere), bounds, Arc::default())))
        };
        let first = enter("a", 5).unwrap();
        let second = enter("a", 6).unwrap();
        assert!(!first.is_held() && second.is_held());
        assert_eq!(enter("a", 5).err(), Some(End::Epoch));
        assert_eq!(enter("b", 1).err(), Some(End::Full));
        drop(first);
        assert!(second.is_held());
        drop(second);
        assert!(enter("b", 1).is_ok());
    }
}
