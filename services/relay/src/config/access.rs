//! Whether clients need tokens, and the keys that verify them. Rule STR-116.
use super::Refused;
use parley_access::{Keys, Rules};
use parley_protocol::audiences::STREAMS_AUDIENCE;
use std::path::Path;

/// The settings of access.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Flags {
    /// Whether clients need tokens: open or token [open]
    #[arg(long, env = "PARLEY_RELAY_ACCESS", value_name = "open|token")]
    pub(super) access: Option<String>,
    /// Audience of tokens [parley:streams]
    #[arg(long, env = "PARLEY_RELAY_AUDIENCE", value_name = "NAME")]
    pub(super) audience: Option<String>,
    /// Key set that verifies tokens with a kid (JSON) [none]
    #[arg(long, env = "PARLEY_RELAY_KEYS", value_name = "FILE")]
    pub(super) keys: Option<String>,
    /// File with the secret of tokens without a kid; the secret itself can only be in PARLEY_RELAY_TOKEN_SECRET [none]
    #[arg(long, env = "PARLEY_RELAY_TOKEN_SECRET_FILE", value_name = "FILE")]
    pub(super) token_secret_file: Option<String>,
}

/// Returns the rules for tokens; `None`: access is open. The secret is only read from the environment.
pub(super) fn rules(flags: Flags, secret: Option<String>) -> Result<Option<Rules>, Refused> {
    let requires_tokens = match flags.access.as_deref() {
        None | Some("open") => false,
        Some("token") => true,
        Some(other) => return refuse(format!("access must be open or token, not {other}")),
    };
    let audience = flags.audience.unwrap_or_else(|| STREAMS_AUDIENCE.into());
    if audience.ends_with('/') {
        return refuse(format!("audience must not end with a slash, as a path is appended to it: {audience}"));
    }
    let keys = keys(secret, flags.token_secret_file.as_deref(), flags.keys.as_deref())?;
    match (requires_tokens, keys.is_empty()) {
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
    keys.with_set(&read(path)?).map_err(|error| Refused::Setting(format!("{path}: {error}")))
}

pub(super) fn read(path: &str) -> Result<String, Refused> {
    std::fs::read_to_string(Path::new(path))
        .map_err(|error| Refused::Setting(format!("{path} cannot be read: {}", error.kind())))
}

fn refuse<T>(sentence: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Setting(sentence.into()))
}
