//! Verification of arbitrary and broken tokens, and the contracts of the ports: the rules for the memory of one pod also apply
//! to any other store.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod contracts;
#[allow(dead_code, reason = "the other tests use the rest")]
mod signer;

use contracts::{codes, grant, revocations};
use parley_access::revocations::Capacity;
use parley_access::{
    self as access, Codes, Entry, Grant, Keys, Pass, Revocation, Revoked, Term, one_use, pattern, scope, token,
};
use parley_net::codes::Code;
use parley_relay::config::KeyFile;
use parley_relay::key_files;
use parley_relay::limits::Limits;
use parley_streams::{Role, route};
use proptest::prelude::{any, prop, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use serde_json::json;
use signer::{AUDIENCE, claims, eddsa, hs256, now};
use std::sync::Arc;
use std::time::Duration;

fn read(token: &[u8]) -> Result<token::Claims, Code> {
    token::read(token, &signer::rules().keys, &Limits::default().access(), now())
}

proptest! {
    #![proptest_config(Config::with_cases(20_000))]

    #[test]
    fn str_101_arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(read(&bytes).unwrap_err(), Code::TokenInvalid);
    }

    #[test]
    fn str_101_arbitrary_parts_between_dots_are_refused(header in "[ -~]{0,60}", payload in any::<String>()) {
        for header in [header.as_str(), r#"{"alg":"HS256"}"#, r#"{"alg":"EdDSA","kid":"k1"}"#, r#"{"alg":"none"}"#] {
            use base64::Engine;
            let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
            let token = format!("{}.{}.{}", encode(header), encode(&payload), encode(&payload));
            prop_assert_eq!(read(token.as_bytes()).unwrap_err(), Code::TokenInvalid);
        }
    }

    #[test]
    fn str_101_a_token_with_one_changed_byte_is_refused(at in any::<prop::sample::Index>(), byte in any::<u8>(), ed in any::<bool>()) {
        let good = if ed { eddsa(&claims(json!({}))) } else { hs256(&claims(json!({}))) };
        let mut bytes = good.clone().into_bytes();
        let at = at.index(bytes.len());
        let changed = bytes[at] != byte;
        bytes[at] = byte;
        prop_assert_eq!(read(&bytes).is_ok(), !changed);
    }

    #[test]
    fn str_105_the_claims_determine_the_permissions(
        patterns in prop::collection::vec("[ab*]{1,2}(/[ab*]{1,2}){0,2}", 0..6), path in "[ab]{1,2}(/[ab]{1,2}){0,2}",
    ) {
        let token = hs256(&claims(json!({"publish": patterns, "subscribe": []})));
        let route = route::parse(&format!("/in/{path}"), 512).unwrap();
        let role = read(token.as_bytes()).and_then(|claims| scope::role(&claims, AUDIENCE, &route));
        let expected = if !patterns.iter().all(|one| pattern::is_valid(one)) {
            Err(Code::TokenInvalid)
        } else if patterns.iter().any(|one| pattern::matches(one, &path)) {
            Ok(Role::Publish)
        } else {
            Err(Code::TokenInsufficientScope)
        };
        prop_assert_eq!(role, expected);
    }

    #[test]
    fn str_103_any_number_in_a_time_claim_is_handled(exp in any::<u64>(), nbf in any::<u64>(), iat in any::<u64>()) {
        let token = hs256(&claims(json!({"exp": exp, "nbf": nbf, "iat": iat})));
        prop_assert_eq!(read(token.as_bytes()).is_ok(), false);
    }

    #[test]
    fn str_103_all_time_claims_are_checked(exp in 0..200_000u64, nbf in 0..100_000u64, iat in 0..100_000u64, now in 50_000..110_000u64) {
        let token = hs256(&claims(json!({"exp": exp, "nbf": nbf, "iat": iat})));
        let read = token::read(token.as_bytes(), &signer::rules().keys, &Limits::default().access(), now);
        let good = exp > now && nbf <= now + 5 && iat <= now + 5 && exp.saturating_sub(iat) <= 86_400;
        prop_assert_eq!(read.is_ok(), good);
    }
}

#[test]
fn str_103_the_leeway_applies_to_the_beginning_and_not_to_the_end() {
    let limits = Limits::default();
    let read = |changes| {
        token::read(hs256(&claims(changes)).as_bytes(), &signer::rules().keys, &limits.access(), 1000).map(|_| ())
    };
    for (changes, expected) in [
        (json!({"exp": 1001}), Ok(())),
        (json!({"exp": 1000}), Err(Code::TokenExpired)),
        (json!({"exp": 1100, "nbf": 1005}), Ok(())),
        (json!({"exp": 1100, "nbf": 1006}), Err(Code::TokenNotYetValid)),
        (json!({"exp": 1100, "iat": 1005}), Ok(())),
        (json!({"exp": 1100, "iat": 1006}), Err(Code::TokenNotYetValid)),
        (json!({"exp": 1000 + 86_400}), Ok(())),
        (json!({"exp": 1001 + 86_400}), Err(Code::TokenInvalid)),
        (json!({"exp": 900 + 86_400, "iat": 900}), Ok(())),
        (json!({"exp": 901 + 86_400, "iat": 900}), Err(Code::TokenInvalid)),
    ] {
        assert_eq!(read(changes.clone()), expected, "{changes}");
    }
}

#[test]
fn str_104_sizes_have_limits() {
    let limits = Limits { token_patterns: 3, token_name_bytes: 16, ..Limits::default() };
    let read = |changes| {
        token::read(hs256(&claims(changes)).as_bytes(), &signer::rules().keys, &limits.access(), now()).map(|_| ())
    };
    assert_eq!(read(json!({"publish": ["a", "b"], "subscribe": ["c"]})), Ok(()));
    assert_eq!(read(json!({"publish": ["a", "b"], "subscribe": ["c", "d"]})), Err(Code::TokenInvalid));
    assert_eq!(read(json!({"sub": "s".repeat(16)})), Ok(()));
    assert_eq!(read(json!({"sub": "s".repeat(17)})), Err(Code::TokenInvalid));
    let token = hs256(&claims(json!({})));
    for (token_bytes, is_good) in [(token.len(), true), (token.len() - 1, false)] {
        let limits = Limits { token_bytes: token_bytes as u64, ..Limits::default() };
        assert_eq!(token::read(token.as_bytes(), &signer::rules().keys, &limits.access(), now()).is_ok(), is_good);
    }
}

#[test]
fn str_106_the_path_and_the_patterns_decide_the_role_together() {
    let role = |path: &str, changes| {
        let claims = read(hs256(&claims(changes)).as_bytes()).unwrap();
        scope::role(&claims, AUDIENCE, &route::parse(path, 512).unwrap())
    };
    let lists = |publish: &str, subscribe: &str| json!({"publish": [publish], "subscribe": [subscribe]});
    for (path, publish, subscribe, expected) in [
        ("/lab/7", "lab/*", "lab/7", Ok(Role::Both)),
        ("/lab/7", "lab/*", "x", Ok(Role::Publish)),
        ("/lab/7", "x", "**", Ok(Role::Subscribe)),
        ("/in/lab/7", "lab/7", "lab/7", Ok(Role::Publish)),
        ("/out/lab/7", "lab/7", "lab/7", Ok(Role::Subscribe)),
        ("/in/lab/7", "x", "**", Err(Code::TokenInsufficientScope)),
        ("/out/lab/7", "**", "x", Err(Code::TokenInsufficientScope)),
        ("/in/lab/7", "in/lab/7", "x", Err(Code::TokenInsufficientScope)),
        ("/in/out/7", "out/7", "x", Ok(Role::Publish)),
    ] {
        assert_eq!(role(path, lists(publish, subscribe)), expected, "{path} {publish} {subscribe}");
    }
    for (path, aud, expected) in [
        ("/lab/7", json!("parley:streams/lab/7"), Ok(Role::Both)),
        ("/in/lab/7", json!(["x", "parley:streams/in/lab/7"]), Ok(Role::Publish)),
        ("/out/lab/7", json!("parley:streams/in/lab/7"), Err(Code::TokenInsufficientScope)),
        ("/in/lab/7", json!("parley:streams/lab/7"), Err(Code::TokenInsufficientScope)),
        ("/lab/caf%C3%A9", json!("parley:streams/lab/café"), Ok(Role::Both)),
    ] {
        assert_eq!(role(path, json!({"aud": aud, "publish": null, "subscribe": null})), expected, "{path} {aud}");
    }
}

#[tokio::test]
async fn str_111_codes_in_memory_keep_the_contract() {
    let lifetime = Duration::from_millis(500);
    let memory = one_use::Memory::new(10, 10, lifetime);
    codes(&memory, &memory, lifetime).await;
}

#[tokio::test]
async fn str_131_codes_are_limited_for_each_network() {
    let memory = one_use::Memory::new(10, 2, Duration::from_millis(50));
    let pass = || Pass { path: "/in/a".into(), role: Role::Publish, grant: grant("ada") };
    let [one, other] = [[192, 0, 2, 1].into(), [192, 0, 2, 2].into()];
    assert!(memory.store(pass(), one).await.is_ok() && memory.store(pass(), one).await.is_ok());
    assert_eq!(memory.store(pass(), one).await, Err(Code::TooManyCodes));
    assert!(memory.store(pass(), other).await.is_ok());
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert!(memory.store(pass(), one).await.is_ok(), "expired codes still take room");
}

#[tokio::test]
async fn str_115_revocations_in_memory_keep_the_contract() {
    let revoked = Arc::new(Revoked::new(Capacity { requested: 2, departed: 2 }));
    revocations(&access::revocations::Memory(Arc::clone(&revoked)), &revoked).await;
}

fn entry(name: &str, until: u64) -> Entry {
    Entry { revocation: Revocation::Subject(name.into()), term: Term::all(until) }
}

#[test]
fn str_115_an_expired_revocation_makes_room() {
    let revoked = Revoked::new(Capacity { requested: 1, departed: 1 });
    revoked.add(entry("a", 100), 50).unwrap();
    revoked.add(entry("a", 60), 50).unwrap();
    assert_eq!(revoked.add(entry("b", 200), 99), Err(Code::TooManyRevocations));
    revoked.add(entry("b", 200), 100).unwrap();
    assert!(!revoked.covers(&grant("a")) && revoked.covers(&grant("b")));
}

#[test]
fn str_120_departures_and_revocations_have_separate_room_and_departures_replace_each_other() {
    let left = |name: &str, until| Entry { term: Term { generation: Some(5), until }, ..entry(name, 0) };
    let most = Capacity { requested: 1, departed: 2 };
    let (one, other) = (Revoked::new(most), Revoked::new(most));
    let all = [left("a", 100), left("b", 200), left("c", 150), left("d", 90)];
    let refused = |list: &Revoked, all: Vec<Entry>| list.merge(all, 50);
    assert_eq!(refused(&one, all.to_vec()), 1, "the departure that expires first is refused");
    assert!(!one.covers(&grant("a")) && one.covers(&grant("b")) && one.covers(&grant("c")) && !one.covers(&grant("d")));
    one.add(entry("e", 60), 50).unwrap();
    other.add(entry("e", 60), 50).unwrap();
    refused(&other, all.into_iter().rev().collect());
    assert_eq!(one.digest(50), other.digest(50), "the digest depends on the order");
    assert_eq!(one.add(entry("f", 300), 50), Err(Code::TooManyRevocations));
    assert_eq!(one.add(entry("b", 300), 50), Err(Code::TooManyRevocations), "also for a participant with a departure");
    assert!(one.covers(&grant("b")) && one.covers(&grant("e")));
    assert_eq!(one.entries(200).len(), 0);
}

#[test]
fn str_120_a_revocation_up_to_a_generation_leaves_higher_ones_alone() {
    let revoked = Revoked::new(Capacity { requested: 10, departed: 10 });
    let up_to = |last| Entry { term: Term { generation: Some(last), until: 100 }, ..entry("a", 0) };
    revoked.add(up_to(5), 50).unwrap();
    let of = |generation| Grant { generation, ..grant("a") };
    for (grant, expected) in [(of(Some(4)), true), (of(Some(5)), true), (of(Some(6)), false), (of(None), true)] {
        assert_eq!(revoked.covers(&grant), expected, "{grant:?}");
    }
    // The union of both, in either order.
    let (later, all) = (
        Revoked::new(Capacity { requested: 10, departed: 10 }),
        Revoked::new(Capacity { requested: 10, departed: 10 }),
    );
    later.merge(vec![up_to(6), up_to(5)], 50);
    assert!(later.covers(&of(Some(6))) && !later.covers(&of(Some(7))));
    all.merge(vec![entry("a", 70), up_to(5)], 50);
    later.merge(vec![entry("a", 70)], 50);
    assert!(later.covers(&of(Some(7))) && later.entries(99).len() == 1);
    assert_ne!(later.digest(50), revoked.digest(50));
    revoked.merge(all.entries(50), 50);
    later.merge(revoked.entries(50), 50);
    assert_eq!(later.entries(50), vec![entry("a", 100)]);
    assert_eq!(later.digest(50), revoked.digest(50));
}

#[test]
fn str_118_merged_lists_are_equal_in_any_order_and_share_a_digest() {
    let (one, other) = (
        Revoked::new(Capacity { requested: 10, departed: 10 }),
        Revoked::new(Capacity { requested: 10, departed: 10 }),
    );
    assert_eq!(one.digest(5), other.digest(5));
    let entries = [entry("a", 100), entry("b", 200), entry("a", 150), entry("c", 60)];
    for known in &entries {
        one.add(known.clone(), 50).unwrap();
        assert_ne!(one.digest(50), other.digest(50));
    }
    assert_eq!(other.merge(entries.iter().rev().cloned().collect(), 50), 0);
    assert_eq!(one.digest(50), other.digest(50));
    // Expired entries are in neither list, and are not merged again.
    assert_eq!(one.digest(60), other.digest(60));
    assert_eq!((one.merge(vec![entry("c", 60)], 60), one.entries(60).len()), (0, 2));
    assert_eq!(one.digest(200), Revoked::new(Capacity { requested: 1, departed: 1 }).digest(200));
    let token = Entry { revocation: Revocation::Token("a".into()), term: Term::all(150) };
    one.merge(vec![entry("a", 150)], 50);
    other.merge(vec![token], 50);
    assert_ne!(one.digest(50), other.digest(50), "a name of another kind matches");
}

#[test]
fn str_119_the_list_of_another_pod_is_bounded() {
    let revoked = Revoked::new(Capacity { requested: 2, departed: 2 });
    let names = ["a", "b", "c", "a", "d"];
    assert_eq!(revoked.merge(names.map(|name| entry(name, 100)).to_vec(), 50), 2);
    assert_eq!(revoked.entries(50).len(), 2);
}

#[test]
fn str_117_a_code_names_its_pod_and_other_texts_are_no_codes() {
    let memory = one_use::Memory::new(1, 1, Duration::from_secs(60));
    let code = "AAAAAAAABBBBBBBBBBBBBBBBBBBBBA";
    assert_eq!(one_use::prefix(code), Some("AAAAAAAA"));
    assert_eq!(memory.prefix().len(), 8);
    let long = format!("{code}A");
    for bad in ["", "AAAAAAAA", &code[1..], &long, "AAAA.AAABBBBBBBBBBBBBBBBBBBBBA", "éAAAAAABBBBBBBBBBBBBBBBBBBBBBA"]
    {
        assert_eq!(one_use::prefix(bad), None, "{bad}");
    }
}

/// A directory whose file is replaced as the kubelet replaces that of a Secret: by a symbolic link to another directory.
struct Volume(std::path::PathBuf);

impl Volume {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("parley-relay-keys-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::os::unix::fs::symlink("..data/keys.json", path.join("keys.json")).unwrap();
        Self(path)
    }

    fn replace(&self, version: &str, text: &str) {
        std::fs::create_dir(self.0.join(version)).unwrap();
        std::fs::write(self.0.join(version).join("keys.json"), text).unwrap();
        std::os::unix::fs::symlink(version, self.0.join("..data_tmp")).unwrap();
        std::fs::rename(self.0.join("..data_tmp"), self.0.join("..data")).unwrap();
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn key_8_a_key_set_that_is_replaced_is_used_without_a_restart() {
    let other = signer::key_set().replace(&format!("\"{}\"", signer::KID), "\"other\"");
    let volume = Volume::new();
    volume.replace("..1", &other);
    let keys = Keys::default().with_set(&other).unwrap();
    let path = volume.0.join("keys.json").display().to_string();
    let file = KeyFile { path, keys: keys.clone() };
    let following = tokio::spawn(key_files::follow(vec![file], Duration::from_millis(5)));
    let token = eddsa(&claims(json!({})));
    let is_valid = || token::read(token.as_bytes(), &keys, &Limits::default().access(), now()).is_ok();
    let until = async |valid: bool| {
        let wait = async {
            while is_valid() != valid {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), wait).await.unwrap();
    };
    assert!(!is_valid());
    volume.replace("..2", &signer::key_set());
    until(true).await;
    volume.replace("..3", &other);
    until(false).await;
    following.abort();
}
