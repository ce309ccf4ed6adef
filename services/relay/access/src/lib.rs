//! Access to topics: tokens, the one-use codes that represent them, and revocations. Rules STR-100 to STR-119.
//!
//! | file | contents |
//! |---|---|
//! | [`keys`], `crypto` | the keys, each with its algorithm |
//! | [`token`] | from bytes to verified claims. No clock |
//! | [`scope`], [`pattern`] | from claims to a role on a topic |
//! | [`one_use`] | codes that each open one socket; **a port** |
//! | [`revocations`] | tokens and subjects that are revoked before they expire; **a port** |
mod crypto;
pub mod grant;
pub mod keys;
mod limits;
pub mod one_use;
pub mod pattern;
pub mod revocations;
pub mod scope;
pub mod token;

pub use grant::Grant;
pub use keys::Keys;
pub use limits::Limits;
pub use one_use::{Codes, Pass};
pub use revocations::{Entry, Revocation, Revocations, Revoked, Term};

use parley_net::codes::Code;
use parley_net::network::Shares;
use parley_net::size;
use parley_streams::Route;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The future result of a port.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Code>> + Send + 'a>>;

/// The rules of a relay that requires tokens.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The audience of tokens.
    pub audience: String,
    /// The keys that verify tokens.
    pub keys: Keys,
}

/// The stores of codes and revocations.
pub struct Ports {
    /// The store of codes.
    pub codes: Box<dyn Codes>,
    /// Publishes revocations to every pod.
    pub revocations: Box<dyn Revocations>,
    /// The revocations that this pod knows.
    pub revoked: Arc<Revoked>,
}

impl Ports {
    /// The stores of a single pod, in its memory.
    pub fn in_memory(limits: &Limits) -> Self {
        let revoked = Arc::new(Revoked::new(revocations::capacity(limits)));
        Self {
            codes: Box::new(one_use::Memory::with(limits)),
            revocations: Box::new(revocations::Memory(Arc::clone(&revoked))),
            revoked,
        }
    }

    /// Why a grant is no longer valid; `None` while it is.
    pub fn ended(&self, grant: &Grant) -> Option<Code> {
        if grant.until <= now() {
            Some(Code::TokenExpired)
        } else {
            self.revoked.covers(grant).then_some(Code::TokenRevoked)
        }
    }
}

/// Authorizes the clients of a relay that requires tokens.
pub struct Access {
    rules: Rules,
    limits: Limits,
    ports: Arc<Ports>,
    unauthenticated: AtomicU64,
    unauthenticated_shares: Shares,
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The seconds for which a revocation is kept: no token that is valid now lives longer.
pub fn revocation_lifetime(limits: &Limits) -> u64 {
    (limits.token_lifetime + limits.token_leeway) / 1000 + 1
}

impl Access {
    /// Creates it with these rules.
    pub fn new(rules: Rules, limits: &Limits, ports: Arc<Ports>) -> Self {
        let unauthenticated_shares = Shares::new(limits.address_unauthenticated);
        Self { rules, limits: limits.clone(), ports, unauthenticated: AtomicU64::new(0), unauthenticated_shares }
    }

    /// Returns what a token allows on a route.
    pub fn authorize(&self, token: &[u8], route: &Route) -> Result<Pass, Code> {
        let claims = token::read(token, &self.rules.keys, &self.limits, now())?;
        let role = scope::role(&claims, &self.rules.audience, route)?;
        self.check(Pass { path: scope::path(route), role, grant: claims.grant() })
    }

    /// Issues a code for what a token allows on a route, for a client of this network.
    pub async fn issue(&self, token: &[u8], route: &Route, network: IpAddr) -> Result<String, Code> {
        let pass = self.authorize(token, route)?;
        self.ports.codes.store(pass, network).await
    }

    /// Returns what a code allows on a route. The code is used up, whatever the result.
    pub async fn redeem(&self, code: &str, route: &Route) -> Result<Pass, Code> {
        if one_use::prefix(code).is_none() {
            return Err(Code::CodeInvalid);
        }
        let pass = self.ports.codes.take(code).await?.filter(|pass| pass.path == scope::path(route));
        self.check(pass.ok_or(Code::CodeInvalid)?)
    }

    /// Authorizes an operator's token for statistics.
    pub fn authorize_statistics(&self, token: &[u8]) -> Result<Grant, Code> {
        let claims = token::read(token, &self.rules.keys, &self.limits, now())?;
        if !claims.stats || !claims.is_for(&self.rules.audience) {
            return Err(Code::TokenInsufficientScope);
        }
        let grant = claims.grant();
        self.ended(&grant).map_or(Ok(grant), Err)
    }

    /// Revokes a token or a subject, if this token permits it.
    pub async fn revoke(&self, token: &[u8], whom: Revocation) -> Result<(), Code> {
        let now = now();
        let claims = token::read(token, &self.rules.keys, &self.limits, now)?;
        let permits = claims.admin && claims.is_for(&self.rules.audience);
        if self.ports.revoked.covers(&claims.grant()) {
            return Err(Code::TokenRevoked);
        }
        if !permits {
            return Err(Code::TokenInsufficientScope);
        }
        if whom.name().is_empty() || whom.name().len() > size(self.limits.token_name_bytes) {
            return Err(Code::BadRequest);
        }
        self.ports.revocations.revoke(whom, now + revocation_lifetime(&self.limits)).await
    }

    /// Why a grant is no longer valid; `None` while it is.
    pub fn ended(&self, grant: &Grant) -> Option<Code> {
        self.ports.ended(grant)
    }

    fn check(&self, pass: Pass) -> Result<Pass, Code> {
        self.ended(&pass.grant).map_or(Ok(pass), Err)
    }

    /// Counts a socket of this network that has not sent its token yet.
    pub fn count_unauthenticated(&self, network: IpAddr) -> Result<Unauthenticated<'_>, Code> {
        if !self.unauthenticated_shares.take(network) {
            return Err(Code::TooManyUnauthenticated);
        }
        let unauthenticated = Unauthenticated { access: self, network };
        if self.unauthenticated.fetch_add(1, Ordering::Relaxed) >= self.limits.pod_unauthenticated {
            return Err(Code::TooManyUnauthenticated);
        }
        Ok(unauthenticated)
    }

    /// The number of sockets that have not sent their token yet.
    pub fn unauthenticated(&self) -> u64 {
        self.unauthenticated.load(Ordering::Relaxed)
    }
}

/// Counts a socket that has not sent its token yet, until it is dropped.
pub struct Unauthenticated<'a> {
    access: &'a Access,
    network: IpAddr,
}

impl Drop for Unauthenticated<'_> {
    fn drop(&mut self) {
        self.access.unauthenticated.fetch_sub(1, Ordering::Relaxed);
        self.access.unauthenticated_shares.give(self.network);
    }
}
