//! The `parley-relay` command: reads its settings, starts the relay, and drains it when told to end.
use anyhow::Context;
use parley_relay::{config, drain, log, relay};

/// Gives the memory of a crowd that has gone back to the system. glibc keeps it: what each thread holds in its cache pins the heap.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> anyhow::Result<()> {
    let settings = config::read(std::env::args_os(), std::env::vars()).unwrap_or_else(|refused| refused.exit());
    let _log = log::install(settings.log_level, settings.limits.log_lines)?;
    config::runtime(&settings).context("cannot start the runtime")?.block_on(async {
        let told = drain::Told::new().context("cannot take signals")?;
        let running = relay::start(settings).await?;
        drain::when_told(told, running).await;
        Ok(())
    })
}
