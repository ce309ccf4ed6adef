//! The keys that verify tokens. The key determines the algorithm; a token does not. Rules STR-101 and STR-102.
use super::crypto;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use parking_lot::RwLock;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// The shared secret, the key set, or both. Clones have the key set in common: one that is replaced is replaced for all.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    shared: Option<DecodingKey>,
    named: Arc<RwLock<HashMap<String, DecodingKey>>>,
}

/// The operator's key set: the file with which signaling signs, or a copy without the private parts, which are never read here.
#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Jwk>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    crv: String,
    kid: String,
    x: String,
}

/// RFC 7518 section 3.2: a key is at least as long as the hash.
const MIN_SECRET_BYTES: usize = 32;
/// The length of a public key: RFC 8032 section 5.1.5.
const PUBLIC_BYTES: usize = 32;

impl Keys {
    /// Adds the secret of HS256. The error is a sentence for the operator.
    pub fn with_secret(mut self, secret: &str) -> Result<Self, String> {
        crypto::install();
        if secret.len() < MIN_SECRET_BYTES {
            return Err(format!("the token secret must be at least {MIN_SECRET_BYTES} bytes long"));
        }
        self.shared = Some(DecodingKey::from_secret(secret.as_bytes()));
        Ok(self)
    }

    /// Adds a key set as JSON: `{"active": …, "keys": [{"kty": "OKP", "crv": "Ed25519", "kid": …, "x": …}]}`. The error is a sentence for the
    /// operator that quotes nothing of the set.
    pub fn with_set(mut self, json: &str) -> Result<Self, String> {
        self.named = Arc::new(RwLock::new(Self::parse(json)?));
        Ok(self)
    }

    /// Replaces the key set, here and in all clones, or changes nothing where this one is not valid. The error is as that of `with_set`.
    pub fn replace_set(&self, json: &str) -> Result<(), String> {
        *self.named.write() = Self::parse(json)?;
        Ok(())
    }

    fn parse(json: &str) -> Result<HashMap<String, DecodingKey>, String> {
        crypto::install();
        let set: KeySet = serde_json::from_str(json)
            .map_err(|error| format!("not a key set, at line {}, column {}", error.line(), error.column()))?;
        if set.keys.is_empty() {
            return Err("a key set needs at least one key".into());
        }
        let mut named = HashMap::new();
        for key in set.keys {
            let public = URL_SAFE_NO_PAD.decode(&key.x).unwrap_or_default();
            if (key.kty.as_str(), key.crv.as_str()) != ("OKP", "Ed25519") || public.len() != PUBLIC_BYTES {
                return Err(format!("key {} is not an Ed25519 key", key.kid));
            }
            if key.kid.is_empty() || named.insert(key.kid.clone(), DecodingKey::from_ed_der(&public)).is_some() {
                return Err(format!("every key needs a kid of its own, not {:?}", key.kid));
            }
        }
        Ok(named)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.shared.is_none() && self.named.read().is_empty()
    }

    /// The `kid` of each key of the set, in alphabetical order.
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.named.read().keys().cloned().collect();
        ids.sort_unstable();
        ids
    }

    /// The key for the `kid` of a token, with the only algorithm that is accepted with it.
    pub(super) fn find(&self, kid: Option<&str>) -> Option<(DecodingKey, Algorithm)> {
        match kid {
            Some(kid) => self.named.read().get(kid).map(|key| (key.clone(), Algorithm::EdDSA)),
            None => self.shared.clone().map(|key| (key, Algorithm::HS256)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn set(keys: &str) -> Result<Keys, String> {
        Keys::default().with_set(&format!(r#"{{"active": "a", "keys": [{keys}]}}"#))
    }

    #[test]
    fn str_101_a_key_is_found_by_kid_and_has_one_algorithm() {
        let keys = set(&format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"a","x":"{X}","d":"never read","use":"sig"}}"#));
        let keys = keys.unwrap();
        assert!(keys.find(None).is_none());
        let keys = keys.with_secret(&"s".repeat(32)).unwrap();
        assert_eq!(keys.find(Some("a")).unwrap().1, Algorithm::EdDSA);
        assert_eq!(keys.find(None).unwrap().1, Algorithm::HS256);
        assert!(keys.find(Some("b")).is_none() && keys.find(Some("")).is_none());
        assert!(!keys.is_empty() && Keys::default().is_empty());
        let shown = format!("{keys:?}");
        assert!(!shown.contains("ssss") && !shown.contains("115"), "{shown}");
    }

    #[test]
    fn key_8_a_set_is_replaced_in_all_clones_by_a_valid_one_alone() {
        let key = |kid: &str| format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{X}"}}"#);
        let text = |keys: String| format!(r#"{{"active": "a", "keys": [{keys}]}}"#);
        let keys = set(&key("a")).unwrap().with_secret(&"s".repeat(32)).unwrap();
        let clone = keys.clone();
        keys.replace_set(&text(format!("{},{}", key("b"), key("a")))).unwrap();
        assert_eq!(clone.ids(), ["a", "b"]);
        keys.replace_set(&text(key("b"))).unwrap();
        assert!(clone.find(Some("a")).is_none() && clone.find(Some("b")).is_some() && clone.find(None).is_some());
        for wrong in [text(String::new()), text(format!("{},{}", key("c"), key("c"))), "none".into()] {
            keys.replace_set(&wrong).unwrap_err();
            assert_eq!(clone.ids(), ["b"]);
        }
    }

    #[test]
    fn str_102_an_invalid_key_set_is_refused_with_a_sentence_that_quotes_no_secret() {
        let key =
            |kid: &str, x: &str| format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}","d":"SECRET"}}"#);
        for (keys, sentence) in [
            (String::new(), "at least one key"),
            (key("", X), "a kid of its own"),
            (format!("{},{}", key("a", X), key("a", X)), "a kid of its own"),
            (key("a", "AAAA"), "key a is not an Ed25519 key"),
            (key("a", X).replace("OKP", "RSA"), "key a is not an Ed25519 key"),
            (key("a", X).replace("Ed25519", "X25519"), "key a is not an Ed25519 key"),
            (r#"{"kty":"oct","kid":"a","k":"SECRET"}"#.into(), "not a key set, at line 1"),
        ] {
            let refused = set(&keys).unwrap_err();
            assert!(refused.contains(sentence) && !refused.contains("SECRET"), "{refused}");
        }
        assert!(Keys::default().with_secret(&"s".repeat(31)).unwrap_err().contains("at least 32 bytes"));
    }
}
