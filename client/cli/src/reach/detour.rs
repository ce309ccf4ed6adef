//! Connecting to another address than a name's, while certificates and `Host` stay the name's.
use anyhow::{Context, ensure};
use std::str::FromStr;

/// `HOST:PORT:ADDRESS:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    from: (String, u16),
    to: (String, u16),
}

const FORM: &str = "must be HOST:PORT:ADDRESS:PORT, with IPv6 addresses in brackets";

impl Detour {
    /// Where a connection to this host and port goes instead.
    pub fn of(&self, host: &str, port: u16) -> Option<(&str, u16)> {
        let (from, at) = (self.from.0.as_str(), self.from.1);
        (from.eq_ignore_ascii_case(host) && at == port).then_some((self.to.0.as_str(), self.to.1))
    }
}

impl FromStr for Detour {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (from, rest) = end(text).context(FORM)?;
        let (to, rest) = rest.strip_prefix(':').and_then(end).context(FORM)?;
        ensure!(rest.is_empty(), FORM);
        Ok(Self { from, to })
    }
}

/// `HOST:PORT` at the beginning, and what follows it.
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
    fn a_detour_leads_from_one_host_and_port_to_another() {
        let detour: Detour = "Call.example.com:443:edge.parley.svc:8443".parse().unwrap();
        assert_eq!(detour.of("call.example.com", 443), Some(("edge.parley.svc", 8443)));
        assert_eq!(detour.of("call.example.com", 80), None);
        assert_eq!(detour.of("example.com", 443), None);
        let six: Detour = "[2001:db8::1]:443:[::1]:8443".parse().unwrap();
        assert_eq!(six.of("2001:db8::1", 443), Some(("::1", 8443)));
        for bad in ["", "a", "a:1", "a:1:b", "a:1:b:x", "a:1:b:2:c", "a:1:b:99999", ":1:b:2", "a:1:[::1:2"] {
            assert!(bad.parse::<Detour>().is_err(), "{bad}");
        }
    }
}
