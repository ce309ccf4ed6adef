//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! Issuer and audiences of signed tokens (KEY-1 to KEY-4).

/// `parley`
pub const ISSUER: &str = "parley";

/// `parley:ticket`
pub const TICKET_AUDIENCE: &str = "parley:ticket";

/// `parley:resume`
pub const RESUME_AUDIENCE: &str = "parley:resume";

/// `parley:media`
pub const MEDIA_AUDIENCE: &str = "parley:media";

/// `parley:streams`
pub const STREAMS_AUDIENCE: &str = "parley:streams";
