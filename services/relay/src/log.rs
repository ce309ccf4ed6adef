//! JSON lines on standard output: one per connection that ended, nothing per message. What clients do writes no more than `log.lines` of
//! one kind in a second, and the names of topics appear as hashes only: whoever knows a topic's name may be let in by it. Rules STR-83 and
//! STR-135.
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Half a minute of a pod whose every socket ends; a line takes some 200 bytes.
const LINES_WAITING: usize = 16_384;

/// Installs the log for the whole process; what waits is written when the answer is dropped. A standard output that nobody reads holds
/// nobody up: lines over `LINES_WAITING` are dropped.
pub fn install(least: Level, lines: u64) -> anyhow::Result<WorkerGuard> {
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
        .with(Rate::new(lines))
        .try_init()
        .map_err(|why| anyhow::anyhow!("cannot install the log: {why}"))?;
    Ok(guard)
}

/// Lines that were not written, as `log.lines` of their kind had been.
static SUPPRESSED: AtomicU64 = AtomicU64::new(0);

/// How many lines were not written since the process began.
pub fn suppressed() -> u64 {
    SUPPRESSED.load(Ordering::Relaxed)
}

/// A name that must not be in the log, as a hash whose key ends with the process: lines about one name can be told to belong together.
pub fn hashed(name: &str) -> String {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    format!("{:016x}", KEY.hash_one(name))
}

/// At most so many lines of one kind, which is a place in the source, in a second. There are a few dozen such places.
struct Rate {
    most: u64,
    written: Mutex<HashMap<Identifier, (Instant, u64)>>,
}

const SECOND: Duration = Duration::from_secs(1);

impl Rate {
    fn new(most: u64) -> Self {
        Self { most, written: Mutex::default() }
    }

    /// Counts a line. False: it is one too many.
    fn take(&self, kind: Identifier, now: Instant) -> bool {
        let mut written = self.written.lock();
        let (since, lines) = written.entry(kind).or_insert((now, 0));
        if now.saturating_duration_since(*since) >= SECOND {
            (*since, *lines) = (now, 0);
        }
        *lines += 1;
        *lines <= self.most
    }
}

impl<S: Subscriber> Layer<S> for Rate {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        let fits = self.take(event.metadata().callsite(), Instant::now());
        if !fits {
            SUPPRESSED.fetch_add(1, Ordering::Relaxed);
        }
        fits
    }
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
    use std::sync::Arc;

    /// What is written, as `fmt` would write it.
    #[derive(Clone, Default)]
    struct Lines(Arc<AtomicU64>);

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, _event: &Event<'_>, _context: Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn str_135_a_flood_of_one_kind_of_line_is_cut_and_other_kinds_are_written() {
        let lines = Lines::default();
        let log = tracing_subscriber::registry().with(lines.clone()).with(Rate::new(10));
        let before = suppressed();
        tracing::subscriber::with_default(log, || {
            for _ in 0..1000 {
                tracing::info!("closed");
            }
            tracing::warn!("other");
        });
        // A second may have passed within the loop.
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
        let (rate, now) = (Rate::new(2), Instant::now());
        let take = |ms| rate.take(METADATA.callsite(), now + Duration::from_millis(ms));
        assert_eq!([0, 0, 0, 999, 1000, 1001, 1002].map(take), [true, true, false, false, true, true, false]);
    }

    #[test]
    fn str_135_a_topic_is_hashed_alike_each_time_and_not_shown() {
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
            assert_eq!(may_be_shown(target, level), shown, "{target} {level}");
        }
    }
}
