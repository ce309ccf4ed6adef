//! How a session with a relay ended, and whether another would do better (MED-13 to MED-18, MED-51).
use crate::ending::{Again, Ending};
use moq_net::SessionError;
use moq_tokio::Error;
use parley_protocol::relay_codes::session;

/// Of a session that was closed. `asked`: whether signaling gives another token for the next one.
pub fn closed(ended: Result<(), Error>, asked: bool) -> Ending {
    let error = match ended {
        // It was told to go elsewhere.
        Ok(()) => return Ending::Lost { why: "the relay is going away".into(), again: Again::AtOnce },
        Err(error) => error,
    };
    if error.is_auth() {
        return match asked {
            true => Ending::lost("the relay ended the session: the token is over"),
            false => {
                Ending::Refused("the relay does not take the token: it is over, revoked or another relay's".into())
            }
        };
    }
    match code(&error) {
        Some(session::PATH_INVALID) => {
            Ending::Refused("the relay refused: an address of a relay has no path (PATH_INVALID)".into())
        }
        Some(session::TOO_MANY_BROADCASTS) => {
            Ending::Refused("the relay refused: too many broadcasts (TOO_MANY_BROADCASTS)".into())
        }
        Some(session::NOT_READY) => {
            Ending::lost("the relay takes nobody now (TOO_MANY_SESSIONS, MEMORY_LIMIT_EXCEEDED, GOAWAY or NOT_READY)")
        }
        _ => Ending::lost(format!("the connection was lost: {:#}", anyhow::Error::from(error))),
    }
}

/// Of a session that did not begin.
pub fn undialled(why: anyhow::Error, asked: bool) -> Ending {
    if let Some(error) = why.downcast_ref::<Error>()
        && (error.is_auth() || code(error).is_some())
    {
        return closed(Err(error.clone()), asked);
    }
    let text = format!("no connection to the relay: {why:#}");
    // Nobody else's certificate will be taken for the one that was named.
    if !asked && text.contains("fingerprint mismatch") { Ending::Refused(text) } else { Ending::lost(text) }
}

fn code(error: &Error) -> Option<u16> {
    match error {
        Error::MoqNet(moq_net::Error::App(code) | moq_net::Error::Session(SessionError::App(code))) => Some(*code),
        _ => None,
    }
}
