//! The exit codes of `parley` and of `parley-load`, which their README.md document.
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command completed.
    Done = 0,
    /// An error after which a retry may succeed.
    Failed = 1,
    /// The command line is invalid. clap uses the same code.
    Usage = 2,
    /// The server refused, and a retry would be refused too.
    Refused = 3,
    /// A delivery was not exact, or the server refused or closed a socket of a load.
    Inexact = 4,
    /// Every delivery was exact, but the generator was too busy to measure.
    Void = 5,
    /// The input cannot be published.
    InvalidInput = 6,
    /// A check of a host failed.
    CheckFailed = 7,
}

impl Exit {
    /// The exit code of a load. `void`: the generator was too busy to measure.
    pub fn of_load(exact: bool, void: bool) -> Self {
        match (exact, void) {
            (false, _) => Exit::Inexact,
            (true, true) => Exit::Void,
            (true, false) => Exit::Done,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
