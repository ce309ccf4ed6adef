//! How a session with a relay ended, and whether a new one may succeed (MED-13 to MED-18, MED-51).
use crate::connection_end::{ConnectionEnd, Retry};
use moq_net::SessionError;
use moq_tokio::Error;
use parley_protocol::relay_codes::session;

/// The ending of a session that was closed. `renews_token`: signaling issues a new token for the next session.
pub fn closed(ended: Result<(), Error>, renews_token: bool) -> ConnectionEnd {
    let error = match ended {
        // The relay sent a goaway.
        Ok(()) => return ConnectionEnd::Lost { why: "the relay is draining".into(), retry: Retry::AtOnce },
        Err(error) => error,
    };
    if error.is_auth() {
        return match renews_token {
            true => ConnectionEnd::lost("the relay ended the session: the token expired"),
            false => ConnectionEnd::Refused(
                "the relay refused the token: it expired, was revoked or is for another relay".into(),
            ),
        };
    }
    match code(&error) {
        Some(session::PATH_INVALID) => {
            ConnectionEnd::Refused("the relay refused: the address of a relay has no path (PATH_INVALID)".into())
        }
        Some(session::TOO_MANY_BROADCASTS) => {
            ConnectionEnd::Refused("the relay refused: too many broadcasts (TOO_MANY_BROADCASTS)".into())
        }
        Some(session::NOT_READY) => ConnectionEnd::lost(
            "the relay accepts no sessions (TOO_MANY_SESSIONS, MEMORY_LIMIT_EXCEEDED, GOAWAY or NOT_READY)",
        ),
        _ => ConnectionEnd::lost(format!("the connection was lost: {:#}", anyhow::Error::from(error))),
    }
}

/// Whether the relay accepts sessions with another token.
pub fn is_of_token(ended: &Result<(), Error>) -> bool {
    ended.as_ref().is_err_and(Error::is_auth)
}

/// The ending of a session that was not established.
pub fn not_connected(why: anyhow::Error, renews_token: bool) -> ConnectionEnd {
    if let Some(error) = why.downcast_ref::<Error>()
        && (error.is_auth() || code(error).is_some())
    {
        return closed(Err(error.clone()), renews_token);
    }
    let text = format!("no connection to the relay: {why:#}");
    // The given hash belongs to another certificate, so every attempt would fail.
    if !renews_token && text.contains("fingerprint mismatch") {
        ConnectionEnd::Refused(text)
    } else {
        ConnectionEnd::lost(text)
    }
}

fn code(error: &Error) -> Option<u16> {
    match error {
        Error::MoqNet(moq_net::Error::App(code) | moq_net::Error::Session(SessionError::App(code))) => Some(*code),
        _ => None,
    }
}
