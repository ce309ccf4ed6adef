//! The `parley-relay` command: reads its settings, starts the relay, and drains it on a signal.
use anyhow::Context;
use parley_relay::{config, drain, log, start};

/// jemalloc returns memory to the system after many clients have left. glibc does not: the caches of its threads pin the heap.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> anyhow::Result<()> {
    let settings = config::read(std::env::args_os(), std::env::vars()).unwrap_or_else(|refused| refused.exit());
    let _log = log::install(settings.log_level, settings.limits.log_lines)?;
    #[cfg(feature = "media")]
    let _traces = parley_relay::traces::install(&settings);
    config::runtime(&settings).context("cannot start the runtime")?.block_on(async {
        let signals = drain::Signals::new().context("cannot install signal handlers")?;
        let running = start::relay(settings).await?;
        drain::on_signal(signals, running).await;
        Ok(())
    })
}
