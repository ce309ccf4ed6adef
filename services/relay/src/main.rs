//! The `parley-relay` command: reads its settings, starts the relay, and drains it when told to end.
use anyhow::Context;
use parley_relay::{config, drain, log, relay};

fn main() -> anyhow::Result<()> {
    let settings = config::read(std::env::args_os(), std::env::vars()).unwrap_or_else(|refused| refused.exit());
    let _log = log::install(settings.log_level)?;
    config::runtime(&settings).context("cannot start the runtime")?.block_on(async {
        let running = relay::start(settings).await?;
        drain::when_told(running).await
    })
}
