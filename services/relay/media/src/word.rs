//! What a relay says to signaling of its media, over NATS: where clients are sent. Rules MEDIA-1 and MEDIA-2.
use parley_cluster::hash::Hash;
use parley_cluster::lease::is_name;
use parley_cluster::place::Role;
use parley_cluster::url::Url;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::num::NonZeroU64;

/// One message; the fields are those of the protocol's `media.ts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Word {
    /// The pod's name.
    #[serde(deserialize_with = "name")]
    pub relay: String,
    /// Which run of it.
    pub epoch: u64,
    /// Its place in the tree.
    pub role: Role,
    /// Where clients connect.
    pub url: Url,
    /// The current and the next; none where a public CA signed it.
    pub certificate_hashes: Vec<Hash>,
    /// Clients' sessions now.
    pub sessions: u64,
    /// How many it takes.
    pub capacity: NonZeroU64,
    /// The last word.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gone: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    if is_name(&name) { Ok(name) } else { Err(D::Error::custom("no name of a pod")) }
}

/// Where a pod says it: NATS lets it say nothing on another's.
pub fn subject(region: &str, pod: &str) -> String {
    format!("parley.v1.media.relay.{region}.{pod}")
}

impl Word {
    /// As it goes onto the bus.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::path::Path;

    /// The messages of the protocol's fixtures, by file name.
    fn fixtures(kind: &str) -> Vec<(String, Value)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocol/fixtures/media");
        let files = std::fs::read_dir(Path::new(folder).join(kind)).unwrap().map(|file| file.unwrap().path());
        let message =
            |path: &Path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap()["message"].take();
        let all: Vec<_> = files.map(|path| (path.display().to_string(), message(&path))).collect();
        assert!(all.len() >= 3, "{folder}/{kind}");
        all
    }

    #[test]
    fn media_1_a_word_is_as_the_protocol_has_it() {
        for (file, message) in fixtures("valid") {
            let word: Word = serde_json::from_value(message.clone()).unwrap_or_else(|why| panic!("{file}: {why}"));
            assert_eq!(serde_json::from_slice::<Value>(&word.bytes()).unwrap(), message, "{file}");
        }
    }

    #[test]
    fn media_1_what_the_protocol_refuses_cannot_be_said() {
        for (file, message) in fixtures("invalid") {
            assert!(serde_json::from_value::<Word>(message).is_err(), "{file}");
        }
    }
}
