//! Parses the head of an HTTP request, and reads the client's address and origin from it. Rules STR-21 to STR-23.
use parley_net::codes::Code;
use parley_net::forwarded;
use parley_net::origins::{self, Origins};
use std::net::IpAddr;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The target, not decoded: path and query.
    pub target: String,
    headers: Vec<(String, String)>,
}

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// Parses a request from the start of `input`, and returns it with the size of its head. `None`: it is incomplete.
pub fn parse(input: &[u8]) -> Result<Option<(Request, usize)>, Code> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let size = match parsed.parse(input) {
        Ok(httparse::Status::Complete(size)) => size,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Code::HeadersTooLarge),
        Err(_) => return Err(Code::BadRequest),
    };
    if parsed.version != Some(1) {
        return Err(Code::BadRequest);
    }
    let headers = parsed.headers.iter().map(|header| {
        // Decoded as Latin-1: names are ASCII, and so are all values that the relay reads.
        let value: String = header.value.iter().map(|&byte| char::from(byte)).collect();
        (header.name.to_ascii_lowercase(), value.trim().to_owned())
    });
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        headers: headers.collect(),
    };
    Ok(Some((request, size)))
}

impl Request {
    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }

    /// The value of a header. If the header is repeated, the last value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().rev().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The values of all headers with this name, split at commas.
    pub fn list<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        let values = self.headers.iter().filter(move |(found, _)| found == name);
        values.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|part| !part.is_empty())
    }

    /// The address of the client, behind this number of trusted proxies. `direct`: the address of the connection.
    pub fn client_address(&self, direct: IpAddr, trusted_proxies: usize) -> IpAddr {
        forwarded::client_address(self.list("x-forwarded-for"), direct, trusted_proxies)
    }

    /// Whether a page of the request's origin may use the relay.
    pub(crate) fn is_origin_allowed(&self, allowed: &Origins) -> bool {
        origins::is_allowed(self.header("origin"), self.header("host"), allowed)
    }

    /// Whether the request asks for an upgrade to a WebSocket.
    pub fn is_upgrade(&self) -> bool {
        self.list("upgrade").any(|part| part.eq_ignore_ascii_case("websocket"))
            && self.list("connection").any(|part| part.eq_ignore_ascii_case("upgrade"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_once_it_is_complete() {
        let head =
            b"GET /demo?x HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\r\nrest";
        for end in 0..head.len() - 4 {
            assert_eq!(parse(&head[..end]), Ok(None), "{end}");
        }
        let (request, size) = parse(head).unwrap().unwrap();
        assert_eq!(&head[size..], b"rest");
        assert_eq!((request.path(), request.header("host")), ("/demo", Some("a")));
        assert!(request.is_upgrade());
    }

    #[test]
    fn str_21_an_invalid_request_is_refused() {
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(parse(many.as_bytes()), Err(Code::HeadersTooLarge));
        for bad in [
            "\x16\x03\x01\x02\x00\x01",
            "GET / HTTP/1.0\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nbad header\r\n\r\n",
        ] {
            assert_eq!(parse(bad.as_bytes()), Err(Code::BadRequest), "{bad:?}");
        }
    }

    fn with(lines: &str) -> Request {
        parse(format!("GET / HTTP/1.1\r\nHost: here:1\r\n{lines}\r\n").as_bytes()).unwrap().unwrap().0
    }

    #[test]
    fn str_23_the_address_is_the_one_that_the_trusted_proxy_saw() {
        let request = with("X-Forwarded-For: 6.6.6.6, 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n");
        let seen = |request: &Request, proxies| request.client_address([9, 9, 9, 9].into(), proxies).to_string();
        for (proxies, expected) in [(0, "9.9.9.9"), (1, "2.2.2.2"), (2, "1.1.1.1"), (7, "9.9.9.9")] {
            assert_eq!(seen(&request, proxies), expected, "{proxies}");
        }
        for (hop, expected) in [
            ("2.2.2.2:4711", "2.2.2.2"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]:4711", "2001:db8::7"),
            ("::ffff:2.2.2.2", "2.2.2.2"),
            ("unknown", "9.9.9.9"),
        ] {
            assert_eq!(seen(&with(&format!("X-Forwarded-For: {hop}\r\n")), 1), expected, "{hop}");
        }
    }

    #[test]
    fn str_22_only_pages_of_allowed_origins_and_of_the_own_host_are_allowed() {
        let only = Origins::Only(vec!["https://lab.example".into()]);
        for (origin, allowed) in [
            ("Origin: https://lab.example\r\n", true),
            ("Origin: http://here:1\r\n", true),
            ("Origin: ftp://here:1\r\n", false),
            ("Origin: https://u@here:1\r\n", false),
            ("", true),
            ("Origin: https://evil.example\r\n", false),
            ("Origin: null\r\n", false),
            ("Origin: http://here:1.evil.example\r\n", false),
        ] {
            assert_eq!(with(origin).is_origin_allowed(&only), allowed, "{origin}");
            assert!(with(origin).is_origin_allowed(&Origins::Any));
        }
    }
}
