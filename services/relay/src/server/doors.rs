//! By which door a client comes: `Authorization` on the upgrade, a code in the address, or its first message. Rules STR-26 and
//! STR-107 to STR-110.
use super::request::Request;
use crate::access::{Access, Pass, Waiting};
use crate::codes::Code;
use crate::relay::Relay;
use crate::topics::Route;

/// What is known of a client's right to its topic at the upgrade.
pub enum Entry<'a> {
    /// No token is asked for.
    Open,
    /// It has shown what it may.
    With(Pass),
    /// Its first message is the token.
    FirstMessage(&'a Access, Waiting<'a>),
}

/// Judges an upgrade. A code is used up here, so this comes last of all that may refuse.
pub async fn at_upgrade<'a>(request: &Request, route: &Route, relay: &'a Relay) -> Result<Entry<'a>, Code> {
    let Some(access) = &relay.access else { return Ok(Entry::Open) };
    if let Some(token) = bearer(request) {
        return access.judge(token.as_bytes(), route).map(Entry::With);
    }
    match code(&request.target) {
        Some(code) => access.redeem(code, route).await.map(Entry::With),
        None => access.wait().map(|waiting| Entry::FirstMessage(access, waiting)),
    }
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
