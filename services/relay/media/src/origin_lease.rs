//! The lease that an origin publishes for the origins of other regions (MEDIA-18 of the protocol's `SPEC.md`).
use super::tree::relay_name;
use parley_cluster::hash::Hash;
use parley_cluster::key::Key;
use parley_cluster::lease::is_name;
use parley_cluster::url::Url;
use parley_protocol::subjects::relay_origin_subject;
use serde::{Deserialize, Serialize};

/// The size limit of a lease in bytes.
const MAX_LEASE: usize = 4096;

/// The lease of an origin. Unknown fields are ignored, so that relays of two versions discover each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginLease {
    /// The name of the relay: `{region}_{pod}`.
    pub relay: String,
    /// The run of the relay; a later run has a greater number.
    pub epoch: u64,
    /// The URL at which clients and the origins of other regions reach the relay.
    pub url: Url,
    /// The hashes of the current and the next certificate; none if a public CA signed the certificate.
    pub hashes: Vec<Hash>,
    /// The key that the origin of another region presents when it dials.
    pub key: Key,
    /// Set when the relay drains.
    #[serde(default)]
    pub draining: bool,
}

impl OriginLease {
    /// Parses a message, and returns it with its region. `None`: it is not a lease, or it was published on the subject of another relay.
    pub fn read(bytes: &[u8], subject: &str) -> Option<(String, Self)> {
        let lease: Self = (bytes.len() <= MAX_LEASE).then(|| serde_json::from_slice(bytes).ok()).flatten()?;
        let mut tokens = subject.rsplit('.');
        let (pod, region) = (tokens.next()?, tokens.next()?);
        let is_own_subject = is_name(pod) && is_name(region) && subject == relay_origin_subject(region, pod);
        (is_own_subject && lease.relay == relay_name(region, pod)).then(|| (region.to_owned(), lease))
    }

    /// The lease as JSON.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease() -> OriginLease {
        OriginLease {
            relay: "eu_relay-0".into(),
            epoch: 7,
            url: Url::try_from("https://relay-0.eu.example:4443/".to_owned()).unwrap(),
            hashes: vec![Hash::of(b"current"), Hash::of(b"next")],
            key: Key([7; 32]),
            draining: false,
        }
    }

    #[test]
    fn media_18_a_lease_is_read_as_it_was_written_and_unknown_fields_are_ignored() {
        let subject = "parley.v1.relay.lease.origin.eu.relay-0";
        let mut value = serde_json::to_value(lease()).unwrap();
        value["later"] = 1.into();
        for bytes in [lease().bytes(), value.to_string().into_bytes()] {
            assert_eq!(OriginLease::read(&bytes, subject), Some(("eu".into(), lease())));
        }
    }

    #[test]
    fn media_18_a_lease_on_the_subject_of_another_relay_is_refused() {
        for subject in [
            "parley.v1.relay.lease.origin.us.relay-0",
            "parley.v1.relay.lease.origin.eu.relay-1",
            "parley.v1.relay.lease.eu.relay-0",
            "eu.relay-0",
            "",
        ] {
            assert_eq!(OriginLease::read(&lease().bytes(), subject), None, "{subject}");
        }
    }

    #[test]
    fn media_18_a_message_that_is_not_a_lease_is_refused() {
        let with = |name: &str, value: serde_json::Value| {
            let mut changed = serde_json::to_value(lease()).unwrap();
            changed[name] = value;
            changed.to_string().into_bytes()
        };
        let cases = [
            vec![],
            b"null".to_vec(),
            with("epoch", (-1).into()),
            with("url", "https://relay-0.eu.example/path".into()),
            with("key", "c2hvcnQ=".into()),
            with("hashes", "x".repeat(5000).into()),
        ];
        for bytes in cases {
            let read = OriginLease::read(&bytes, "parley.v1.relay.lease.origin.eu.relay-0");
            assert_eq!(read, None, "{}", String::from_utf8_lossy(&bytes));
        }
    }
}
