//! Who comes in by the second door: clients with a token for media, other relays with the key of this one's lease. A relay that asks
//! for no tokens lets everybody do everything, as it does with streams. Rules MEDIA-4, MEDIA-5 and MEDIA-7; STR-100, STR-114.
use super::Guard;
use crate::door::{Admission, Credential, Grant as Allowed, Pass, Refusal, Visitor};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parley_access::{Grant, Keys, Ports, now, token};
use parley_cluster::key::Key;
use parley_net::codes::Code;
use parley_net::{forwarded, network, origins};
use parley_protocol::audiences::MEDIA_AUDIENCE;
use std::net::IpAddr;
use std::sync::Arc;

/// A key as it stands in an address.
pub(super) fn in_address(key: &Key) -> String {
    URL_SAFE_NO_PAD.encode(key.0)
}

impl Admission for Guard {
    fn greet(&self, visitor: &Visitor<'_>) -> Result<IpAddr, Refusal> {
        if !origins::is_allowed(visitor.origin, Some(visitor.host), &self.origins) {
            return Err(Code::OriginDenied.name());
        }
        let hops = visitor.forwarded.iter().copied();
        Ok(network::of(forwarded::client_address(hops, visitor.direct, self.trusted_proxies)))
    }

    fn network(&self, address: IpAddr) -> IpAddr {
        network::of(address)
    }

    fn judge(&self, credential: Credential<'_>) -> Result<Box<dyn Pass>, Refusal> {
        let pass = match credential {
            Credential::Key(key) => self.link(key),
            Credential::Token(token) => self.client(Some(token)),
            Credential::None => self.client(None),
        };
        pass.map(|pass| Box::new(pass) as Box<dyn Pass>).map_err(Code::name)
    }
}

/// Somebody who was let in.
struct Admitted {
    allowed: Allowed,
    /// The token, and what may end it.
    until: Option<(Grant, Arc<Ports>)>,
}

impl Pass for Admitted {
    fn grant(&self) -> Allowed {
        self.allowed.clone()
    }

    fn over(&self) -> Option<Refusal> {
        let (grant, ports) = self.until.as_ref()?;
        ports.ended(grant).map(Code::name)
    }
}

impl Guard {
    fn link(&self, presented: &str) -> Result<Admitted, Code> {
        let bytes = URL_SAFE_NO_PAD.decode(presented).ok().and_then(|bytes| bytes.try_into().ok());
        let admits = self.key.as_ref().zip(bytes).is_some_and(|(key, bytes)| key.admits(&bytes));
        if admits { Ok(Admitted { allowed: Allowed::Link, until: None }) } else { Err(Code::TokenInvalid) }
    }

    fn client(&self, token: Option<&str>) -> Result<Admitted, Code> {
        let Some((keys, ports)) = &self.tokens else {
            let all = || vec!["**".to_owned()];
            return Ok(Admitted { allowed: Allowed::Client { publish: all(), subscribe: all() }, until: None });
        };
        let token = token.filter(|token| !token.is_empty()).ok_or(Code::TokenRequired)?;
        let (allowed, grant) = self.read(token, keys)?;
        match ports.ended(&grant) {
            Some(code) => Err(code),
            None => Ok(Admitted { allowed, until: Some((grant, Arc::clone(ports))) }),
        }
    }

    fn read(&self, token: &str, keys: &Keys) -> Result<(Allowed, Grant), Code> {
        let now = now();
        let mut claims = token::read(token.as_bytes(), keys, &self.limits, now)?;
        let publish = std::mem::take(&mut claims.publish);
        let subscribe = std::mem::take(&mut claims.subscribe);
        if !claims.is_for(MEDIA_AUDIENCE) || (publish.is_empty() && subscribe.is_empty()) {
            return Err(Code::TokenInsufficientScope);
        }
        let grant = claims.grant();
        // One that does not say how old it is would open sessions for hours.
        let made = grant.issued.ok_or(Code::TokenInvalid)?;
        if made + self.token_age / 1000 <= now {
            return Err(Code::TokenExpired);
        }
        Ok((Allowed::Client { publish, subscribe }, grant))
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
