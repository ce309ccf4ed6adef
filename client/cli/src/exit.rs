//! The exit codes of the command, which README.md documents.
use std::process::ExitCode;

/// An exit code.
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
    /// The input cannot be published.
    InvalidInput = 6,
    /// A check of a host failed.
    CheckFailed = 7,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
