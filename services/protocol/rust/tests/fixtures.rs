//! The examples of `services/protocol/fixtures`: what the TypeScript takes and refuses, the Rust takes and refuses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parley_protocol::{client, decode, directed, http, link, manifest, media, peer, server, tokens, visit, visitor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// A message and what it is named by its file: `{type}.{what}`.
struct Fixture {
    file: String,
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

fn fixtures(folder: &str) -> Vec<Fixture> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures")).join(folder);
    let read = |path: std::path::PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let fixture = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        Fixture { kind: file.split('.').next().unwrap().to_owned(), file, fixture }
    };
    let found: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| read(entry.unwrap().path())).collect();
    assert!(found.len() >= 3, "{}", folder.display());
    found
}

/// Fields of `written` are those of `read`, as far as the schema knows them.
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
    let message: Message = decode(one.text().as_bytes()).unwrap_or_else(|| panic!("{} is refused", one.file));
    let (written, read) = (serde_json::to_value(&message).unwrap(), serde_json::from_str(&one.text()).unwrap());
    let ignored = one.fixture.get("ignored").is_some() || one.file.contains("unknown-field");
    assert!(if ignored { is_part(&written, &read) } else { written == read }, "{}: {written}", one.file);
}

/// All messages of a family. `newer`: of a type that is not known, and taken for one of a newer sender.
fn family<Message: DeserializeOwned + Serialize>(folder: &str, newer: impl Fn(&Message) -> bool) {
    fixtures(&format!("{folder}/valid")).iter().for_each(valid::<Message>);
    for one in fixtures(&format!("{folder}/invalid")) {
        let taken = decode::<Message>(one.text().as_bytes());
        assert!(taken.is_none_or(|message| newer(&message)), "{folder}: {} is taken", one.file);
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
    family::<media::MediaRelay>("media", |_| false);
    family::<manifest::PageManifest>("manifest", |_| false);
}

/// What a body or claims of a name are read as.
fn body(one: &Fixture, is_valid: bool) {
    macro_rules! bodies {
        ($($name:literal => $body:ty,)*) => {
            match one.kind.as_str() {
                $($name if is_valid => valid::<$body>(one),
                $name => assert!(decode::<$body>(one.text().as_bytes()).is_none(), "{} is taken", one.file),)*
                "any" => {}
                other => panic!("{other} has no Rust"),
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
        "live-request" => http::LiveRequest,
        "live-answer" => http::LiveAnswer,
        "error-answer" => http::ErrorAnswer,
        "ticket-claims" => tokens::TicketClaims,
        "resume-claims" => tokens::ResumeClaims,
        "media-claims" => tokens::MediaClaims,
    }
}

#[test]
fn bodies_and_claims_are_read_and_written_as_in_typescript() {
    for folder in ["http", "tokens"] {
        fixtures(&format!("{folder}/valid")).iter().for_each(|one| body(one, true));
        fixtures(&format!("{folder}/invalid")).iter().for_each(|one| body(one, false));
    }
}

#[test]
fn directed_messages_are_read_and_written_as_in_typescript() {
    for one in fixtures("directed/valid") {
        let (message, payload) = (one.bytes("text", "base64"), one.bytes("payload", "payloadBase64"));
        let field = |name: &str| one.fixture[name].as_str().unwrap_or_default();
        if field("direction") == "to-client" {
            assert_eq!(directed::received(&message), Some((field("from"), payload.as_slice())), "{}", one.file);
        } else if let Ok(payload) = std::str::from_utf8(&payload) {
            assert_eq!(directed::text(field("to"), field("id"), payload).as_bytes(), message, "{}", one.file);
        }
    }
    for one in fixtures("directed/invalid").iter().filter(|one| one.fixture["direction"] == "to-client") {
        assert_eq!(directed::received(&one.bytes("text", "base64")), None, "{}", one.file);
    }
}
