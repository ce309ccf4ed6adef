//! The links on which this pod sends: one for each pod that dialled. Rules STR-91 and STR-97.
use super::end::End;
use super::outgoing::Outgoing;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The accepted links, by the name of the pod that dialled.
pub struct AcceptedLinks {
    max: usize,
    links: Mutex<HashMap<String, (u64, Arc<Outgoing>)>>,
}

/// The registration of a link. Dropping it removes the link.
pub struct Registration {
    links: Arc<AcceptedLinks>,
    pod: String,
    outgoing: Arc<Outgoing>,
}

impl AcceptedLinks {
    /// Accepts links of at most `max` pods.
    pub fn new(max: usize) -> Self {
        Self { max, links: Mutex::default() }
    }

    /// Registers the link of a pod, and ends its previous link. Refuses an earlier run of the pod than the registered one.
    pub fn register(self: &Arc<Self>, pod: &str, epoch: u64, outgoing: &Arc<Outgoing>) -> Result<Registration, End> {
        let mut links = self.links.lock();
        match links.get(pod) {
            Some((linked, _)) if *linked > epoch => return Err(End::StaleEpoch),
            None if links.len() >= self.max => return Err(End::Full),
            _ => {}
        }
        if let Some((_, old)) = links.insert(pod.to_owned(), (epoch, Arc::clone(outgoing))) {
            old.end();
        }
        Ok(Registration { links: Arc::clone(self), pod: pod.to_owned(), outgoing: Arc::clone(outgoing) })
    }

    /// Lets every link send what waits, and then end.
    pub fn finish(&self) {
        for (_, outgoing) in self.links.lock().values() {
            outgoing.finish();
        }
    }

    /// The number of links.
    pub fn count(&self) -> usize {
        self.links.lock().len()
    }
}

impl Registration {
    /// Whether no newer link of the pod replaced this one.
    pub(crate) fn is_current(&self) -> bool {
        self.links.links.lock().get(&self.pod).is_some_and(|(_, linked)| Arc::ptr_eq(linked, &self.outgoing))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut links = self.links.links.lock();
        if links.get(&self.pod).is_some_and(|(_, linked)| Arc::ptr_eq(linked, &self.outgoing)) {
            links.remove(&self.pod);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::Bounds;
    use parley_streams::reader::Outlet;
    use std::io::{IoSlice, Result};

    struct Discard;

    impl Outlet for Discard {
        fn write(&self, bytes: &[u8]) -> Result<usize> {
            Ok(bytes.len())
        }

        fn write_vectored(&self, _: &[IoSlice<'_>]) -> Result<usize> {
            Ok(0)
        }
    }

    #[test]
    fn str_97_an_earlier_run_does_not_replace_a_later_one_and_pods_over_the_limit_are_refused() {
        let links = Arc::new(AcceptedLinks::new(1));
        let register = |pod: &str, epoch| {
            let bounds = Bounds { messages: 1, bytes: 1, link_bytes: 1 };
            links.register(pod, epoch, &Arc::new(Outgoing::new(Box::new(Discard), bounds, Arc::default())))
        };
        let first = register("a", 5).unwrap();
        let second = register("a", 6).unwrap();
        assert!(!first.is_current() && second.is_current());
        assert_eq!(register("a", 5).err(), Some(End::StaleEpoch));
        assert_eq!(register("b", 1).err(), Some(End::Full));
        drop(first);
        assert!(second.is_current());
        drop(second);
        assert!(register("b", 1).is_ok());
    }
}
