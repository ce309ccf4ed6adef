//! Which relay of a region is the port of a topic. Rule STR-140.

/// The preference of a topic for a relay: the relay with the highest score is the port, so a relay that comes or goes moves only the topics
/// that it wins or had. As in signaling: rendezvous hashing (Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", 1998),
/// by FNV-1a with the finalizer of MurmurHash3, by which every bit of the names affects the order.
pub(crate) fn score(topic: &str, relay: &str) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in relay.bytes().chain([b'/']).chain(topic.bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_140_topics_spread_over_relays_and_a_relay_that_goes_moves_only_its_own() {
        let relays = ["eu_relay-0", "eu_relay-1", "eu_relay-2"];
        let port =
            |topic: &str, relays: &[&'static str]| *relays.iter().max_by_key(|relay| score(topic, relay)).unwrap();
        let mut each = std::collections::HashMap::new();
        for topic in (0..3000).map(|at| format!("/out/lab/{at}")) {
            let (before, after) = (port(&topic, &relays), port(&topic, &relays[..2]));
            *each.entry(before).or_insert(0) += 1;
            assert!(before == after || before == relays[2], "{topic}");
        }
        assert!(each.values().all(|count| (800..1200).contains(count)), "{each:?}");
    }

    /// Computed by `score` of services/signaling/src/core/rendezvous.ts.
    const SIGNALING: u32 = 1_322_742_954;

    #[test]
    fn str_140_the_score_is_that_of_signaling() {
        assert_eq!(score("/out/lab", "eu_relay-0"), SIGNALING);
    }
}
