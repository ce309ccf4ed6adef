//! The spans of sessions that are part of traced joins, for a collector of OpenTelemetry. Nothing is recorded where the process has no collector
//! (MED-61).
use opentelemetry::global::BoxedSpan;
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
};
use opentelemetry::{Context, KeyValue, global};
use parking_lot::Mutex;
use parley_net::per_second::PerSecond;
use std::time::{Instant, SystemTime};

/// Starts at most `per_second` spans in a second, as a client may open many sessions with one token.
pub(crate) struct Traces {
    per_second: u64,
    started: Mutex<PerSecond>,
}

/// From the first packet of a session until the client can publish and subscribe.
pub(crate) struct SessionSpan(BoxedSpan);

impl Traces {
    pub fn new(per_second: u64) -> Self {
        Self { per_second, started: Mutex::default() }
    }

    /// Starts a span below `parent`, the `traceparent` of a token; `None` if there is none, or there are too many.
    pub fn start(&self, parent: Option<&str>, began: SystemTime) -> Option<SessionSpan> {
        let parent = parent.and_then(read)?;
        self.take(Instant::now()).then(|| {
            let context = Context::new().with_remote_span_context(parent);
            let tracer = global::tracer("parley");
            let builder = tracer.span_builder("media session").with_kind(SpanKind::Server).with_start_time(began);
            SessionSpan(tracer.build_with_context(builder, &context))
        })
    }

    fn take(&self, now: Instant) -> bool {
        self.started.lock().take(self.per_second, now)
    }
}

impl SessionSpan {
    /// The session is open.
    pub fn opened(mut self, transport: &'static str) {
        self.0.set_attribute(KeyValue::new("network.protocol.name", transport));
        self.0.end();
    }

    /// The handshake failed.
    pub fn failed(mut self, code: &'static str) {
        self.0.set_attribute(KeyValue::new("error.type", code));
        self.0.set_status(Status::error(code));
        self.0.end();
    }
}

/// Version 00 of W3C Trace Context, of a sampled trace.
fn read(traceparent: &str) -> Option<SpanContext> {
    let parts: Vec<&str> = traceparent.split('-').collect();
    let ["00", trace, span, "01"] = parts[..] else { return None };
    if (trace.len(), span.len()) != (32, 16) {
        return None;
    }
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let context = SpanContext::new(trace, span, TraceFlags::SAMPLED, true, TraceState::NONE);
    context.is_valid().then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn med_61_a_session_continues_the_trace_of_its_token_only() {
        let context = read(PARENT).unwrap();
        assert_eq!(context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(context.span_id().to_string(), "00f067aa0ba902b7");
        for invalid in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-zbf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert!(read(invalid).is_none(), "{invalid}");
        }
        assert!(Traces::new(1).start(None, SystemTime::now()).is_none());
    }

    #[test]
    fn med_61_a_token_that_opens_many_sessions_starts_media_traces_spans_a_second() {
        let (traces, now) = (Traces::new(2), Instant::now());
        let take = |ms| traces.take(now + Duration::from_millis(ms));
        assert_eq!([0, 0, 0, 999, 1100, 1100, 1100].map(take), [true, true, false, false, true, true, false]);
    }
}
