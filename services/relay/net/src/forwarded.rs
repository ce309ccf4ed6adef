//! The address of a client behind trusted proxies. Rule STR-23.
use std::net::{IpAddr, SocketAddr};

/// The address of a client, from the values of `X-Forwarded-For`. Each trusted proxy appends the address that it saw, so with n proxies the
/// client's is the n-th from the right. Some proxies append the port too. A value that is not an address is ignored, and the connection counts for
/// the proxy that wrote it. `direct`: the address of the connection.
pub fn client_address<'a>(
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    direct: IpAddr,
    trusted_proxies: usize,
) -> IpAddr {
    let hop = trusted_proxies.checked_sub(1).and_then(|back| forwarded.rev().nth(back));
    let address = |hop: &str| hop.parse().or_else(|_| hop.parse::<SocketAddr>().map(|socket| socket.ip())).ok();
    hop.and_then(address).unwrap_or(direct).to_canonical()
}
