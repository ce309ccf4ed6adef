//! Whether tokens are asked for, and the keys they are verified with. Rule STR-116.
use super::Refused;
use parley_access::{Keys, Rules};
use parley_protocol::audiences::STREAMS_AUDIENCE;
use std::path::Path;

/// What the settings say, wherever they say it.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub access: Option<String>,
    pub audience: Option<String>,
    /// Only from the environment.
    pub secret: Option<String>,
    pub secret_file: Option<String>,
    pub keys_file: Option<String>,
}

/// The rules for tokens; `None`: everybody may.
pub(super) fn rules(given: Given) -> Result<Option<Rules>, Refused> {
    let asks = match given.access.as_deref() {
        None | Some("open") => false,
        Some("token") => true,
        Some(other) => return refuse(format!("access must be open or token, not {other}")),
    };
    let audience = given.audience.unwrap_or_else(|| STREAMS_AUDIENCE.into());
    if audience.ends_with('/') {
        return refuse(format!("audience must not end with a slash, as a path is appended to it: {audience}"));
    }
    let keys = keys(given.secret, given.secret_file.as_deref(), given.keys_file.as_deref())?;
    match (asks, keys.is_empty()) {
        (true, false) => Ok(Some(Rules { audience, keys })),
        (false, true) => Ok(None),
        (true, true) => {
            refuse("access is token, so a key is needed: keys, token-secret-file or PARLEY_RELAY_TOKEN_SECRET")
        }
        (false, false) => {
            refuse("there is a key for tokens, but access is open: set access to token, or take the key away")
        }
    }
}

fn keys(secret: Option<String>, secret_file: Option<&str>, keys_file: Option<&str>) -> Result<Keys, Refused> {
    let secret = match (secret, secret_file) {
        (Some(_), Some(_)) => {
            return refuse("the token secret is set twice: in the environment and by token-secret-file");
        }
        (secret, None) => secret,
        (None, Some(path)) => Some(read(path)?.trim_end().to_owned()),
    };
    let mut keys = Keys::default();
    if let Some(secret) = secret {
        keys = keys.with_secret(&secret).map_err(Refused::Setting)?;
    }
    match keys_file {
        Some(path) => key_set(keys, path),
        None => Ok(keys),
    }
}

/// Adds the key set of a file.
pub(super) fn key_set(keys: Keys, path: &str) -> Result<Keys, Refused> {
    keys.with_set(&read(path)?).map_err(|why| Refused::Setting(format!("{path}: {why}")))
}

pub(super) fn read(path: &str) -> Result<String, Refused> {
    std::fs::read_to_string(Path::new(path))
        .map_err(|why| Refused::Setting(format!("{path} cannot be read: {}", why.kind())))
}

fn refuse<T>(sentence: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Setting(sentence.into()))
}
