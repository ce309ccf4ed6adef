//! How a connection ended, and whether another would do better. `services/relay/README.md`, Codes.
use crate::exit::Exit;
use parley_protocol::relay_codes::Code;
use std::io::ErrorKind;
use std::time::Duration;
use tokio_tungstenite::tungstenite;
use tungstenite::error::ProtocolError;
use tungstenite::http::{Response, StatusCode};
use tungstenite::protocol::CloseFrame;

/// Why there is no connection any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All is done: the input ended, nobody reads the output, or the user said so.
    Done,
    /// Trying again cannot help, and why.
    Refused(String),
    /// The server waited for a token in vain: nothing that helps whoever has none.
    NoToken(String),
    /// Trying again may help.
    Lost {
        /// Why.
        why: String,
        /// How soon.
        again: Again,
    },
}

/// How soon to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// After a pause that grows from try to try.
    Later,
    /// Not before this.
    NotBefore(Duration),
    /// At once: the server is going away, and another takes its clients.
    AtOnce,
}

/// RFC 6455 section 7.4.1: what was sent, or asked for, is wrong. The relay closes with neither.
const WRONG: [u16; 2] = [1003, 1010];
/// RFC 9110: statuses of the 400s that say nothing against the request itself.
const PASSING: [u16; 3] = [408, 425, 429];

impl Ending {
    /// Tells the user, and how the command ends where nothing is tried again.
    pub fn say(&self) -> Exit {
        let (why, exit) = match self {
            Ending::Done => return Exit::Done,
            Ending::Refused(why) | Ending::NoToken(why) => (why, Exit::Refused),
            Ending::Lost { why, .. } => (why, Exit::Failed),
        };
        eprintln!("parley: {why}");
        exit
    }

    /// In words.
    pub fn why(&self) -> &str {
        match self {
            Ending::Done => "the server ended it",
            Ending::Refused(why) | Ending::NoToken(why) | Ending::Lost { why, .. } => why,
        }
    }

    /// Of a connection that broke.
    pub fn lost(why: impl ToString) -> Self {
        Ending::Lost { why: why.to_string(), again: Again::Later }
    }

    /// Of a close frame.
    pub fn closed(frame: Option<&CloseFrame>) -> Self {
        let Some(frame) = frame else { return Self::lost("the server closed the socket") };
        let code = u16::from(frame.code);
        let why = match frame.reason.as_str() {
            "" => format!("the server closed the socket with {code}"),
            reason => format!("the server closed the socket: {reason} ({code})"),
        };
        match Code::named(&frame.reason).or_else(|| Code::of_close(code)) {
            _ if code == 1000 => Ending::Done,
            _ if WRONG.contains(&code) => Ending::Refused(why),
            Some(Code::Goaway) => Ending::Lost { why, again: Again::AtOnce },
            Some(Code::TokenTimeout) => Ending::NoToken(why),
            Some(code) if !code.retry() => Ending::Refused(why),
            _ => Self::lost(why),
        }
    }

    /// Of an HTTP answer other than the one hoped for.
    pub fn answered(answer: &Response<Option<Vec<u8>>>) -> Self {
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        Self::status(answer.status().as_u16(), after, answer.body().as_deref().unwrap_or_default())
    }

    /// Of an HTTP status, the seconds of Retry-After and a body.
    pub fn status(status: u16, after: Option<u64>, body: &[u8]) -> Self {
        let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let known = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let code = body["code"].as_str().or(known).unwrap_or("HTTP");
        let why = format!("the server refused: {code} ({status})");
        let passes = !(300..500).contains(&status) || PASSING.contains(&status);
        // The relay says of each of its codes whether trying again may help.
        if !Code::named(code).map_or(passes, Code::retry) {
            return Ending::Refused(why);
        }
        let again = after.map_or(Again::Later, |seconds| Again::NotBefore(Duration::from_secs(seconds)));
        Ending::Lost { why, again }
    }

    /// Of what the WebSocket library says.
    pub fn of(error: tungstenite::Error) -> Self {
        use tungstenite::Error;
        match error {
            Error::Http(answer) => Self::answered(&answer),
            Error::ConnectionClosed | Error::AlreadyClosed => Self::lost("the server ended the connection"),
            Error::Io(why) if why.kind() == ErrorKind::InvalidData => Ending::Refused(format!("no TLS: {why}")),
            Error::Io(why) => Self::lost(format!("no connection: {why}")),
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::lost("the connection broke"),
            Error::Protocol(why) => Self::lost(format!("no WebSocket: {why}")),
            other => Ending::Refused(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(code: u16, reason: &'static str) -> Ending {
        Ending::closed(Some(&CloseFrame { code: code.into(), reason: reason.into() }))
    }

    #[test]
    fn whatever_the_relay_says_is_tried_again_exactly_where_that_helps() {
        for code in Code::ALL {
            let helps = |ending: &Ending| matches!(ending, Ending::Lost { .. } | Ending::NoToken(_));
            // Said before there is a socket to close.
            let answered_only = code == Code::UpgradeTimeout;
            assert!(
                answered_only || helps(&closed(code.close(), code.name())) == code.retry(),
                "{code:?} as a close code"
            );
            let body = format!(r#"{{"code":"{}"}}"#, code.name());
            assert_eq!(
                helps(&Ending::status(code.http(), None, body.as_bytes())),
                code.retry(),
                "{code:?} as a status"
            );
        }
    }

    #[test]
    fn str_70_who_is_sent_elsewhere_goes_at_once() {
        let why = "the server closed the socket: GOAWAY (1012)".to_owned();
        assert_eq!(closed(1012, "GOAWAY"), Ending::Lost { why, again: Again::AtOnce });
    }

    #[test]
    fn what_happened_is_said_in_words_of_the_user() {
        let broke = tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake);
        assert_eq!(Ending::of(broke), Ending::lost("the connection broke"));
        let refused = Ending::status(403, None, b"");
        assert_eq!(refused, Ending::Refused("the server refused: Forbidden (403)".into()));
    }

    #[test]
    fn a_server_that_names_a_time_is_believed() {
        let Ending::Lost { again, why } = Ending::status(503, Some(7), br#"{"code":"POD_FULL"}"#) else { panic!() };
        assert_eq!(
            (again, why.as_str()),
            (Again::NotBefore(Duration::from_secs(7)), "the server refused: POD_FULL (503)")
        );
    }
}
