//! The hosts to which clients may be redirected when this relay drains. The lease of another relay names its host, and a lease is no proof. The
//! rule is that of signaling (MEDIA-17 of the protocol's `SPEC.md`).
use parley_cluster::url::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The allowed hosts. An empty list allows all hosts except addresses that no relay of a region can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// A name or address.
    Host(String),
    /// All names with this suffix, which begins with a dot.
    Suffix(String),
    /// All addresses whose bits, shifted to the right by `shift`, are these. IPv4 is mapped into IPv6.
    Block { bits: u128, shift: u32 },
}

/// Metadata services of clouds that are not link-local.
const METADATA: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)), IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254))];

impl Hosts {
    /// Parses a comma-separated list: `relay.example.org`, `*.media.example.org`, `203.0.113.0/24`.
    pub fn parse(list: &str) -> Result<Self, String> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(|entry| pattern(entry).ok_or_else(|| entry.to_owned())).collect::<Result<_, _>>().map(Self)
    }

    /// Reports whether clients of the relay at `own` may be redirected to `url`. A relay on a loopback address may redirect to another one.
    pub fn allow(&self, url: &Url, own: &Url) -> bool {
        let host = url.host();
        if !self.0.is_empty() {
            return self.0.iter().any(|pattern| pattern.matches(host));
        }
        if is_loopback(host) {
            return is_loopback(own.host());
        }
        match host.parse() {
            Ok(address) => is_possible(IpAddr::to_canonical(&address)),
            Err(_) => true,
        }
    }
}

fn pattern(entry: &str) -> Option<Pattern> {
    if let Some(suffix) = entry.strip_prefix('*') {
        return (suffix.len() > 1 && suffix.starts_with('.') && is_name(&suffix[1..]))
            .then(|| Pattern::Suffix(suffix.to_ascii_lowercase()));
    }
    if let Some((address, length)) = entry.split_once('/') {
        let address: IpAddr = address.parse().ok()?;
        let max = if address.is_ipv4() { 32 } else { 128 };
        let shift = max - length.parse::<u32>().ok().filter(|length| (1..=max).contains(length))?;
        return Some(Pattern::Block { bits: bits(address) >> shift, shift });
    }
    let is_host = entry.parse::<IpAddr>().is_ok() || is_name(entry);
    is_host.then(|| Pattern::Host(entry.to_ascii_lowercase()))
}

impl Pattern {
    fn matches(&self, host: &str) -> bool {
        match self {
            Self::Host(own) => own.eq_ignore_ascii_case(host),
            Self::Suffix(suffix) => host.to_ascii_lowercase().strip_suffix(suffix).is_some_and(|rest| !rest.is_empty()),
            Self::Block { bits: own, shift } => host.parse().is_ok_and(|address| bits(address) >> shift == *own),
        }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

fn is_loopback(host: &str) -> bool {
    let name = host.to_ascii_lowercase();
    let named = name == "localhost" || name.ends_with(".localhost");
    named || host.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback())
}

fn is_possible(address: IpAddr) -> bool {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !link_local && !address.is_unspecified() && !address.is_multicast() && !METADATA.contains(&address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        Url::try_from(format!("https://{host}/")).unwrap()
    }

    #[test]
    fn media_17_without_a_list_a_host_that_no_relay_can_have_is_refused() {
        let hosts = Hosts::default();
        for (host, remote, local) in [
            ("relay.example:4443", true, true),
            ("10.0.0.7:4443", true, true),
            ("[2001:db8::7]:4443", true, true),
            ("localhost:4443", false, true),
            ("a.localhost", false, true),
            ("127.8.8.8:1", false, true),
            ("[::1]:1", false, true),
            ("[::ffff:127.0.0.1]:1", false, true),
            ("169.254.169.254", false, false),
            ("100.100.100.200", false, false),
            ("[fd00:ec2::254]", false, false),
            ("[fe80::1]", false, false),
            ("0.0.0.0", false, false),
            ("239.1.1.1", false, false),
            ("255.255.255.255", false, false),
        ] {
            let found = (hosts.allow(&url(host), &url("relay.example")), hosts.allow(&url(host), &url("127.0.0.1")));
            assert_eq!(found, (remote, local), "{host}");
        }
    }

    /// Browsers parse these as addresses, which `is_possible` would have to check.
    #[test]
    fn media_17_an_address_in_another_spelling_is_refused() {
        for host in ["127.1", "2130706433", "0x7f.0.0.1", "0x7F000001", "localhost.", "[::1"] {
            assert!(Url::try_from(format!("https://{host}/")).is_err(), "{host}");
        }
    }

    #[test]
    fn media_17_a_list_allows_only_its_entries() {
        let hosts = Hosts::parse("Relay.example, *.media.example,203.0.113.0/24, 2001:db8::/32,127.0.0.1").unwrap();
        for (host, allowed) in [
            ("relay.EXAMPLE:4443", true),
            ("x.relay.example", false),
            ("a.media.example", true),
            ("a.b.media.example", true),
            ("media.example", false),
            ("evilmedia.example", false),
            ("203.0.113.255:1", true),
            ("203.0.114.0", false),
            ("[2001:db8:ffff::1]", true),
            ("[2001:db9::]", false),
            ("127.0.0.1", true),
            ("127.0.0.2", false),
        ] {
            assert_eq!(hosts.allow(&url(host), &url("relay.example")), allowed, "{host}");
        }
    }

    #[test]
    fn media_17_an_invalid_entry_is_refused_and_named() {
        for bad in ["*", "*media.example", "*.", "10.0.0.0/33", "10.0.0.0/0", "a/8", "https://a", "a:1", "a b"] {
            assert_eq!(Hosts::parse(&format!("relay.example,{bad}")), Err(bad.to_owned()), "{bad}");
        }
    }
}
