//! Tests of the manifests in `services/protocol/fixtures`. The types of the protocol package test messages.
use super::address::Address;
use super::manifest::Manifest;
use serde_json::Value;
use std::path::Path;

fn check(folder: &str, is_read: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../services/protocol/fixtures/manifest").join(folder);
    let found: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!found.is_empty(), "{}", folder.display());
    for path in found {
        let fixture: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let text = fixture["text"].as_str().map_or_else(|| fixture["message"].to_string(), str::to_owned);
        assert_eq!(Manifest::read(&text, Address::of(&text), u64::MAX).is_ok(), is_read, "{}", path.display());
    }
}

#[test]
fn page_2_a_manifest_is_taken_where_it_is_of_its_shape_and_refused_where_not() {
    check("valid", true);
    check("invalid", false);
}
