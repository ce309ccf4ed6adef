//! Heads of HTTP requests.
use crate::random::{Random, campaign};
use crate::text;
use parley_net::codes::Code;
use parley_relay::server::request;

const PARTS: [&str; 28] = [
    "GET",
    "POST",
    " ",
    "/x",
    "/in/demo",
    " HTTP/1.1",
    " HTTP/1.0",
    "\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    "Host: here",
    "Upgrade: websocket",
    "Connection: keep-alive, Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Content-Length: 5",
    "Transfer-Encoding: chunked",
    "X-Forwarded-For: 1.1.1.1, 2.2.2.2",
    ":",
    ",",
    "\t",
    "\0",
    "é",
    "a: b",
    "Authorization: Bearer ",
    "?a=b#c",
    "%2f",
];

fn generate(random: &mut Random) -> Vec<u8> {
    let lines = text(random, &PARTS, 24);
    match random.below(3) {
        0 => lines.into_bytes(),
        _ => random.edited(format!("GET /in/demo HTTP/1.1\r\nHost: here\r\n{lines}\r\n\r\n").into_bytes()),
    }
}

#[test]
fn str_21_a_head_does_not_depend_on_the_sizes_of_reads_or_on_later_bytes() {
    campaign("heads", 10, generate, |bytes| {
        let whole = request::parse(bytes);
        let first = (0..=bytes.len()).map(|end| request::parse(&bytes[..end])).find(|parsed| *parsed != Ok(None));
        match &whole {
            Ok(Some((request, size))) => {
                assert_eq!(first, Some(Ok(Some((request.clone(), *size)))), "the result depends on the sizes of reads");
                assert_eq!(request::parse(&bytes[..*size]), whole);
                assert!(*size <= bytes.len());
                assert!(!request.target.contains(['\r', '\n', ' ', '\0']) && request.method.is_ascii());
                let listed: usize = request.list("x-forwarded-for").map(str::len).sum();
                assert!(listed <= 2 * bytes.len() && request.list("host").all(|part| !part.contains(['\r', '\n'])));
                let _ = (request.path(), request.is_upgrade());
            }
            Ok(None) => assert_eq!(first, None),
            Err(code) => {
                assert!(matches!(code, Code::BadRequest | Code::HeadersTooLarge));
                assert!(matches!(first, Some(Err(_))), "a valid head became invalid");
            }
        }
        matches!(whole, Ok(Some(_)))
    });
}
