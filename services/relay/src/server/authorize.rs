//! Authorizes requests: by the header `Authorization`, a one-use code in the query, or the first message. Rules STR-26,
//! STR-107 to STR-110 and STR-132.
use super::request::Request;
use crate::relay::Relay;
use parley_access::{Access, Grant, Pass, Unauthenticated};
use parley_net::codes::Code;
use parley_net::network;
use parley_streams::Route;
use std::net::IpAddr;

/// The authorization of an upgrade.
pub enum Authorization<'a, P = Pass> {
    /// The relay requires no token.
    NotRequired,
    /// The request contained a valid token or code.
    Granted(P),
    /// The first message must be the token.
    FirstMessage(&'a Access, Unauthenticated<'a>),
}

/// Authorizes an upgrade to a topic. This uses up a code, so all other checks come before it.
pub async fn topic<'a>(
    request: &Request,
    address: IpAddr,
    route: &Route,
    relay: &'a Relay,
) -> Result<Authorization<'a>, Code> {
    let Some(access) = &relay.access else { return Ok(Authorization::NotRequired) };
    if let Some(token) = bearer(request) {
        return access.authorize(token.as_bytes(), route).map(Authorization::Granted);
    }
    match code(&request.target) {
        Some(code) => access.redeem(code, route).await.map(Authorization::Granted),
        None => first_message(access, address),
    }
}

/// Authorizes an upgrade to the statistics socket. Rule STR-132.
pub fn statistics<'a>(request: &Request, address: IpAddr, relay: &'a Relay) -> Result<Authorization<'a, Grant>, Code> {
    let Some(access) = &relay.access else { return Ok(Authorization::NotRequired) };
    match bearer(request) {
        Some(token) => access.authorize_statistics(token.as_bytes()).map(Authorization::Granted),
        None => first_message(access, address),
    }
}

/// Checks that a request for metrics contains a token of an operator, if the relay requires tokens. Rule STR-132.
pub(crate) fn check_operator(request: &Request, relay: &Relay) -> Result<(), Code> {
    let Some(access) = &relay.access else { return Ok(()) };
    access.authorize_statistics(bearer(request).ok_or(Code::TokenRequired)?.as_bytes()).map(|_| ())
}

/// The token in `Authorization: Bearer …` (RFC 6750 section 2.1). Other schemes are ignored, as a proxy may use them.
pub fn bearer(request: &Request) -> Option<&str> {
    let (scheme, token) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn first_message<P>(access: &Access, address: IpAddr) -> Result<Authorization<'_, P>, Code> {
    let counted = access.count_unauthenticated(network::of(address))?;
    Ok(Authorization::FirstMessage(access, counted))
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
    fn str_110_a_code_is_found_anywhere_in_the_query() {
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
    fn str_108_only_the_bearer_scheme_has_a_token() {
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
