//! The origins of web pages that may use the relay. Rule STR-22.

/// The origins of pages that may open sockets. Pages of the relay's own host and clients that are not browsers are always allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// All origins, as with Crossbar.
    Any,
    /// These origins.
    Only(Vec<String>),
}

/// Whether a page of this origin, which requested this host, may use the relay. Clients that are not browsers send no origin.
pub fn is_allowed(origin: Option<&str>, host: Option<&str>, allowed: &Origins) -> bool {
    let (Some(origin), Origins::Only(list)) = (origin, allowed) else { return true };
    let own = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    list.iter().any(|one| one == origin) || (own.is_some() && own == host)
}
