//! The part of a token that is kept while its client is connected: enough to end the connection in time.
use serde::{Deserialize, Serialize};

/// How long a client may stay connected, and the names by which it can be revoked. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// `exp`: the time at which the grant expires.
    pub until: u64,
    /// `iat`: the time at which the token was issued.
    #[serde(default)]
    pub issued: Option<u64>,
    /// `generation`: that of the participant when the token was issued; only tokens for rooms have it.
    pub generation: Option<u64>,
    /// `jti`: the id of the token.
    pub token: Option<Box<str>>,
    /// `sub`: the subject of the token.
    pub subject: Option<Box<str>>,
}
