//! The cases of `services/protocol/fixtures`: the Rust types accept and refuse the same messages as the schemas of TypeScript.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot continue fails")]

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parley_protocol::{client, decode, directed, http, link, manifest, media, peer, server, tokens, visit, visitor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// One case of a table, named `{kind}.{case}`.
struct Fixture {
    name: String,
    kind: String,
    fixture: Value,
}

impl Fixture {
    fn text(&self) -> String {
        self.fixture["text"].as_str().map_or_else(|| self.fixture["message"].to_string(), str::to_owned)
    }

    fn bytes(&self, text: &str, base64: &str) -> Vec<u8> {
        match self.fixture[text].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => BASE64_STANDARD.decode(self.fixture[base64].as_str().unwrap()).unwrap(),
        }
    }
}

/// The cases of `family` under `validity`: `valid` or `invalid`.
fn fixtures(family: &str, validity: &str) -> Vec<Fixture> {
    let file = format!("{}/../fixtures/{family}.json", env!("CARGO_MANIFEST_DIR"));
    let mut tables: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let cases: Map<String, Value> = serde_json::from_value(tables[validity].take()).unwrap();
    assert!(cases.len() >= 3, "{family} has {} {validity} cases", cases.len());
    cases
        .into_iter()
        .map(|(name, fixture)| Fixture { kind: name.split('.').next().unwrap().to_owned(), name, fixture })
        .collect()
}

/// Whether `written` is `read` without the fields that the schema does not know.
fn is_part(written: &Value, read: &Value) -> bool {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            written.iter().all(|(name, value)| read.get(name).is_some_and(|read| is_part(value, read)))
        }
        (Value::Array(written), Value::Array(read)) => {
            written.len() == read.len() && written.iter().zip(read).all(|(written, read)| is_part(written, read))
        }
        _ => written == read,
    }
}

fn valid<Message: DeserializeOwned + Serialize>(one: &Fixture) {
    let message: Message = decode(one.text().as_bytes()).unwrap_or_else(|| panic!("{} is refused", one.name));
    let (written, read) = (serde_json::to_value(&message).unwrap(), serde_json::from_str(&one.text()).unwrap());
    let ignored = one.fixture.get("ignored").is_some() || one.name.contains("unknown-field");
    assert!(if ignored { is_part(&written, &read) } else { written == read }, "{}: {written}", one.name);
}

/// All messages of a family. `newer`: whether a message has an unknown type, which is read as a type of a newer sender.
fn family<Message: DeserializeOwned + Serialize>(family: &str, newer: impl Fn(&Message) -> bool) {
    fixtures(family, "valid").iter().for_each(valid::<Message>);
    for one in fixtures(family, "invalid") {
        let accepted = decode::<Message>(one.text().as_bytes());
        assert!(accepted.is_none_or(|message| newer(&message)), "{family}: {} is accepted", one.name);
    }
}

#[test]
fn messages_are_read_and_written_as_in_typescript() {
    family::<client::Message>("client", |_| false);
    family::<server::Message>("server", |message| *message == server::Message::Unknown);
    family::<visitor::Message>("visitor", |_| false);
    family::<visit::Message>("visit", |message| *message == visit::Message::Unknown);
    family::<link::Message>("link", |_| false);
    family::<peer::Message>("peer", |_| false);
    family::<manifest::PageManifest>("manifest", |_| false);
}

/// Reads a body, or the claims of a token, as the type of its name.
fn body(one: &Fixture, is_valid: bool) {
    macro_rules! bodies {
        ($($name:literal => $body:ty,)*) => {
            match one.kind.as_str() {
                $($name if is_valid => valid::<$body>(one),
                $name => assert!(decode::<$body>(one.text().as_bytes()).is_none(), "{} is accepted", one.name),)*
                "any" => {}
                other => panic!("{other} has no Rust type"),
            }
        };
    }
    bodies! {
        "create-room-request" => http::CreateRoomRequest,
        "create-room-answer" => http::CreateRoomAnswer,
        "change-room-request" => http::ChangeRoomRequest,
        "room-view" => parley_protocol::shared::RoomView,
        "ban-request" => http::BanRequest,
        "ban" => parley_protocol::shared::Ban,
        "ban-list" => http::BanList,
        "participant-list" => http::ParticipantList,
        "join-request" => http::JoinRequest,
        "join-answer" => http::JoinAnswer,
        "region-list" => parley_protocol::shared::RegionList,
        "live-request" => http::LiveRequest,
        "live-answer" => http::LiveAnswer,
        "error-answer" => http::ErrorAnswer,
        "media-relay" => media::MediaRelay,
        "relay-mutes" => media::RelayMutes,
        "ticket-claims" => tokens::TicketClaims,
        "resume-claims" => tokens::ResumeClaims,
        "media-claims" => tokens::MediaClaims,
    }
}

#[test]
fn bodies_claims_and_leases_are_read_and_written_as_in_typescript() {
    for family in ["http", "tokens", "media"] {
        fixtures(family, "valid").iter().for_each(|one| body(one, true));
        fixtures(family, "invalid").iter().for_each(|one| body(one, false));
    }
}

#[test]
fn directed_messages_are_read_and_written_as_in_typescript() {
    for one in fixtures("directed", "valid") {
        let (message, payload) = (one.bytes("text", "base64"), one.bytes("payload", "payloadBase64"));
        let field = |name: &str| one.fixture[name].as_str().unwrap_or_default();
        if field("direction") == "to-client" {
            assert_eq!(directed::received(&message), Some((field("from"), payload.as_slice())), "{}", one.name);
        } else if let Ok(payload) = std::str::from_utf8(&payload) {
            assert_eq!(directed::text(field("to"), field("id"), payload).as_bytes(), message, "{}", one.name);
        }
    }
    for one in fixtures("directed", "invalid").iter().filter(|one| one.fixture["direction"] == "to-client") {
        assert_eq!(directed::received(&one.bytes("text", "base64")), None, "{}", one.name);
    }
}
