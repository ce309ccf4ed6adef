//! How far a message has come, which decides where it goes next, and the stamp by which a second copy is recognised. Rules STR-141 and STR-142.

/// The links that a message has crossed: local, region, ocean, region. A message never goes back, so it cannot loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hop {
    /// None: its publisher is on this pod.
    Local,
    /// One link of this region, from the pod of its publisher.
    Region,
    /// The link from the port of another region.
    Ocean,
    /// The link from the port of this region, and an ocean before it.
    Inland,
}

impl Hop {
    /// The hops that a subscription may request, in the order of their numbers on the wire, which begin with 1.
    const REQUESTED: [Hop; 3] = [Hop::Region, Hop::Ocean, Hop::Inland];

    /// Whether a message that came this far goes to a subscription for messages of the hop `requested`. The hop only grows.
    pub const fn goes_to(self, requested: Hop) -> bool {
        matches!(
            (self, requested),
            (Hop::Local, Hop::Region) | (Hop::Local | Hop::Region, Hop::Ocean) | (Hop::Ocean, Hop::Inland)
        )
    }

    /// Whether the message was published in another region.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Hop::Ocean | Hop::Inland)
    }

    /// The number on the wire.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The hop that a subscription may request with this number.
    pub fn requested(number: u8) -> Option<Self> {
        Self::REQUESTED.into_iter().find(|hop| hop.number() == number)
    }
}

/// Identifies a message in all regions. Messages of one origin on one topic have growing numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The run of the pod on which the message was published; 0: a pod that does not stamp.
    pub origin: u64,
    /// The number of the message; that of the first one for a batch.
    pub sequence: u64,
}

impl Stamp {
    /// The stamp of the message at this index of a batch.
    pub(crate) fn at(self, index: usize) -> Self {
        Self { sequence: self.sequence.saturating_add(index as u64), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Hop; 4] = [Hop::Local, Hop::Region, Hop::Ocean, Hop::Inland];

    #[test]
    fn str_141_a_message_only_goes_on_and_crosses_an_ocean_once() {
        let next = |hop: Hop| ALL.into_iter().filter(|to| hop.goes_to(*to)).collect::<Vec<_>>();
        assert_eq!(ALL.map(next), [vec![Hop::Region, Hop::Ocean], vec![Hop::Ocean], vec![Hop::Inland], vec![]]);
        for (from, to) in ALL.into_iter().flat_map(|from| ALL.map(|to| (from, to))) {
            assert!(!from.goes_to(to) || from < to, "{from:?} to {to:?}");
        }
    }

    #[test]
    fn str_141_local_is_no_hop_of_a_subscription() {
        assert_eq!(
            [0, 1, 2, 3, 4].map(Hop::requested),
            [None, Some(Hop::Region), Some(Hop::Ocean), Some(Hop::Inland), None]
        );
    }
}
