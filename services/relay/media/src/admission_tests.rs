use super::*;
use crate::LinkKeys;
use crate::mutes::Mutes;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parley_access::{Entry, Revocation, Term};
use parley_net::origins::Origins;
use ring::hmac;
use serde_json::{Value, json};

const SECRET: &str = "a secret of thirty-two bytes ...";

fn limits() -> parley_access::Limits {
    parley_access::Limits {
        token_bytes: 4096,
        token_patterns: 16,
        token_name_bytes: 128,
        token_leeway: 5000,
        token_lifetime: 86_400_000,
        pod_unauthenticated: 10,
        address_unauthenticated: 10,
        code_lifetime: 30_000,
        pod_codes: 10,
        address_codes: 10,
        pod_revocations: 10,
        pod_departures: 10,
    }
}

fn guard() -> Guard {
    let limits = limits();
    let keys = Keys::default().with_secret(SECRET).unwrap();
    Guard {
        tokens: Some((keys, Arc::new(Ports::in_memory(&limits)))),
        link_keys: Some(LinkKeys { region: Key([7; 32]), other_regions: Key([8; 32]) }),
        mutes: Arc::new(Mutes::new(10)),
        origins: Origins::Only(vec!["https://lab.example".into()]),
        trusted_proxies: 1,
        limits,
        token_age: 300_000,
    }
}

fn open() -> Guard {
    Guard { tokens: None, ..guard() }
}

/// Makes a token for the room for a minute, with `changes`; null removes a claim.
fn token(changes: Value) -> String {
    let mut claims = json!({
        "aud": "parley:media", "sub": "p0", "iat": now(), "exp": now() + 60,
        "publish": ["rooms/lab/p0/*"], "subscribe": ["rooms/lab/**"],
    });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({"alg": "HS256"})), part(&claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn refusal(guard: &Guard, credential: Credential<'_>) -> Option<Refusal> {
    guard.authenticate(credential).err()
}

fn lists(authorization: &dyn Authorization) -> (Vec<String>, Vec<String>) {
    match authorization.grant() {
        Allowed::Client { publish, subscribe } => (publish, subscribe),
        Allowed::Link | Allowed::RegionLink => panic!("a link"),
    }
}

#[test]
fn media_4_a_token_for_media_allows_what_it_lists() {
    let authorization = guard().authenticate(Credential::Token(&token(json!({})))).unwrap();
    assert_eq!(lists(&*authorization), (vec!["rooms/lab/p0/*".into()], vec!["rooms/lab/**".into()]));
    assert_eq!(authorization.ended(), None);
    let listener = guard().authenticate(Credential::Token(&token(json!({"publish": []})))).unwrap();
    assert!(lists(&*listener).0.is_empty());
}

#[test]
fn media_4_other_tokens_are_refused() {
    let guard = guard();
    assert_eq!(refusal(&guard, Credential::None), Some("TOKEN_REQUIRED"));
    for (changes, code) in [
        (json!({"aud": "parley:streams"}), "TOKEN_INSUFFICIENT_SCOPE"),
        (json!({"aud": "parley:media/rooms/lab"}), "TOKEN_INSUFFICIENT_SCOPE"),
        (json!({"aud": "parley:ticket"}), "TOKEN_INSUFFICIENT_SCOPE"),
        (json!({"publish": [], "subscribe": []}), "TOKEN_INSUFFICIENT_SCOPE"),
        (json!({"publish": ["rooms/la*"]}), "TOKEN_INVALID"),
        (json!({"exp": now()}), "TOKEN_EXPIRED"),
        (json!({"exp": null}), "TOKEN_INVALID"),
        (json!({"iat": null}), "TOKEN_INVALID"),
        (json!({"iat": now() - 300}), "TOKEN_EXPIRED"),
        (json!({"iat": now() + 60, "exp": now() + 120}), "TOKEN_NOT_YET_VALID"),
    ] {
        assert_eq!(refusal(&guard, Credential::Token(&token(changes.clone()))), Some(code), "{changes}");
    }
    let unsigned = token(json!({})).rsplit_once('.').map(|(message, _)| format!("{message}."));
    for bad in ["", "x", "..", &unsigned.unwrap()] {
        let code = if bad.is_empty() { "TOKEN_REQUIRED" } else { "TOKEN_INVALID" };
        assert_eq!(refusal(&guard, Credential::Token(bad)), Some(code), "{bad}");
    }
}

#[test]
fn media_5_a_token_opens_sessions_up_to_an_age_and_a_session_lasts_until_the_token_ends() {
    let guard = guard();
    let young = token(json!({"iat": now() - 290, "exp": now() + 40_000}));
    assert_eq!(guard.authenticate(Credential::Token(&young)).unwrap().ended(), None);
    let old = token(json!({"iat": now() - 301, "exp": now() + 40_000}));
    assert_eq!(refusal(&guard, Credential::Token(&old)), Some("TOKEN_EXPIRED"));
}

#[test]
fn str_114_an_authorization_ends_with_its_token() {
    let ports = Arc::new(Ports::in_memory(&limits()));
    let until = |until| Grant { until, issued: None, generation: None, token: None, subject: None };
    let authorization =
        |end| Authorized { allowed: Allowed::Link, trace: None, until: Some((until(end), Arc::clone(&ports))) };
    assert_eq!((authorization(now()).ended(), authorization(now() + 60).ended()), (Some("TOKEN_EXPIRED"), None));
}

#[test]
fn media_7_a_revocation_ends_sessions_up_to_its_generation() {
    let guard = guard();
    let tokens = [
        (json!({"generation": 1}), Some("TOKEN_REVOKED")),
        (json!({"generation": 2}), Some("TOKEN_REVOKED")),
        (json!({}), Some("TOKEN_REVOKED")),
        // Of one that was lost and resumed, also where the clock of its region is behind.
        (json!({"generation": 3}), None),
        (json!({"generation": 3, "iat": now() - 10}), None),
        (json!({"generation": 1, "sub": "p1"}), None),
        (json!({"sub": "p2", "publish": ["live/cam"], "subscribe": ["live/cam"]}), None),
    ]
    .map(|(changes, expected)| (token(changes), expected));
    let live = tokens.each_ref().map(|(token, _)| guard.authenticate(Credential::Token(token)).unwrap());
    let (_, ports) = guard.tokens.as_ref().unwrap();
    let term = Term { generation: Some(2), until: now() + 60 };
    ports.revoked.add(Entry { revocation: Revocation::Subject("p0".into()), term }, now()).unwrap();
    for ((token, expected), live) in tokens.iter().zip(live) {
        assert_eq!(live.ended(), *expected, "{token}");
        assert_eq!(guard.authenticate(Credential::Token(token)).err(), *expected, "{token}");
    }
}

#[test]
fn str_100_with_open_access_a_client_may_do_everything_and_a_link_still_needs_its_key() {
    let guard = open();
    for credential in [Credential::None, Credential::Token("whatever")] {
        let authorization = guard.authenticate(credential).unwrap();
        assert_eq!((lists(&*authorization), authorization.ended()), ((vec!["**".into()], vec!["**".into()]), None));
    }
    assert_eq!(refusal(&guard, Credential::Key("whatever")), Some("TOKEN_INVALID"));
}

#[test]
fn media_18_a_link_needs_the_key_of_a_lease_which_tells_links_of_other_regions_apart() {
    let (key, foreign) = (url_encoded(&Key([7; 32])), url_encoded(&Key([8; 32])));
    for guard in [guard(), open()] {
        let authorization = guard.authenticate(Credential::Key(&key)).unwrap();
        assert!(matches!(authorization.grant(), Allowed::Link) && authorization.ended().is_none());
        let authorization = guard.authenticate(Credential::Key(&foreign)).unwrap();
        assert!(matches!(authorization.grant(), Allowed::RegionLink) && authorization.ended().is_none());
        let others =
            [url_encoded(&Key([9; 32])), String::new(), key[1..].to_owned(), format!("{key}A"), token(json!({}))];
        for other in others {
            assert_eq!(refusal(&guard, Credential::Key(&other)), Some("TOKEN_INVALID"), "{other}");
        }
    }
    let alone = Guard { link_keys: None, ..open() };
    for key in [key, foreign] {
        assert_eq!(refusal(&alone, Credential::Key(&key)), Some("TOKEN_INVALID"));
    }
}

#[test]
fn str_22_and_23_a_page_of_another_origin_is_refused_and_the_address_from_the_proxy_counts() {
    let visitor = |origin| HandshakeRequest {
        direct: "10.0.0.1".parse().unwrap(),
        origin,
        host: "relay.example",
        forwarded: vec!["6.6.6.6", "2.2.2.2"],
    };
    for page in [None, Some("https://lab.example"), Some("https://relay.example")] {
        assert_eq!(guard().check_request(&visitor(page)), Ok([2, 2, 2, 2].into()), "{page:?}");
    }
    assert_eq!(guard().check_request(&visitor(Some("https://evil.example"))), Err("ORIGIN_DENIED"));
    let bare = Guard { trusted_proxies: 0, ..guard() };
    assert_eq!(bare.check_request(&visitor(None)), Ok([10, 0, 0, 1].into()));
}

#[test]
fn med_23_and_str_130_a_session_counts_for_its_network_with_and_without_a_proxy() {
    let network: std::net::IpAddr = "2001:db8:1:2::".parse().unwrap();
    let behind = HandshakeRequest {
        direct: [10, 0, 0, 1].into(),
        origin: None,
        host: "relay.example",
        forwarded: vec!["2001:db8:1:2:3:4:5:6"],
    };
    assert_eq!(guard().check_request(&behind), Ok(network));
    assert_eq!(guard().network("2001:db8:1:2:ffff::1".parse().unwrap()), network);
    assert_eq!(guard().network("::ffff:192.0.2.7".parse().unwrap()), std::net::IpAddr::from([192, 0, 2, 7]));
}

#[test]
fn med_61_the_trace_of_a_session_is_a_claim_of_its_token() {
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let traced = guard().client(Some(&token(json!({ "trace": trace }))));
    assert_eq!(traced.ok().unwrap().trace(), Some(trace));
    assert_eq!(guard().client(Some(&token(json!({})))).ok().unwrap().trace(), None);
}
