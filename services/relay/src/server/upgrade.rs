//! The WebSocket handshake: RFC 6455 section 4.2. Rules STR-20 and STR-25.
use super::request::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parley_net::codes::Code;

/// Checks the handshake and answers it: the whole response head.
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

/// The subprotocol to answer with: `null` if it is among those asked for, as jsmpeg asks for it, or else the first. A browser
/// gives up on a socket that answers with none of those it asked for.
fn subprotocol(request: &Request) -> Result<Option<&str>, Code> {
    let asked = || request.list("sec-websocket-protocol");
    if !asked().all(is_token) {
        return Err(Code::BadRequest);
    }
    Ok(asked().find(|name| *name == "null").or_else(|| asked().next()))
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

    fn asking(lines: &str) -> Result<String, Code> {
        let head = format!("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n{lines}\r\n");
        answer(&request::parse(head.as_bytes()).unwrap().unwrap().0)
    }

    const GOOD: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

    #[test]
    fn str_20_the_handshake_is_the_one_of_the_rfc() {
        assert!(asking(GOOD).unwrap().contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(!asking(GOOD).unwrap().contains("Sec-WebSocket-Protocol"));
    }

    #[test]
    fn str_20_the_subprotocol_asked_for_is_answered() {
        for (asked, given) in [("null", "null"), ("mqtt", "mqtt"), ("a, b", "a"), ("a, null", "null")] {
            let answer = asking(&format!("{GOOD}Sec-WebSocket-Protocol: {asked}\r\n")).unwrap();
            assert!(answer.contains(&format!("\r\nSec-WebSocket-Protocol: {given}\r\n")), "{asked}");
        }
        assert_eq!(asking(&format!("{GOOD}Sec-WebSocket-Protocol: a b\r\n")), Err(Code::BadRequest));
    }

    #[test]
    fn str_20_a_handshake_that_is_none_is_refused() {
        assert_eq!(asking("Sec-WebSocket-Version: 13\r\n"), Err(Code::BadRequest));
        assert_eq!(asking("Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n"), Err(Code::BadRequest));
        assert_eq!(asking(&GOOD.replace("13", "8")), Err(Code::UpgradeRequired));
    }
}
