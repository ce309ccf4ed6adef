//! Messages of other pods on the bus, and the addresses in them.
use crate::random::{Random, campaign};
use crate::text;
use parley_cluster::lease::Lease;
use parley_cluster::revocation_message::RevocationMessage;
use parley_cluster::url::Url;
use parley_media::origin_lease::OriginLease;

const KEY: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const VALUES: [&str; 16] = [
    "null",
    "0",
    "-1",
    "1.0",
    "1e3",
    "18446744073709551615",
    "18446744073709551616",
    "\"\"",
    "\"a\"",
    "\"\\ud800\"",
    "[]",
    "{}",
    "true",
    "\"::1\"",
    "\"10.0.0.7:99999\"",
    "[[[[[[]]]]]]",
];

/// Makes a JSON object of these fields, some missing, repeated or with another value.
fn object(random: &mut Random, fields: &[(&str, &str)]) -> String {
    let mut parts = Vec::new();
    for (name, value) in fields {
        for _ in 0..[1, 1, 1, 1, 1, 1, 0, 2][random.below(8)] {
            let value = if random.below(12) == 0 { VALUES[random.below(VALUES.len())] } else { value };
            parts.push(format!("\"{name}\":{value}"));
        }
    }
    format!("{{{}}}", parts.join(","))
}

fn lease(random: &mut Random) -> Vec<u8> {
    let (key, hashes) = (format!("\"{KEY}\""), format!("[\"{KEY}\"]"));
    let place = object(
        random,
        &[
            ("role", "\"leaf\""),
            ("address", "\"10.0.0.7:4443\""),
            ("url", "\"https://relay-7:4443/\""),
            ("hashes", hashes.as_str()),
            ("key", key.as_str()),
            ("available", "7"),
        ],
    );
    let fields = [
        ("pod", "\"relay-7\""),
        ("epoch", "5"),
        ("zone", "\"a\""),
        ("link", "\"10.0.0.7:8112\""),
        ("certificate", key.as_str()),
        ("draining", "false"),
        ("media", place.as_str()),
    ];
    let text = object(random, &fields).into_bytes();
    if random.below(3) == 0 { random.edited(text) } else { text }
}

#[test]
fn str_90_an_accepted_lease_is_encoded_unchanged() {
    campaign("leases", 10, lease, |bytes| {
        let Some(lease) = Lease::read(bytes) else { return false };
        assert!((1..=128).contains(&lease.pod.len()));
        let written = lease.bytes();
        assert!(Lease::read(&written).is_some_and(|again| again == lease), "{}", String::from_utf8_lossy(&written));
        true
    });
}

fn origin_lease(random: &mut Random) -> Vec<u8> {
    let (key, hashes) = (format!("\"{KEY}\""), format!("[\"{KEY}\"]"));
    let fields = [
        ("relay", "\"eu_relay-7\""),
        ("epoch", "5"),
        ("url", "\"https://relay-7:4443/\""),
        ("hashes", hashes.as_str()),
        ("key", key.as_str()),
        ("draining", "true"),
    ];
    let text = object(random, &fields).into_bytes();
    if random.below(3) == 0 { random.edited(text) } else { text }
}

#[test]
fn media_18_an_accepted_lease_is_of_its_relay_and_encoded_unchanged() {
    let subject = parley_protocol::subjects::relay_origin_subject("eu", "relay-7");
    campaign("origin-leases", 10, origin_lease, |bytes| {
        let Some((region, lease)) = OriginLease::read(bytes, &subject) else { return false };
        assert_eq!((region.as_str(), lease.relay.as_str()), ("eu", "eu_relay-7"));
        let written = lease.bytes();
        let again = OriginLease::read(&written, &subject);
        assert_eq!(again, Some((region, lease)), "{}", String::from_utf8_lossy(&written));
        true
    });
}

fn word(random: &mut Random) -> Vec<u8> {
    let mut entries = Vec::new();
    for _ in 0..random.below(4) {
        let name = ["sub", "sub", "jti", "iss"][random.below(4)];
        let fields = [(name, "\"ada\""), ("until", "5"), ("generation", "3")];
        let count = 2 + random.below(2);
        entries.push(object(random, &fields[..count]));
    }
    let revoked = format!("[{}]", entries.join(","));
    let fields = if random.below(4) == 0 { [("digest", "5")] } else { [("revoked", revoked.as_str())] };
    let text = object(random, &fields).into_bytes();
    if random.below(3) == 0 { random.edited(text) } else { text }
}

#[test]
fn str_118_an_accepted_message_is_encoded_unchanged() {
    campaign("words", 10, word, |bytes| {
        let Some(word) = RevocationMessage::read(bytes) else { return false };
        let written = word.bytes();
        assert_eq!(RevocationMessage::read(&written), Some(word), "{}", String::from_utf8_lossy(&written));
        true
    });
}

const URL_PARTS: [&str; 20] = [
    "https://",
    "https://",
    "relay-7",
    "example",
    ".",
    ":",
    "4443",
    "99999",
    "[",
    "]",
    "::1",
    "/",
    "@",
    "?",
    "#",
    "-",
    "_",
    "\\",
    "é",
    "127.0.0.1",
];

#[test]
fn media_1_an_accepted_url_has_the_host_that_browsers_dial() {
    let generate = |random: &mut Random| match random.below(2) {
        0 => text(random, &URL_PARTS, 9).into_bytes(),
        _ => format!("https://{}/", text(random, &URL_PARTS[2..], 6)).into_bytes(),
    };
    campaign("urls", 10, generate, |bytes| {
        let written = String::from_utf8_lossy(bytes).into_owned();
        let Ok(taken) = Url::try_from(written.clone()) else { return false };
        let parsed =
            url::Url::parse(&written).unwrap_or_else(|why| panic!("{written} is accepted, but is not a URL: {why}"));
        let host = parsed.host_str().unwrap().trim_matches(['[', ']']);
        // The URL standard has one form for each address.
        let is_address = matches!(parsed.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)));
        assert!(is_address || host.eq_ignore_ascii_case(taken.host()), "{written}: {host}, not {}", taken.host());
        assert_eq!(parsed.port_or_known_default(), Some(taken.port()), "{written}");
        assert!(parsed.path() == "/" && parsed.username().is_empty() && parsed.query().is_none());
        true
    });
}
