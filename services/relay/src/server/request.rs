//! The head of an HTTP request: bytes in, what we need of it out. Rule STR-21.
use parley_net::codes::Code;

/// What we need to know of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET` or another.
    pub method: String,
    /// The target as it came: path and query.
    pub target: String,
    headers: Vec<(String, String)>,
}

/// Most headers of a request.
const HEADERS: usize = 64;

/// Reads a request from the start of `input`. `None`: not complete yet; otherwise the request and the size of its head.
pub fn parse(input: &[u8]) -> Result<Option<(Request, usize)>, Code> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
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
        // Latin 1, as HTTP has it: names are ASCII, and no value we look at is anything else.
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

    /// A header that is there once; of several the last.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().rev().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The parts of all headers of this name, at commas.
    pub fn list<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        let values = self.headers.iter().filter(move |(found, _)| found == name);
        values.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|part| !part.is_empty())
    }

    /// Whether it asks for a WebSocket.
    pub fn is_upgrade(&self) -> bool {
        self.list("upgrade").any(|part| part.eq_ignore_ascii_case("websocket"))
            && self.list("connection").any(|part| part.eq_ignore_ascii_case("upgrade"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_complete() {
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
    fn str_21_what_is_no_request_is_refused() {
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS + 1));
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
}
