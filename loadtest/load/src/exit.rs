//! The exit codes of the command. `loadtest/README.md` documents them.
use parley_cli::ending::Ending;
use std::process::ExitCode;

/// How the command ended. clap exits with 2 where the command line is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every delivery was exact.
    Done = 0,
    /// An error that a later run may not meet.
    Failed = 1,
    /// The server refused, and would refuse again.
    Refused = 3,
    /// A delivery was not exact, or the server refused or closed a socket.
    Inexact = 4,
    /// Every delivery was exact, but the generator was too busy to measure.
    Void = 5,
}

impl Exit {
    /// Of a report. `void`: the generator was too busy to measure.
    pub fn of(exact: bool, void: bool) -> Self {
        match (exact, void) {
            (false, _) => Exit::Inexact,
            (true, true) => Exit::Void,
            (true, false) => Exit::Done,
        }
    }
}

impl From<&Ending> for Exit {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Done => Exit::Done,
            Ending::Refused(_) | Ending::NoToken(_) => Exit::Refused,
            Ending::Lost { .. } => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
