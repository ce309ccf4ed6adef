//! Who may open which topic: tokens, the codes that stand for them, and those that were revoked. Rules STR-100 to STR-119.
//!
//! | file | what |
//! |---|---|
//! | [`keys`], `crypto` | the keys, each with its algorithm |
//! | [`token`] | from bytes to claims that hold. No clock |
//! | [`scope`], [`pattern`] | from claims to a role on a topic |
//! | [`one_use`] | codes that let one socket in; **a port** |
//! | [`revocations`] | who is sent away before their time; **a port** |
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

/// What a port answers, once it does.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Code>> + Send + 'a>>;

/// A relay that asks for tokens.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What tokens are made for.
    pub audience: String,
    /// What they are verified with.
    pub keys: Keys,
}

/// Where codes and revocations are kept.
pub struct Ports {
    /// Codes.
    pub codes: Box<dyn Codes>,
    /// Tells every pod of a revocation.
    pub revocations: Box<dyn Revocations>,
    /// What is revoked, as this pod knows it.
    pub revoked: Arc<Revoked>,
}

impl Ports {
    /// Of a pod alone: both are in its memory.
    pub fn alone(limits: &Limits) -> Self {
        let revoked = Arc::new(Revoked::new(revocations::most(limits)));
        Self {
            codes: Box::new(one_use::Memory::with(limits)),
            revocations: Box::new(revocations::Memory(Arc::clone(&revoked))),
            revoked,
        }
    }

    /// Why a grant is over, if it is.
    pub fn over(&self, grant: &Grant) -> Option<Code> {
        if grant.until <= now() {
            Some(Code::TokenExpired)
        } else {
            self.revoked.covers(grant).then_some(Code::TokenRevoked)
        }
    }
}

/// The door of a relay that asks for tokens.
pub struct Access {
    rules: Rules,
    limits: Limits,
    ports: Arc<Ports>,
    waiting: AtomicU64,
    waiting_shares: Shares,
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Seconds that a revocation is kept for: no token that is good today lives longer.
pub fn revoked_for(limits: &Limits) -> u64 {
    (limits.token_lifetime + limits.token_leeway) / 1000 + 1
}

impl Access {
    /// A door with these rules.
    pub fn new(rules: Rules, limits: &Limits, ports: Arc<Ports>) -> Self {
        let waiting_shares = Shares::new(limits.address_unauthenticated);
        Self { rules, limits: limits.clone(), ports, waiting: AtomicU64::new(0), waiting_shares }
    }

    /// What a token allows on a route.
    pub fn judge(&self, token: &[u8], route: &Route) -> Result<Pass, Code> {
        let claims = token::read(token, &self.rules.keys, &self.limits, now())?;
        let role = scope::role(&claims, &self.rules.audience, route)?;
        self.check(Pass { path: scope::path(route), role, grant: claims.grant() })
    }

    /// A code for what a token allows on a route, for a client of this network.
    pub async fn issue(&self, token: &[u8], route: &Route, network: IpAddr) -> Result<String, Code> {
        let pass = self.judge(token, route)?;
        self.ports.codes.keep(pass, network).await
    }

    /// What a code allows on a route; it is used up whatever the answer.
    pub async fn redeem(&self, code: &str, route: &Route) -> Result<Pass, Code> {
        if one_use::mark(code).is_none() {
            return Err(Code::CodeInvalid);
        }
        let pass = self.ports.codes.take(code).await?.filter(|pass| pass.path == scope::path(route));
        self.check(pass.ok_or(Code::CodeInvalid)?)
    }

    /// What an operator's token gives for watching statistics.
    pub fn watch(&self, token: &[u8]) -> Result<Grant, Code> {
        let claims = token::read(token, &self.rules.keys, &self.limits, now())?;
        if !claims.stats || !claims.is_for(&self.rules.audience) {
            return Err(Code::TokenInsufficientScope);
        }
        let grant = claims.grant();
        self.over(&grant).map_or(Ok(grant), Err)
    }

    /// Revokes, if the token may.
    pub async fn revoke(&self, token: &[u8], whom: Revocation) -> Result<(), Code> {
        let now = now();
        let claims = token::read(token, &self.rules.keys, &self.limits, now)?;
        let may = claims.admin && claims.is_for(&self.rules.audience);
        if self.ports.revoked.covers(&claims.grant()) {
            return Err(Code::TokenRevoked);
        }
        if !may {
            return Err(Code::TokenInsufficientScope);
        }
        if whom.name().is_empty() || whom.name().len() > size(self.limits.token_name_bytes) {
            return Err(Code::BadRequest);
        }
        self.ports.revocations.revoke(whom, now + revoked_for(&self.limits)).await
    }

    /// Why a grant is over, if it is.
    pub fn over(&self, grant: &Grant) -> Option<Code> {
        self.ports.over(grant)
    }

    fn check(&self, pass: Pass) -> Result<Pass, Code> {
        self.over(&pass.grant).map_or(Ok(pass), Err)
    }

    /// Counts a socket of this network that has yet to send its token.
    pub fn wait(&self, network: IpAddr) -> Result<Waiting<'_>, Code> {
        if !self.waiting_shares.take(network) {
            return Err(Code::TooManyUnauthenticated);
        }
        let waiting = Waiting { access: self, network };
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.limits.pod_unauthenticated {
            return Err(Code::TooManyUnauthenticated);
        }
        Ok(waiting)
    }

    /// Sockets that have yet to send their token.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// A socket that has yet to send its token, counted while this lives.
pub struct Waiting<'a> {
    access: &'a Access,
    network: IpAddr,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.access.waiting.fetch_sub(1, Ordering::Relaxed);
        self.access.waiting_shares.give(self.network);
    }
}
