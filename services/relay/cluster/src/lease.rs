//! What a pod says of itself while it lives: who it is and how to reach it. Rule STR-90.
use crate::hash::Hash;
use crate::place::{Place, if_known};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// A pod's word that it is there; it holds for `lease.duration` after it was heard. A field that is not known here is skipped, so
/// that pods of two versions find each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Which pod: the same after a restart.
    pub pod: String,
    /// Which run of it: a later one is greater.
    pub epoch: u64,
    /// Where in the region, as the operator named it.
    #[serde(default)]
    pub zone: String,
    /// Where its links are taken.
    pub link: SocketAddr,
    /// Of the certificate of its links: who holds that one's key is this pod.
    pub certificate: Hash,
    /// The last word: the pod is going.
    #[serde(default)]
    pub draining: bool,
    /// Where its media is, if it carries any.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    pub media: Option<Place>,
}

/// The longest name of a pod.
pub const POD_NAME: usize = 128;
/// Whether this may be the name of a pod: one token of a NATS subject.
pub fn is_name(name: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    (1..=POD_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// More is no lease.
const LEASE: usize = 4096;

impl Lease {
    /// Reads what came on the bus. `None`: no lease.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let lease: Self = (bytes.len() <= LEASE).then(|| serde_json::from_slice(bytes).ok()).flatten()?;
        is_name(&lease.pod).then_some(lease)
    }

    /// Whether a pod at this address can have its links and its media where the lease says. Loopback is another machine's own, so that
    /// it is taken only on a machine where all pods are. Nobody is at the others, and a metadata service may be.
    pub fn is_reachable_from(&self, own: IpAddr) -> bool {
        let addresses = [Some(self.link), self.media.as_ref().map(|media| media.address)];
        addresses.into_iter().flatten().all(|address| {
            let ip = address.ip().to_canonical();
            let nowhere = match ip {
                IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
                IpAddr::V6(ip) => ip.is_unicast_link_local(),
            };
            !nowhere
                && !ip.is_unspecified()
                && !ip.is_multicast()
                && address.port() != 0
                && (!ip.is_loopback() || own.to_canonical().is_loopback())
        })
    }

    /// As it goes onto the bus.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    fn lease() -> Lease {
        let link = "10.0.0.7:8112".parse().unwrap();
        Lease {
            pod: "relay-7".into(),
            epoch: 5,
            zone: "a".into(),
            link,
            certificate: Hash::of(b"7"),
            draining: false,
            media: None,
        }
    }

    #[test]
    fn str_90_a_lease_is_read_as_it_was_written_and_fields_of_a_later_version_are_skipped() {
        let mut value = serde_json::to_value(lease()).unwrap();
        value["media"] = "later".into();
        assert_eq!(Lease::read(&lease_with(&value)).map(|lease| lease.pod), Some("relay-7".into()));
        let url = crate::url::Url::try_from("https://relay-7.example:4443/".to_owned()).unwrap();
        let hashes = vec!["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".to_owned().try_into().unwrap(); 2];
        let (role, address) = (crate::place::Role::Leaf, "10.0.0.7:4443".parse().unwrap());
        let media = Some(Place { role, address, url, hashes, key: Key([7; 32]), available: 7 });
        for lease in [lease(), Lease { media, ..lease() }] {
            assert_eq!(Lease::read(&lease.bytes()), Some(lease));
        }
    }

    fn lease_with(value: &serde_json::Value) -> Vec<u8> {
        value.to_string().into_bytes()
    }

    #[test]
    fn str_90_what_is_no_lease_is_skipped() {
        let good = serde_json::to_value(lease()).unwrap();
        let with = |name: &str, value: serde_json::Value| {
            let mut changed = good.clone();
            changed[name] = value;
            lease_with(&changed)
        };
        let long = "x".repeat(5000);
        let cases = [
            vec![],
            b"null".to_vec(),
            with("pod", "".into()),
            with("pod", "x".repeat(129).into()),
            with("pod", "a.b".into()),
            with("pod", "*".into()),
            with("pod", ">".into()),
            with("zone", long.into()),
            with("link", "nowhere".into()),
            with("certificate", "c2hvcnQ=".into()),
            with("epoch", (-1).into()),
        ];
        for bytes in cases {
            assert_eq!(Lease::read(&bytes), None, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn str_134_a_lease_is_of_an_address_that_a_pod_of_the_region_can_have() {
        let at = |address: &str| Lease { link: address.parse().unwrap(), ..lease() };
        let [inside, local] = ["10.0.0.9", "127.0.0.1"].map(|own| own.parse().unwrap());
        for (address, from_inside, from_local) in [
            ("10.0.0.7:8112", true, true),
            ("[2001:db8::7]:8112", true, true),
            ("127.0.0.1:8112", false, true),
            ("[::ffff:127.0.0.1]:8112", false, true),
            ("[::1]:8112", false, true),
            ("0.0.0.0:8112", false, false),
            ("169.254.169.254:80", false, false),
            ("[fe80::1]:8112", false, false),
            ("224.0.0.1:8112", false, false),
            ("255.255.255.255:8112", false, false),
            ("10.0.0.7:0", false, false),
        ] {
            let found = (at(address).is_reachable_from(inside), at(address).is_reachable_from(local));
            assert_eq!(found, (from_inside, from_local), "{address}");
        }
        let url = crate::url::Url::of("10.0.0.7:4443".parse().unwrap());
        let role = crate::place::Role::Leaf;
        let media = |address: &str| {
            let (address, url, hashes, key) = (address.parse().unwrap(), url.clone(), vec![], Key([7; 32]));
            Some(Place { role, address, url, hashes, key, available: 1 })
        };
        assert!(Lease { media: media("10.0.0.7:4443"), ..lease() }.is_reachable_from(inside));
        assert!(!Lease { media: media("127.0.0.1:4443"), ..lease() }.is_reachable_from(inside));
    }
}
