//! Connects to another address than that of a name; certificates and `Host` remain those of the name.
use anyhow::{Context, ensure};
use std::str::FromStr;

/// `HOST:PORT:ADDRESS:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    from: (String, u16),
    to: (String, u16),
}

const FORM: &str = "must be HOST:PORT:ADDRESS:PORT, with IPv6 addresses in brackets";

impl ConnectTo {
    /// The address for connections to this host and port, if it is another one.
    pub fn target(&self, host: &str, port: u16) -> Option<(&str, u16)> {
        let (from, at) = (self.from.0.as_str(), self.from.1);
        (from.eq_ignore_ascii_case(host) && at == port).then_some((self.to.0.as_str(), self.to.1))
    }
}

impl FromStr for ConnectTo {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (from, rest) = end(text).context(FORM)?;
        let (to, rest) = rest.strip_prefix(':').and_then(end).context(FORM)?;
        ensure!(rest.is_empty(), FORM);
        Ok(Self { from, to })
    }
}

/// Parses `HOST:PORT` at the beginning. Returns the rest too.
fn end(text: &str) -> Option<((String, u16), &str)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(text) => text.split_once("]:")?,
        None => text.split_once(':')?,
    };
    let (port, rest) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len()));
    (!host.is_empty()).then_some(((host.to_owned(), port.parse().ok()?), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_replaces_one_host_and_port_by_another() {
        let rule: ConnectTo = "Call.example.com:443:edge.parley.svc:8443".parse().unwrap();
        assert_eq!(rule.target("call.example.com", 443), Some(("edge.parley.svc", 8443)));
        assert_eq!(rule.target("call.example.com", 80), None);
        assert_eq!(rule.target("example.com", 443), None);
        let six: ConnectTo = "[2001:db8::1]:443:[::1]:8443".parse().unwrap();
        assert_eq!(six.target("2001:db8::1", 443), Some(("::1", 8443)));
        for bad in ["", "a", "a:1", "a:1:b", "a:1:b:x", "a:1:b:2:c", "a:1:b:99999", ":1:b:2", "a:1:[::1:2"] {
            assert!(bad.parse::<ConnectTo>().is_err(), "{bad}");
        }
    }
}
