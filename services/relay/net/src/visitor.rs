//! Who connects: the address behind the proxies we trust, and the origin of the page. Rules STR-22 and STR-23.
use std::net::{IpAddr, SocketAddr};

/// Origins of pages that may open sockets; those of the relay's own host may always, and programs that are no browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Any, as Crossbar has it.
    Any,
    /// These.
    Only(Vec<String>),
}

/// Each trusted proxy has appended the address that it saw, so the client's is that many from the right. Some append the port too. What
/// is no address counts for the proxy that wrote it.
pub fn behind<'a>(
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    direct: IpAddr,
    trusted_proxies: usize,
) -> IpAddr {
    let hop = trusted_proxies.checked_sub(1).and_then(|back| forwarded.rev().nth(back));
    let address = |hop: &str| hop.parse().or_else(|_| hop.parse::<SocketAddr>().map(|socket| socket.ip())).ok();
    hop.and_then(address).unwrap_or(direct).to_canonical()
}

/// Whether a page of this origin, which asked for that host, may use the relay. Programs that are no browser send none.
pub fn is_allowed(origin: Option<&str>, host: Option<&str>, allowed: &Origins) -> bool {
    let (Some(origin), Origins::Only(list)) = (origin, allowed) else { return true };
    let own = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    list.iter().any(|one| one == origin) || (own.is_some() && own == host)
}
