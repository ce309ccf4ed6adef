//! URLs of TURN servers (RFC 7065).
use std::str::FromStr;

/// A TURN server, as in `turn:HOST:PORT?transport=udp` (RFC 7065).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The name or address of the host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The transport between client and server.
    pub transport: Transport,
}

/// The transport between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as they say")]
pub enum Transport {
    Udp,
    Tcp,
    Tls,
}

impl FromStr for Server {
    type Err = ();

    fn from_str(url: &str) -> Result<Self, ()> {
        let (scheme, rest) = url.split_once(':').ok_or(())?;
        let (at, query) = rest.split_once('?').unwrap_or((rest, ""));
        let parameter = query.strip_prefix("transport=").unwrap_or("");
        let (transport, default_port) = match (scheme, parameter) {
            ("turn", "udp" | "") => (Transport::Udp, 3478),
            ("turn", "tcp") => (Transport::Tcp, 3478),
            ("turns", "tcp" | "") => (Transport::Tls, 5349),
            _ => return Err(()),
        };
        let (host, port) = match at.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(drop)?),
            _ => (at, default_port),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() { Err(()) } else { Ok(Self { host: host.into(), port, transport }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_urls_are_parsed_as_in_rfc_7065() {
        let server = |host: &str, port, transport| Ok(Server { host: host.into(), port, transport });
        for (url, expected) in [
            ("turn:203.0.113.7:3478?transport=udp", server("203.0.113.7", 3478, Transport::Udp)),
            ("turn:turn.example.com", server("turn.example.com", 3478, Transport::Udp)),
            ("turn:turn.example.com:80?transport=tcp", server("turn.example.com", 80, Transport::Tcp)),
            ("turns:turn.example.com:443?transport=tcp", server("turn.example.com", 443, Transport::Tls)),
            ("turns:turn.example.com", server("turn.example.com", 5349, Transport::Tls)),
            ("turn:[2001:db8::1]", server("2001:db8::1", 3478, Transport::Udp)),
            ("turn:[2001:db8::1]:99", server("2001:db8::1", 99, Transport::Udp)),
            ("turns:h?transport=udp", Err(())),
            ("stun:h", Err(())),
            ("turn:", Err(())),
            ("turn:h:x", Err(())),
        ] {
            assert_eq!(url.parse(), expected, "{url}");
        }
    }
}
