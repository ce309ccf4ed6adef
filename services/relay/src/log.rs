//! JSON lines on standard output: one per connection that ended, nothing per message.
use tracing::Level;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Half a minute of a pod whose every socket ends; a line takes some 200 bytes.
const LINES_WAITING: usize = 16_384;

/// Installs the log for the whole process; what waits is written when the answer is dropped. A standard output that nobody reads holds
/// nobody up: lines over `LINES_WAITING` are dropped. The NATS client would log every message it reads, with keys and codes.
pub fn install(least: Level) -> anyhow::Result<WorkerGuard> {
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES_WAITING).finish(std::io::stdout());
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_writer(writer)
        .with_max_level(least)
        .with_current_span(false)
        .with_span_list(false)
        .finish()
        .with(filter_fn(|about| *about.level() <= Level::INFO || !about.target().starts_with("async_nats")))
        .try_init()
        .map_err(|why| anyhow::anyhow!("cannot install the log: {why}"))?;
    Ok(guard)
}
