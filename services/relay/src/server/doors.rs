//! By which door a client comes: `Authorization` on the upgrade, a code in the address, or its first message. Rules STR-26,
//! STR-107 to STR-110 and STR-132.
use super::request::Request;
use crate::relay::Relay;
use parley_access::{Access, Grant, Pass, Waiting};
use parley_net::codes::Code;
use parley_net::network;
use parley_streams::Route;
use std::net::IpAddr;

/// What is known of a client's right to its topic at the upgrade.
pub enum Entry<'a, P = Pass> {
    /// No token is asked for.
    Open,
    /// It has shown what it may.
    With(P),
    /// Its first message is the token.
    FirstMessage(&'a Access, Waiting<'a>),
}

/// Judges an upgrade. A code is used up here, so this comes last of all that may refuse.
pub async fn at_upgrade<'a>(
    request: &Request,
    address: IpAddr,
    route: &Route,
    relay: &'a Relay,
) -> Result<Entry<'a>, Code> {
    let Some(access) = &relay.access else { return Ok(Entry::Open) };
    if let Some(token) = bearer(request) {
        return access.judge(token.as_bytes(), route).map(Entry::With);
    }
    match code(&request.target) {
        Some(code) => access.redeem(code, route).await.map(Entry::With),
        None => access.wait(network::of(address)).map(|waiting| Entry::FirstMessage(access, waiting)),
    }
}

/// Judges an upgrade to the statistics socket. Rule STR-132.
pub fn to_statistics<'a>(request: &Request, address: IpAddr, relay: &'a Relay) -> Result<Entry<'a, Grant>, Code> {
    let Some(access) = &relay.access else { return Ok(Entry::Open) };
    match bearer(request) {
        Some(token) => access.watch(token.as_bytes()).map(Entry::With),
        None => access.wait(network::of(address)).map(|waiting| Entry::FirstMessage(access, waiting)),
    }
}

/// Whether a request for the pod's numbers shows an operator's token, where tokens are asked for. Rule STR-132.
pub fn check_operator(request: &Request, relay: &Relay) -> Result<(), Code> {
    let Some(access) = &relay.access else { return Ok(()) };
    access.watch(bearer(request).ok_or(Code::TokenRequired)?.as_bytes()).map(|_| ())
}

/// The token in `Authorization: Bearer …` (RFC 6750 section 2.1). Another scheme is somebody else's and means nothing here.
pub fn bearer(request: &Request) -> Option<&str> {
    let (scheme, token) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn code(target: &str) -> Option<&str> {
    let (_, query) = target.split('#').next()?.split_once('?')?;
    query.split('&').find_map(|part| part.strip_prefix("code="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::request;

    #[test]
    fn str_110_a_code_is_found_wherever_it_stands_in_the_query() {
        for (target, found) in [
            ("/x?code=abc", Some("abc")),
            ("/x?a=1&code=abc&b", Some("abc")),
            ("/x?code=", Some("")),
            ("/x?barcode=abc", None),
            ("/x", None),
            ("/x#?code=abc", None),
        ] {
            assert_eq!(code(target), found, "{target}");
        }
    }

    #[test]
    fn str_108_only_a_bearer_token_is_one() {
        for (header, found) in [
            ("Authorization: Bearer a.b.c\r\n", Some("a.b.c")),
            ("authorization: bearer  a.b.c \r\n", Some("a.b.c")),
            ("Authorization: Basic a.b.c\r\n", None),
            ("Authorization: Bearer\r\n", None),
            ("", None),
        ] {
            let head = format!("GET / HTTP/1.1\r\n{header}\r\n");
            assert_eq!(bearer(&request::parse(head.as_bytes()).unwrap().unwrap().0), found, "{header}");
        }
    }
}
