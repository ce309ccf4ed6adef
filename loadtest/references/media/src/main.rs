//! The stock relay, as its own `main.rs` starts it.
use moq_relay::{Config, Relay};

/// Ours has it, so it is not what makes the difference.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _chosen_before = moq_tokio::crypto::install_default();
    Relay::load(Config::load()?).await?.run().await
}
