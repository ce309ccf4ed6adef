//! The request for a ticket (JOIN-1 to JOIN-3). Each has a connection of its own, as that of a browser that opens the page: a connection that
//! is kept would have to be replaced whenever the service closed it in the meantime.
use super::plan::Edge;
use parley_protocol::routes;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io::{Error, ErrorKind};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer.
const MAX_ANSWER_BYTES: u64 = 16_384;
/// A refusal that came from no participant of the protocol.
pub const NO_ANSWER: &str = "NO_ANSWER";

/// What a request for a ticket was answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// A ticket, and the path of the socket.
    Ticket { ticket: String, path: String },
    /// A slot: a time to come, and the word to come with.
    Slot { slot: String, after: Duration },
    /// The code of a refusal; with a time, after which a retry may succeed.
    Refused { code: String, after: Option<Duration> },
}

/// The fields of an answer that the crowd reads.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    ticket: String,
    socket_url: String,
    code: String,
    retry_after_ms: Option<u64>,
    slot: Option<String>,
}

/// Asks for a ticket. `slot`: the word of an earlier answer.
pub async fn request(edge: &Edge, room: &str, name: &str, slot: Option<&str>) -> Answer {
    let mut body = Map::from_iter([("name".to_owned(), Value::from(name))]);
    body.extend(slot.map(|slot| ("slot".to_owned(), Value::from(slot))));
    let answer = timeout(ANSWER_TIMEOUT, post(edge, &routes::join_room(room), &Value::from(body).to_string())).await;
    match answer {
        Ok(Ok((status, body))) => read(status, &body),
        Ok(Err(_)) | Err(_) => Answer::Refused { code: NO_ANSWER.into(), after: Some(Duration::ZERO) },
    }
}

async fn post(edge: &Edge, path: &str, body: &str) -> Result<(u16, Vec<u8>), Error> {
    let mut stream = TcpStream::connect(edge.address).await?;
    stream.set_nodelay(true)?;
    let (host, length) = (&edge.host, body.len());
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await?;
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let broken = || Error::from(ErrorKind::InvalidData);
    let httparse::Status::Complete(size) = head.parse(&answer).map_err(|_| broken())? else { return Err(broken()) };
    Ok((head.code.unwrap_or(0), answer.split_off(size)))
}

fn read(status: u16, body: &[u8]) -> Answer {
    let body: Body = serde_json::from_slice(body).unwrap_or_default();
    let after = body.retry_after_ms.map(Duration::from_millis);
    let path = body.socket_url.splitn(4, '/').nth(3).map(|path| format!("/{path}"));
    match (status, path, body.slot, after) {
        (200, Some(path), ..) => Answer::Ticket { ticket: body.ticket, path },
        (_, _, Some(slot), Some(after)) => Answer::Slot { slot, after },
        _ if body.code.is_empty() => Answer::Refused { code: format!("HTTP_{status}"), after },
        _ => Answer::Refused { code: body.code, after },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_ticket_a_slot_or_a_refusal() {
        let ticket = br#"{"participant":"p1","ticket":"t","socketUrl":"ws://127.0.0.1:1/v1/rooms/r/socket"}"#;
        let path = "/v1/rooms/r/socket".to_owned();
        assert_eq!(read(200, ticket), Answer::Ticket { ticket: "t".into(), path });
        let busy = br#"{"code":"BUSY","message":"","retryAfterMs":1500,"slot":"s"}"#;
        assert_eq!(read(503, busy), Answer::Slot { slot: "s".into(), after: Duration::from_millis(1500) });
        let full = br#"{"code":"ROOM_FULL","message":""}"#;
        assert_eq!(read(409, full), Answer::Refused { code: "ROOM_FULL".into(), after: None });
        assert_eq!(read(502, b"<html>"), Answer::Refused { code: "HTTP_502".into(), after: None });
    }

    #[tokio::test]
    async fn an_edge_that_does_not_listen_is_a_refusal_that_may_pass() {
        let answer = request(&Edge::parse("http://127.0.0.1:1").unwrap(), "r", "n", None).await;
        assert_eq!(answer, Answer::Refused { code: NO_ANSWER.into(), after: Some(Duration::ZERO) });
    }
}
