//! JSON lines on standard output: one per connection that ended, nothing per message.
use tracing::Level;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Half a minute of a pod whose every socket ends; a line takes some 200 bytes.
const LINES_WAITING: usize = 16_384;

/// Installs the log for the whole process; what waits is written when the answer is dropped. A standard output that nobody reads holds
/// nobody up: lines over `LINES_WAITING` are dropped.
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
        .with(filter_fn(|about| may_be_shown(about.target(), *about.level())))
        .try_init()
        .map_err(|why| anyhow::anyhow!("cannot install the log: {why}"))?;
    Ok(guard)
}

/// Libraries say less than the operator asked for: the NATS client would log every message it reads, with keys and codes, and MoQ every
/// broadcast that somebody watches, and the name of a room is the key to it.
fn may_be_shown(target: &str, level: Level) -> bool {
    match target.split("::").next() {
        Some("moq_net") => false,
        Some(library) if library.starts_with("moq_") => level <= Level::WARN,
        Some(own) if own.starts_with("parley_") => true,
        _ => level <= Level::INFO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_do_not_log_what_they_carry() {
        for (target, level, shown) in [
            ("parley_relay::drain", Level::TRACE, true),
            ("async_nats::connection", Level::DEBUG, false),
            ("async_nats", Level::INFO, true),
            ("mio::poll", Level::TRACE, false),
            ("moq_net::lite::subscriber", Level::ERROR, false),
            ("moq_tokio::connection", Level::INFO, false),
            ("moq_tokio", Level::WARN, true),
        ] {
            assert_eq!(may_be_shown(target, level), shown, "{target} {level}");
        }
    }
}
