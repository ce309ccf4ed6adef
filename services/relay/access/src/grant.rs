//! What is left of a token once somebody was let in with it: enough to end the socket in time.
use serde::{Deserialize, Serialize};

/// How long a client may stay, and by what names it can be sent away before. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// `exp`: from here on it is over.
    pub until: u64,
    /// `iat`: when it was made.
    #[serde(default)]
    pub made: Option<u64>,
    /// `jti`: the one token.
    pub token: Option<Box<str>>,
    /// `sub`: whoever it was made for.
    pub subject: Option<Box<str>>,
}
