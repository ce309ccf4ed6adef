//! The runtime of the loads that are asynchronous: one thread, as the generator must not use a second processor.
use std::time::Duration;

/// The processor time of a process is that of its living threads: none may end during a measurement.
const THREAD_KEEP_ALIVE: Duration = Duration::from_secs(86_400);

/// Runs a load to its end. Does not wait for lookups of names that still run in other threads.
pub fn block_on<T>(load: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().thread_keep_alive(THREAD_KEEP_ALIVE).build()?;
    let result = runtime.block_on(load);
    runtime.shutdown_background();
    result
}
