//! How the command ends. Documented in README.md.
use std::process::ExitCode;

/// What a script can tell from the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// As asked.
    Done = 0,
    /// Something went wrong that trying again may cure.
    Failed = 1,
    /// The command line is wrong. clap ends with the same.
    Usage = 2,
    /// The server refused, and would again.
    Refused = 3,
    /// The input is nothing that can be published.
    Unfit = 6,
    /// A check of a host failed.
    Unwell = 7,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
