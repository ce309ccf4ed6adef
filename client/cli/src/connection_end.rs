//! How a connection ended, and whether a new one may succeed. The codes are in `services/relay/README.md`.
use crate::exit::Exit;
use parley_protocol::relay_codes::Code;
use std::io::ErrorKind;
use std::time::Duration;
use tokio_tungstenite::tungstenite;
use tungstenite::error::ProtocolError;
use tungstenite::http::{Response, StatusCode};
use tungstenite::protocol::CloseFrame;

/// Why a connection ended or was not established.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Complete: the input ended, the output was closed, or the user stopped the command.
    Done,
    /// Retrying cannot help, and why.
    Refused(String),
    /// The server waited for a token and received none. Retrying does not help a client that has none.
    NoToken(String),
    /// Retrying may help.
    Lost {
        /// Why the connection was lost.
        why: String,
        /// When to retry.
        retry: Retry,
    },
}

/// When to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// After a pause that grows with each retry.
    Later,
    /// After at least this time.
    NotBefore(Duration),
    /// At once: the server is draining, and another accepts its clients.
    AtOnce,
}

/// RFC 6455 section 7.4.1: the data or the request was invalid. The relay closes with neither code.
const FATAL_CLOSE_CODES: [u16; 2] = [1003, 1010];
/// RFC 9110: the 4xx statuses that do not mean that the request is wrong.
const TRANSIENT_STATUSES: [u16; 3] = [408, 425, 429];

impl ConnectionEnd {
    /// Prints the reason, and returns the exit code for a command that does not retry.
    pub(crate) fn report(&self) -> Exit {
        if *self != ConnectionEnd::Done {
            eprintln!("parley: {}", self.reason());
        }
        self.exit()
    }

    /// The exit code for a command that does not retry.
    pub fn exit(&self) -> Exit {
        match self {
            ConnectionEnd::Done => Exit::Done,
            ConnectionEnd::Refused(_) | ConnectionEnd::NoToken(_) => Exit::Refused,
            ConnectionEnd::Lost { .. } => Exit::Failed,
        }
    }

    /// The reason as text.
    pub fn reason(&self) -> &str {
        match self {
            ConnectionEnd::Done => "the server closed the connection",
            ConnectionEnd::Refused(why) | ConnectionEnd::NoToken(why) | ConnectionEnd::Lost { why, .. } => why,
        }
    }

    /// A connection that broke.
    pub fn lost(why: impl ToString) -> Self {
        ConnectionEnd::Lost { why: why.to_string(), retry: Retry::Later }
    }

    /// The ending that a close frame means.
    pub fn from_close(frame: Option<&CloseFrame>) -> Self {
        let Some(frame) = frame else { return Self::lost("the server closed the socket") };
        let code = u16::from(frame.code);
        let why = match frame.reason.as_str() {
            "" => format!("the server closed the socket with {code}"),
            reason => format!("the server closed the socket: {reason} ({code})"),
        };
        match Code::named(&frame.reason).or_else(|| Code::of_close(code)) {
            _ if code == 1000 => ConnectionEnd::Done,
            _ if FATAL_CLOSE_CODES.contains(&code) => ConnectionEnd::Refused(why),
            Some(Code::Goaway) => ConnectionEnd::Lost { why, retry: Retry::AtOnce },
            Some(Code::TokenTimeout) => ConnectionEnd::NoToken(why),
            Some(code) if !code.retry() => ConnectionEnd::Refused(why),
            _ => Self::lost(why),
        }
    }

    /// The ending that an HTTP response other than the expected one means.
    pub(crate) fn from_response(answer: &Response<Option<Vec<u8>>>) -> Self {
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        Self::from_status(answer.status().as_u16(), after, answer.body().as_deref().unwrap_or_default())
    }

    /// The ending that an HTTP status, the seconds of Retry-After and a body mean.
    pub(crate) fn from_status(status: u16, after: Option<u64>, body: &[u8]) -> Self {
        let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let known = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let code = body["code"].as_str().or(known).unwrap_or("HTTP");
        let why = format!("the server refused: {code} ({status})");
        let transient = !(300..500).contains(&status) || TRANSIENT_STATUSES.contains(&status);
        // The relay defines for each of its codes whether retrying may help.
        if !Code::named(code).map_or(transient, Code::retry) {
            return ConnectionEnd::Refused(why);
        }
        let retry = after.map_or(Retry::Later, |seconds| Retry::NotBefore(Duration::from_secs(seconds)));
        ConnectionEnd::Lost { why, retry }
    }

    /// The ending that an error of the WebSocket library means.
    pub fn from_error(error: tungstenite::Error) -> Self {
        use tungstenite::Error;
        match error {
            Error::Http(answer) => Self::from_response(&answer),
            Error::ConnectionClosed | Error::AlreadyClosed => Self::lost("the server ended the connection"),
            Error::Io(why) if why.kind() == ErrorKind::InvalidData => {
                ConnectionEnd::Refused(format!("TLS failed: {why}"))
            }
            Error::Io(why) => Self::lost(format!("no connection: {why}")),
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::lost("the connection broke"),
            Error::Protocol(why) => Self::lost(format!("the WebSocket failed: {why}")),
            other => ConnectionEnd::Refused(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(code: u16, reason: &'static str) -> ConnectionEnd {
        ConnectionEnd::from_close(Some(&CloseFrame { code: code.into(), reason: reason.into() }))
    }

    #[test]
    fn the_client_retries_after_a_code_of_the_relay_exactly_if_the_code_says_so() {
        for code in Code::ALL {
            let helps = |end: &ConnectionEnd| matches!(end, ConnectionEnd::Lost { .. } | ConnectionEnd::NoToken(_));
            // Sent before there is a socket to close.
            let answered_only = code == Code::UpgradeTimeout;
            assert!(
                answered_only || helps(&closed(code.close(), code.name())) == code.retry(),
                "{code:?} as a close code"
            );
            let body = format!(r#"{{"code":"{}"}}"#, code.name());
            assert_eq!(
                helps(&ConnectionEnd::from_status(code.http(), None, body.as_bytes())),
                code.retry(),
                "{code:?} as a status"
            );
        }
    }

    #[test]
    fn str_70_after_a_goaway_the_client_reconnects_at_once() {
        let why = "the server closed the socket: GOAWAY (1012)".to_owned();
        assert_eq!(closed(1012, "GOAWAY"), ConnectionEnd::Lost { why, retry: Retry::AtOnce });
    }

    #[test]
    fn errors_have_a_text_for_users() {
        let broke = tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake);
        assert_eq!(ConnectionEnd::from_error(broke), ConnectionEnd::lost("the connection broke"));
        let refused = ConnectionEnd::from_status(403, None, b"");
        assert_eq!(refused, ConnectionEnd::Refused("the server refused: Forbidden (403)".into()));
    }

    #[test]
    fn the_client_waits_for_the_time_of_retry_after() {
        let ConnectionEnd::Lost { retry, why } = ConnectionEnd::from_status(503, Some(7), br#"{"code":"POD_FULL"}"#)
        else {
            panic!()
        };
        assert_eq!(
            (retry, why.as_str()),
            (Retry::NotBefore(Duration::from_secs(7)), "the server refused: POD_FULL (503)")
        );
    }
}
