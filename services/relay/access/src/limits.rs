//! The limits of tokens, codes and revocations. The relay's table of limits has their names, ranges and defaults.

/// The limits in force. Times are in milliseconds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a token.
    pub token_bytes: u64,
    /// Patterns of a token.
    pub token_patterns: u64,
    /// Bytes of a token's `jti` and `sub`, and of a name that is revoked.
    pub token_name_bytes: u64,
    /// How far the clocks of signer and relay may differ.
    pub token_leeway: u64,
    /// The longest lifetime of a token.
    pub token_lifetime: u64,
    /// Sockets that have not sent their token yet.
    pub pod_unauthenticated: u64,
    /// The same for one network.
    pub address_unauthenticated: u64,
    /// How long a code is valid.
    pub code_lifetime: u64,
    /// Codes that are kept.
    pub pod_codes: u64,
    /// The same for one network.
    pub address_codes: u64,
    /// Revocations that an operator requested.
    pub pod_revocations: u64,
    /// Revocations of participants who left rooms.
    pub pod_departures: u64,
}
