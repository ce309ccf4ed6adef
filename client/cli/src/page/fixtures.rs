//! The messages of `services/protocol/fixtures`, as they are read and written here.
use super::address::Address;
use super::manifest::Manifest;
use super::message::{Ask, Said, Signal, Told};
use serde_json::Value;
use std::path::Path;

/// Names and texts of a family's messages.
fn fixtures(family: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../services/protocol/fixtures").join(family);
    let found: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!found.is_empty(), "{family}");
    let read = |path: &std::path::PathBuf| {
        let fixture: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let text = fixture["text"].as_str().map_or_else(|| fixture["message"].to_string(), str::to_owned);
        (path.display().to_string(), text)
    };
    found.iter().map(read).collect()
}

fn check(family: &str, is_read: impl Fn(&str) -> bool) {
    for (name, text) in fixtures(&format!("{family}/valid")) {
        assert!(is_read(&text), "{name} is refused");
    }
    for (name, text) in fixtures(&format!("{family}/invalid")) {
        assert!(!is_read(&text), "{name} is taken");
    }
}

#[test]
fn what_others_say_is_taken_where_it_is_of_its_shape_and_refused_where_not() {
    check("peer", |text| Said::read(text).is_some());
    check("link", |text| Signal::read(text.as_bytes()).is_some());
    check("manifest", |text| Manifest::read(text, Address::of(text), u64::MAX).is_ok());
}

#[test]
fn what_the_service_says_is_understood() {
    for (name, text) in fixtures("visit/valid") {
        let told: Told = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let kind = serde_json::from_str::<Value>(&text).unwrap()["type"].as_str().unwrap().to_owned();
        assert_eq!(matches!(told, Told::Other), ["ice", "pong"].contains(&kind.as_str()), "{name}");
    }
    let newer = r#"{"type":"later","more":1}"#;
    assert!(matches!(serde_json::from_str(newer), Ok(Told::Other)));
}

#[test]
fn what_the_service_is_told_is_of_its_shape() {
    for (name, text) in fixtures("visitor/valid") {
        let said: Value = serde_json::from_str(&text).unwrap();
        let page = || said["page"].as_str().unwrap().parse().unwrap();
        let without = || said["without"].as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned());
        let ask = match said["type"].as_str().unwrap() {
            "want" => Ask::Want { page: page(), without: without().collect() },
            "hold" => {
                let (whole, bytes) = (said["whole"].as_bool().unwrap(), said["bytes"].as_u64().unwrap());
                Ask::Hold { page: page(), whole, bytes }
            }
            "drop" => Ask::Drop { page: page() },
            "pipe" => Ask::Pipe { pipe: said["pipe"].as_str().unwrap().to_owned() },
            "ping" if said.as_object().unwrap().len() == 1 => Ask::Ping,
            // What is never said here, and fields of a newer client.
            _ => continue,
        };
        assert_eq!(serde_json::to_value(&ask).unwrap(), said, "{name}");
    }
}
