//! Authenticates media sessions: clients by a token for media, other relays by a key in this relay's leases. With open access a client may
//! publish and subscribe to everything, as with streams. Rules MEDIA-4, MEDIA-5, MEDIA-7 and MEDIA-29; STR-100, STR-114.
use super::Guard;
use crate::server::{Admission, Authorization, Credential, Grant as Allowed, HandshakeRequest, Refusal};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parley_access::{Grant, Keys, Ports, now, token};
use parley_cluster::key::Key;
use parley_net::codes::Code;
use parley_net::{forwarded, network, origins};
use parley_protocol::audiences::MEDIA_AUDIENCE;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// Encodes a key for a URL.
pub(super) fn url_encoded(key: &Key) -> String {
    URL_SAFE_NO_PAD.encode(key.0)
}

impl Admission for Guard {
    fn check_request(&self, request: &HandshakeRequest<'_>) -> Result<IpAddr, Refusal> {
        if !origins::is_allowed(request.origin, Some(request.host), &self.origins) {
            return Err(Code::OriginDenied.name());
        }
        let forwarded = request.forwarded.iter().copied();
        Ok(network::of(forwarded::client_address(forwarded, request.direct, self.trusted_proxies)))
    }

    fn network(&self, address: IpAddr) -> IpAddr {
        network::of(address)
    }

    fn is_muted(&self, participant: &str) -> bool {
        self.mutes.covers(participant, Instant::now())
    }

    fn authenticate(&self, credential: Credential<'_>) -> Result<Box<dyn Authorization>, Refusal> {
        let authorization = match credential {
            Credential::Key(key) => self.link(key),
            Credential::Token(token) => self.client(Some(token)),
            Credential::None => self.client(None),
        };
        authorization.map(|authorization| Box::new(authorization) as Box<dyn Authorization>).map_err(Code::name)
    }
}

/// An authorized session.
struct Authorized {
    allowed: Allowed,
    /// The span before, if the client's join is traced.
    trace: Option<String>,
    /// The token's grant, and the revocations that can end it.
    until: Option<(Grant, Arc<Ports>)>,
}

impl Authorization for Authorized {
    fn grant(&self) -> Allowed {
        self.allowed.clone()
    }

    fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    fn ended(&self) -> Option<Refusal> {
        let (grant, ports) = self.until.as_ref()?;
        ports.ended(grant).map(Code::name)
    }
}

impl Guard {
    fn link(&self, presented: &str) -> Result<Authorized, Code> {
        let bytes = URL_SAFE_NO_PAD.decode(presented).ok().and_then(|bytes| bytes.try_into().ok());
        let (keys, bytes) = self.link_keys.as_ref().zip(bytes).ok_or(Code::TokenInvalid)?;
        let (is_of_region, is_of_other) = (keys.region.admits(&bytes), keys.other_regions.admits(&bytes));
        let allowed = match (is_of_region, is_of_other) {
            (true, _) => Allowed::Link,
            (_, true) => Allowed::RegionLink,
            _ => return Err(Code::TokenInvalid),
        };
        Ok(Authorized { allowed, trace: None, until: None })
    }

    fn client(&self, token: Option<&str>) -> Result<Authorized, Code> {
        let Some((keys, ports)) = &self.tokens else {
            let all = || vec!["**".to_owned()];
            let allowed = Allowed::Client { publish: all(), subscribe: all() };
            return Ok(Authorized { allowed, trace: None, until: None });
        };
        let token = token.filter(|token| !token.is_empty()).ok_or(Code::TokenRequired)?;
        let (authorized, grant) = self.read(token, keys)?;
        match ports.ended(&grant) {
            Some(code) => Err(code),
            None => Ok(Authorized { until: Some((grant, Arc::clone(ports))), ..authorized }),
        }
    }

    fn read(&self, token: &str, keys: &Keys) -> Result<(Authorized, Grant), Code> {
        let now = now();
        let mut claims = token::read(token.as_bytes(), keys, &self.limits, now)?;
        let publish = std::mem::take(&mut claims.publish);
        let subscribe = std::mem::take(&mut claims.subscribe);
        let trace = claims.trace.take().and_then(|trace| trace.as_str().map(str::to_owned));
        if !claims.is_for(MEDIA_AUDIENCE) || (publish.is_empty() && subscribe.is_empty()) {
            return Err(Code::TokenInsufficientScope);
        }
        let grant = claims.grant();
        // A token without `iat` would open sessions for hours.
        let issued_at = grant.issued.ok_or(Code::TokenInvalid)?;
        if issued_at + self.token_age / 1000 <= now {
            return Err(Code::TokenExpired);
        }
        Ok((Authorized { allowed: Allowed::Client { publish, subscribe }, trace, until: None }, grant))
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
