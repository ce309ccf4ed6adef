//! From the bytes of a token to verified claims: key, signature, times, sizes. Rules STR-101 to STR-104.
use super::grant::Grant;
use super::keys::Keys;
use super::pattern;
use crate::Limits;
use jsonwebtoken::{Validation, decode, decode_header};
use parley_net::codes::Code;
use parley_net::size;
use serde::Deserialize;

/// The claims of a token. Times are whole seconds since 1970 (RFC 7519).
#[derive(Clone, Debug, Deserialize)]
pub struct Claims {
    aud: Audience,
    exp: u64,
    nbf: Option<u64>,
    iat: Option<u64>,
    generation: Option<u64>,
    sub: Option<Box<str>>,
    jti: Option<Box<str>>,
    /// Patterns of topics to which the client may publish.
    #[serde(default)]
    pub publish: Vec<String>,
    /// Patterns of topics to which the client may subscribe.
    #[serde(default)]
    pub subscribe: Vec<String>,
    /// Whether the client may revoke tokens.
    #[serde(default)]
    pub admin: bool,
    /// Whether the client may read statistics.
    #[serde(default)]
    pub stats: bool,
    /// The span before, if the client's join is traced: `traceparent` of W3C Trace Context. A token of an operator may use the name for
    /// something else.
    #[serde(default)]
    pub trace: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Parses and verifies a token. `now`: seconds since 1970.
pub fn read(token: &[u8], keys: &Keys, limits: &Limits, now: u64) -> Result<Claims, Code> {
    if token.len() > size(limits.token_bytes) {
        return Err(Code::TokenInvalid);
    }
    let claims = verified(token, keys).ok_or(Code::TokenInvalid)?;
    claims.check_times(limits, now)?;
    claims.check_sizes(limits)?;
    Ok(claims)
}

fn verified(token: &[u8], keys: &Keys) -> Option<Claims> {
    let header = decode_header(token).ok()?;
    let (key, algorithm) = keys.find(header.kid.as_deref())?;
    let mut rules = Validation::new(algorithm);
    // Times and audience are checked below: the caller supplies the time, and the audience depends on the path.
    (rules.validate_exp, rules.validate_aud) = (false, false);
    // A header with critical extensions is refused, as none is supported: RFC 7515 section 4.1.11.
    let claims = decode(token, &key, &rules).ok()?.claims;
    header.crit.is_none().then_some(claims)
}

impl Claims {
    fn check_times(&self, limits: &Limits, now: u64) -> Result<(), Code> {
        let latest = now + limits.token_leeway / 1000;
        let issued = self.iat.unwrap_or(now);
        if self.exp <= now {
            Err(Code::TokenExpired)
        } else if issued > latest || self.nbf.is_some_and(|from| from > latest) {
            Err(Code::TokenNotYetValid)
        } else if self.exp - issued.min(self.exp) > limits.token_lifetime / 1000 {
            Err(Code::TokenInvalid)
        } else {
            Ok(())
        }
    }

    fn check_sizes(&self, limits: &Limits) -> Result<(), Code> {
        let patterns = || self.publish.iter().chain(&self.subscribe);
        let names = [&self.sub, &self.jti];
        let fits = patterns().count() <= size(limits.token_patterns)
            && patterns().all(|one| pattern::is_valid(one))
            && names.iter().all(|name| name.as_ref().is_none_or(|name| name.len() <= size(limits.token_name_bytes)));
        if fits { Ok(()) } else { Err(Code::TokenInvalid) }
    }

    /// Whether this is one of the audiences of the token.
    pub fn is_for(&self, audience: &str) -> bool {
        match &self.aud {
            Audience::One(one) => one == audience,
            Audience::Several(list) => list.iter().any(|one| one == audience),
        }
    }

    /// The part of the claims that is kept.
    pub fn grant(self) -> Grant {
        Grant { until: self.exp, issued: self.iat, generation: self.generation, token: self.jti, subject: self.sub }
    }
}
