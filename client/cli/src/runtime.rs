//! What commands run on.
use crate::exit::Exit;
use std::process::ExitCode;

/// Runs one to its end.
pub fn run(command: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(command);
    // A thread that reads standard input cannot be told to stop.
    runtime.shutdown_background();
    exit.map(ExitCode::from)
}
