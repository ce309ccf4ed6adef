//! The runtime of commands.
use crate::exit::Exit;
use std::process::ExitCode;

/// Runs a command to its end.
pub fn run(command: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(command);
    // The thread that reads standard input cannot be stopped.
    runtime.shutdown_background();
    exit.map(ExitCode::from)
}
