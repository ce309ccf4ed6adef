//! HTTP responses. A connection ends after its response.
use parley_net::codes::Code;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response.
#[derive(Debug)]
pub struct Response {
    status: u16,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// How long a peer may take to read a response.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

impl Response {
    /// Status 200 with a body.
    pub fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, headers: Vec::new(), body: body.into() }
    }

    /// Status 201 with JSON.
    pub(crate) fn created(body: &serde_json::Value) -> Self {
        Self { status: 201, ..Self::ok("application/json", body.to_string()) }
    }

    /// Status 204.
    pub(crate) fn no_content() -> Self {
        Self { status: 204, ..Self::ok("", "") }
    }

    /// A refusal: the code as JSON, with `Retry-After` if a later attempt may succeed.
    pub fn refusal(code: Code) -> Self {
        let body = serde_json::json!({ "code": code.name() }).to_string();
        let mut refusal = Self { status: code.http(), ..Self::ok("application/json", body) };
        if code.retry() {
            refusal = refusal.with("Retry-After", "2".into());
        }
        if code.http() == 401 {
            refusal = refusal.with("WWW-Authenticate", "Bearer".into());
        }
        match code {
            Code::UpgradeRequired => {
                refusal.with("Upgrade", "websocket".into()).with("Sec-WebSocket-Version", "13".into())
            }
            Code::MethodNotAllowed => refusal.with("Allow", "GET, HEAD".into()),
            _ => refusal,
        }
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Sends the response and ends the connection. `head`: without the body.
    pub async fn send(self, stream: &mut TcpStream, head: bool) {
        let _ = tokio::time::timeout(WRITE_TIMEOUT, self.write(stream, head)).await;
    }

    async fn write(self, stream: &mut TcpStream, head: bool) -> std::io::Result<()> {
        let connection = if self.status == 426 { "close, upgrade" } else { "close" };
        let mut text = format!(
            "HTTP/1.1 {} {}\r\nConnection: {connection}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n",
            self.status,
            reason(self.status)
        );
        // RFC 9110 section 8.6: a 204 has no content length.
        if self.status != 204 {
            text.push_str(&format!("Content-Type: {}\r\nContent-Length: {}\r\n", self.content_type, self.body.len()));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut answer = text.into_bytes();
        if !head {
            answer.extend_from_slice(&self.body);
        }
        // One write: WebSocket clients show only the part of a refusal that arrives with its head.
        stream.write_all(&answer).await?;
        stream.shutdown().await?;
        // Closing a socket with unread bytes would reset the connection and discard the response.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        Ok(())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
