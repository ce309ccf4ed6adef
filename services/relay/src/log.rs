//! JSON lines on standard output: one per connection that ended, nothing per message. At most `log.lines` lines of one kind are written per
//! second, and names of topics appear only as hashes, because the name of a topic may be enough to open it. Rules STR-83 and
//! STR-135.
use parking_lot::Mutex;
use parley_net::per_second::PerSecond;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The lines that may wait: half a minute of a full pod that closes all sockets. A line takes about 200 bytes.
const MAX_WAITING_LINES: usize = 16_384;

/// Installs the log for the whole process. Dropping the result writes the lines that wait. A standard output that is not read delays
/// nothing: lines over `MAX_WAITING_LINES` are dropped.
pub fn install(level: Level, lines: u64) -> anyhow::Result<WorkerGuard> {
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(MAX_WAITING_LINES).finish(std::io::stdout());
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_writer(writer)
        .with_max_level(level)
        .with_current_span(false)
        .with_span_list(false)
        .finish()
        .with(filter_fn(|metadata| is_allowed(metadata.target(), *metadata.level())))
        .with(RateLimit::new(lines))
        .try_init()
        .map_err(|error| anyhow::anyhow!("cannot install the log: {error}"))?;
    Ok(guard)
}

/// The lines that were suppressed over `log.lines`.
static SUPPRESSED: AtomicU64 = AtomicU64::new(0);

/// The number of lines that were suppressed since the process started.
pub(crate) fn suppressed() -> u64 {
    SUPPRESSED.load(Ordering::Relaxed)
}

/// Hashes a name that must not be in the log, with a key that ends with the process. Lines about one name can be correlated.
pub(crate) fn hashed(name: &str) -> String {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    format!("{:016x}", KEY.hash_one(name))
}

/// Limits the lines of one kind per second. A kind is a place in the source, of which there are a few dozen.
struct RateLimit {
    max: u64,
    written: Mutex<HashMap<Identifier, PerSecond>>,
}

impl RateLimit {
    fn new(max: u64) -> Self {
        Self { max, written: Mutex::default() }
    }

    /// Counts a line. Returns false if it exceeds the limit.
    fn take(&self, kind: Identifier, now: Instant) -> bool {
        self.written.lock().entry(kind).or_default().take(self.max, now)
    }
}

impl<S: Subscriber> Layer<S> for RateLimit {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let fits = self.take(event.metadata().callsite(), Instant::now());
        if !fits {
            SUPPRESSED.fetch_add(1, Ordering::Relaxed);
        }
        fits
    }
}

/// Restricts libraries beyond the configured level: the NATS client would log every message, including keys and codes, and MoQ would log
/// the name of every broadcast, and the name of a room is enough to join it.
fn is_allowed(target: &str, level: Level) -> bool {
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
    use std::sync::Arc;
    use std::time::Duration;

    /// Counts the lines that are written.
    #[derive(Clone, Default)]
    struct Lines(Arc<AtomicU64>);

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, _event: &Event<'_>, _context: Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn str_135_a_flood_of_one_kind_of_line_is_limited_and_other_kinds_are_written() {
        let lines = Lines::default();
        let log = tracing_subscriber::registry().with(lines.clone()).with(RateLimit::new(10));
        let before = suppressed();
        tracing::subscriber::with_default(log, || {
            for _ in 0..1000 {
                tracing::info!("closed");
            }
            tracing::warn!("other");
        });
        // The loop may last longer than a second.
        let written = lines.0.load(Ordering::Relaxed);
        assert!((11..=21).contains(&written), "{written}");
        assert!(suppressed() - before >= 980);
    }

    #[test]
    fn str_135_each_second_has_its_own_lines() {
        static METADATA: tracing::Metadata<'static> = tracing::metadata! {
            name: "kind", target: "test", level: Level::INFO, fields: &[], callsite: &CALLSITE, kind: tracing::metadata::Kind::EVENT,
        };
        static CALLSITE: tracing::callsite::DefaultCallsite = tracing::callsite::DefaultCallsite::new(&METADATA);
        let (rate, now) = (RateLimit::new(2), Instant::now());
        let take = |ms| rate.take(METADATA.callsite(), now + Duration::from_millis(ms));
        assert_eq!([0, 0, 0, 999, 1000, 1001, 1002].map(take), [true, true, false, false, true, true, false]);
    }

    #[test]
    fn str_135_the_hash_of_a_topic_is_stable_within_the_process() {
        assert_eq!(hashed("/lab/7"), hashed("/lab/7"));
        assert_ne!(hashed("/lab/7"), hashed("/lab/8"));
        assert_eq!(hashed("/lab/7").len(), 16);
    }

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
            assert_eq!(is_allowed(target, level), shown, "{target} {level}");
        }
    }
}
