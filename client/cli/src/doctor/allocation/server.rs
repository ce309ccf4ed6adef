//! Addresses of TURN (RFC 7065).
use std::str::FromStr;

/// `turn:HOST:PORT?transport=udp` and the like (RFC 7065).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What it is spoken to over.
    pub over: Over,
}

/// What a TURN server is spoken to over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as they say")]
pub enum Over {
    Udp,
    Tcp,
    Tls,
}

impl FromStr for Server {
    type Err = ();

    fn from_str(url: &str) -> Result<Self, ()> {
        let (scheme, rest) = url.split_once(':').ok_or(())?;
        let (at, query) = rest.split_once('?').unwrap_or((rest, ""));
        let transport = query.strip_prefix("transport=").unwrap_or("");
        let (over, usual) = match (scheme, transport) {
            ("turn", "udp" | "") => (Over::Udp, 3478),
            ("turn", "tcp") => (Over::Tcp, 3478),
            ("turns", "tcp" | "") => (Over::Tls, 5349),
            _ => return Err(()),
        };
        let (host, port) = match at.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(drop)?),
            _ => (at, usual),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() { Err(()) } else { Ok(Self { host: host.into(), port, over }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_addresses_are_those_of_rfc_7065() {
        let server = |host: &str, port, over| Ok(Server { host: host.into(), port, over });
        for (url, expected) in [
            ("turn:203.0.113.7:3478?transport=udp", server("203.0.113.7", 3478, Over::Udp)),
            ("turn:turn.example.com", server("turn.example.com", 3478, Over::Udp)),
            ("turn:turn.example.com:80?transport=tcp", server("turn.example.com", 80, Over::Tcp)),
            ("turns:turn.example.com:443?transport=tcp", server("turn.example.com", 443, Over::Tls)),
            ("turns:turn.example.com", server("turn.example.com", 5349, Over::Tls)),
            ("turn:[2001:db8::1]", server("2001:db8::1", 3478, Over::Udp)),
            ("turn:[2001:db8::1]:99", server("2001:db8::1", 99, Over::Udp)),
            ("turns:h?transport=udp", Err(())),
            ("stun:h", Err(())),
            ("turn:", Err(())),
            ("turn:h:x", Err(())),
        ] {
            assert_eq!(url.parse(), expected, "{url}");
        }
    }
}
