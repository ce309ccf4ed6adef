//! The `parley` command.
use std::process::ExitCode;

fn main() -> ExitCode {
    parley_cli::run()
}
