//! The lease that a pod publishes: its identity and its addresses. Rule STR-90.
use crate::endpoint::{MediaEndpoint, deserialize_if_known};
use crate::hash::Hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The lease of a pod. It is valid for `lease.duration` after it was received. Unknown fields are ignored, so that pods of two versions
/// discover each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The name of the pod, which stays the same after a restart.
    pub pod: String,
    /// The run of the pod; a later run has a greater number.
    pub epoch: u64,
    /// The zone, as configured by the operator.
    #[serde(default)]
    pub zone: String,
    /// The address at which the pod accepts links.
    pub link: SocketAddr,
    /// The hash of the link certificate: the holder of its private key is this pod.
    pub certificate: Hash,
    /// Set in the last lease of a pod, when it drains.
    #[serde(default)]
    pub draining: bool,
    /// What the links of the pod carry.
    #[serde(default)]
    pub reach: Reach,
    /// The media endpoint, if the pod carries media.
    #[serde(default, deserialize_with = "deserialize_if_known", skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaEndpoint>,
}

/// What the links of a pod carry. A pod of before says nothing, and has the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reach {
    /// Whether the pod knows subscriptions by hop.
    pub hops: bool,
    /// Whether relays of other regions reach the pod, so that it may be the port of topics. Rule STR-140.
    pub ocean: bool,
    /// The region, in a lease for other regions only. The name of the pod is `{region}_{pod}` there, and its address the public one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// The valid leases of other pods, by name.
pub type PeerLeases = BTreeMap<String, Lease>;

/// The length limit of a pod name.
pub const MAX_POD_NAME: usize = 128;
/// The size limit of a lease in bytes.
const MAX_LEASE: usize = 4096;

/// Whether this is a valid pod name: one token of a NATS subject.
pub fn is_name(name: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    (1..=MAX_POD_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// The name of a pod for other regions (SPEC.md, REG-1).
pub fn name_in_all_regions(region: &str, pod: &str) -> String {
    format!("{region}_{pod}")
}

impl Lease {
    /// Parses a message. `None`: it is not a lease.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let lease: Self = (bytes.len() <= MAX_LEASE).then(|| serde_json::from_slice(bytes).ok()).flatten()?;
        is_name(&lease.pod).then_some(lease)
    }

    /// The lease of the same pod for other regions: without its media endpoint, whose key is for its own region.
    pub(crate) fn in_all_regions(&self, region: &str, link: SocketAddr) -> Self {
        let reach = Reach { region: Some(region.to_owned()), ..self.reach.clone() };
        Self { pod: name_in_all_regions(region, &self.pod), link, reach, media: None, ..self.clone() }
    }

    /// Whether the lease came on the subject of its pod. The last tokens of a subject are the region and the name.
    pub(crate) fn is_of_subject(&self, subject: &str) -> bool {
        let mut tokens = subject.rsplit('.');
        let (name, region) = (tokens.next().unwrap_or_default(), tokens.next().unwrap_or_default());
        match &self.reach.region {
            Some(own) => own == region && self.pod == name_in_all_regions(region, name),
            None => self.pod == name,
        }
    }

    /// Whether a pod with this address may dial the link and media addresses of the lease. A loopback address belongs to the machine of the
    /// dialing pod, so it is valid only if that pod has one too. The other excluded addresses are no pod's; a cloud metadata service may
    /// have one of them.
    pub(crate) fn is_reachable_from(&self, own: IpAddr) -> bool {
        let addresses = [Some(self.link), self.media.as_ref().map(|media| media.address)];
        addresses.into_iter().flatten().all(|address| {
            let ip = address.ip().to_canonical();
            let excluded = match ip {
                IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
                IpAddr::V6(ip) => ip.is_unicast_link_local(),
            };
            !excluded
                && !ip.is_unspecified()
                && !ip.is_multicast()
                && address.port() != 0
                && (!ip.is_loopback() || own.to_canonical().is_loopback())
        })
    }

    /// The lease as JSON.
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
            reach: Reach::default(),
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
        let (role, address) = (crate::endpoint::Role::Leaf, "10.0.0.7:4443".parse().unwrap());
        let media = Some(MediaEndpoint { role, address, url, hashes, key: Key([7; 32]), available: 7 });
        for lease in [lease(), Lease { media, ..lease() }] {
            assert_eq!(Lease::read(&lease.bytes()), Some(lease));
        }
    }

    fn lease_with(value: &serde_json::Value) -> Vec<u8> {
        value.to_string().into_bytes()
    }

    #[test]
    fn str_90_a_message_that_is_not_a_lease_is_skipped() {
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
            with("link", "excluded".into()),
            with("certificate", "c2hvcnQ=".into()),
            with("epoch", (-1).into()),
        ];
        for bytes in cases {
            assert_eq!(Lease::read(&bytes), None, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn str_146_a_lease_of_a_pod_of_before_is_read_as_of_one_that_knows_no_hops() {
        let mut value =
            serde_json::to_value(Lease { reach: Reach { hops: true, ocean: true, region: None }, ..lease() }).unwrap();
        value.as_object_mut().unwrap().remove("reach");
        assert_eq!(Lease::read(&lease_with(&value)), Some(lease()));
        value["reach"] = serde_json::json!({ "hops": true, "later": 7 });
        let later = Lease { reach: Reach { hops: true, ..Reach::default() }, ..lease() };
        assert_eq!(Lease::read(&lease_with(&value)), Some(later));
    }

    #[test]
    fn str_139_a_lease_for_other_regions_has_the_public_address_and_no_media_key() {
        let url = crate::url::Url::of("10.0.0.7:4443".parse().unwrap());
        let (role, address) = (crate::endpoint::Role::Origin, "10.0.0.7:4443".parse().unwrap());
        let media = Some(MediaEndpoint { role, address, url, hashes: vec![], key: Key([7; 32]), available: 7 });
        let public = Lease { media, ..lease() }.in_all_regions("eu", "192.0.2.7:8114".parse().unwrap());
        let read = Lease::read(&public.bytes()).unwrap();
        assert_eq!((&*read.pod, read.reach.region.as_deref(), read.media), ("eu_relay-7", Some("eu"), None));
        assert_eq!((read.link, read.certificate), ("192.0.2.7:8114".parse().unwrap(), lease().certificate));
    }

    #[test]
    fn str_133_a_lease_is_accepted_on_the_subject_of_its_region_and_name_alone() {
        let public = lease().in_all_regions("eu", lease().link);
        for (lease, subject, accepted) in [
            (lease(), "parley.v1.relay.lease.eu.relay-7", true),
            (lease(), "parley.v1.relay.lease.eu.relay-8", false),
            (public.clone(), "parley.v1.relay.public.eu.relay-7", true),
            (public.clone(), "parley.v1.relay.public.us.relay-7", false),
            (public.clone(), "parley.v1.relay.public.eu.relay-8", false),
            (public.clone(), "parley.v1.relay.public.eu.eu_relay-7", false),
            (Lease { reach: Reach::default(), ..public }, "parley.v1.relay.public.eu.relay-7", false),
        ] {
            assert_eq!(lease.is_of_subject(subject), accepted, "{} on {subject}", lease.pod);
        }
    }

    #[test]
    fn str_134_a_lease_with_an_address_that_no_pod_can_have_is_refused() {
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
        let role = crate::endpoint::Role::Leaf;
        let media = |address: &str| {
            let (address, url, hashes, key) = (address.parse().unwrap(), url.clone(), vec![], Key([7; 32]));
            Some(MediaEndpoint { role, address, url, hashes, key, available: 1 })
        };
        assert!(Lease { media: media("10.0.0.7:4443"), ..lease() }.is_reachable_from(inside));
        assert!(!Lease { media: media("127.0.0.1:4443"), ..lease() }.is_reachable_from(inside));
    }
}
