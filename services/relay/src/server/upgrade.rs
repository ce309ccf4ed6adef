//! The WebSocket handshake: RFC 6455 section 4.2. Rules STR-20 and STR-25.
use super::request::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parley_net::codes::Code;

/// Checks the handshake, and returns the complete head of the response.
pub fn answer(request: &Request) -> Result<String, Code> {
    let key = request.header("sec-websocket-key").ok_or(Code::BadRequest)?;
    if !STANDARD.decode(key).is_ok_and(|nonce| nonce.len() == 16) {
        return Err(Code::BadRequest);
    }
    if request.header("sec-websocket-version") != Some("13") {
        return Err(Code::UpgradeRequired);
    }
    let protocol = match subprotocol(request)? {
        Some(name) => format!("Sec-WebSocket-Protocol: {name}\r\n"),
        None => String::new(),
    };
    Ok(format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n{protocol}\r\n",
        accept(key)
    ))
}

/// The subprotocol of the answer: `null` if it is requested, as by jsmpeg, otherwise the first one. A browser closes a socket whose answer
/// contains none of the requested subprotocols.
fn subprotocol(request: &Request) -> Result<Option<&str>, Code> {
    let requested = || request.list("sec-websocket-protocol");
    if !requested().all(is_token) {
        return Err(Code::BadRequest);
    }
    Ok(requested().find(|name| *name == "null").or_else(|| requested().next()))
}

fn is_token(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn accept(key: &str) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(key.as_bytes());
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(hash.digest().bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::request;

    fn upgrade(lines: &str) -> Result<String, Code> {
        let head = format!("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n{lines}\r\n");
        answer(&request::parse(head.as_bytes()).unwrap().unwrap().0)
    }

    const GOOD: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

    #[test]
    fn str_20_the_handshake_is_the_one_of_the_rfc() {
        assert!(upgrade(GOOD).unwrap().contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(!upgrade(GOOD).unwrap().contains("Sec-WebSocket-Protocol"));
    }

    #[test]
    fn str_20_the_answer_contains_a_requested_subprotocol() {
        for (requested, expected) in [("null", "null"), ("mqtt", "mqtt"), ("a, b", "a"), ("a, null", "null")] {
            let answer = upgrade(&format!("{GOOD}Sec-WebSocket-Protocol: {requested}\r\n")).unwrap();
            assert!(answer.contains(&format!("\r\nSec-WebSocket-Protocol: {expected}\r\n")), "{requested}");
        }
        assert_eq!(upgrade(&format!("{GOOD}Sec-WebSocket-Protocol: a b\r\n")), Err(Code::BadRequest));
    }

    #[test]
    fn str_20_an_invalid_handshake_is_refused() {
        assert_eq!(upgrade("Sec-WebSocket-Version: 13\r\n"), Err(Code::BadRequest));
        assert_eq!(upgrade("Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n"), Err(Code::BadRequest));
        assert_eq!(upgrade(&GOOD.replace("13", "8")), Err(Code::UpgradeRequired));
    }
}
