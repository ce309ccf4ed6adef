//! Which manifests of `services/protocol/fixtures` a reader accepts. `parley-protocol` tests the fixtures of messages.
use super::address::Address;
use super::manifest::Manifest;
use serde_json::{Map, Value};

fn check(validity: &str, is_read: bool) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../services/protocol/fixtures/manifest.json");
    let mut tables: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let cases: Map<String, Value> = serde_json::from_value(tables[validity].take()).unwrap();
    assert!(!cases.is_empty(), "{file} has no {validity} manifest");
    for (name, fixture) in cases {
        let text = fixture["text"].as_str().map_or_else(|| fixture["message"].to_string(), str::to_owned);
        assert_eq!(Manifest::read(&text, Address::of(&text), u64::MAX).is_ok(), is_read, "{name}");
    }
}

#[test]
fn page_2_a_reader_accepts_valid_manifests_and_refuses_invalid_ones() {
    check("valid", true);
    check("invalid", false);
}
