//! The Prometheus metrics of a pod. Rule STR-63.
use crate::log;
use crate::relay::Relay;
use parley_access::Access;
use parley_metrics::Families;

/// The metrics of a pod.
pub fn text(relay: &Relay) -> String {
    let mut out = Families::default();
    let count = &relay.counters;
    out.gauge("parley_relay_sockets", "Open WebSockets on topics", relay.clients.count() as u64);
    out.gauge("parley_relay_connections", "TCP connections, before and after the upgrade", relay.addresses.total());
    out.gauge(
        "parley_relay_unauthenticated_sockets",
        "WebSockets that have not sent their token yet",
        relay.access.as_ref().map_or(0, Access::unauthenticated),
    );
    out.gauge("parley_relay_topics", "Topics with a client", relay.topics.count() as u64);
    out.gauge("parley_relay_queued_messages", "Messages that wait in readers' queues", relay.backlog.messages());
    out.gauge("parley_relay_queued_bytes", "Bytes that wait in readers' queues", relay.backlog.bytes());
    out.gauge(
        "parley_relay_replay_bytes",
        "Bytes of messages that topics keep for late subscribers",
        relay.topics.kept().bytes(),
    );
    out.gauge("parley_relay_reassembly_bytes", "Memory of incomplete messages", relay.reassembly.bytes());
    out.gauge("parley_relay_draining", "1 while the pod drains", u64::from(relay.is_draining()));
    out.counter("parley_relay_sockets_opened_total", "WebSockets opened", count.opened.get());
    out.counter("parley_relay_received_messages_total", "Messages from publishers", count.received.get());
    out.counter("parley_relay_received_bytes_total", "Payload from publishers", count.received_bytes.get());
    out.counter("parley_relay_delivered_messages_total", "Deliveries to readers' sockets", count.delivered.get());
    out.counter("parley_relay_delivered_bytes_total", "Payload delivered", count.delivered_bytes.get());
    out.counter("parley_relay_dropped_messages_total", "Messages dropped for slow readers", count.dropped.get());
    out.counter("parley_relay_discarded_messages_total", "Messages sent on /out/ topics", count.discarded.get());
    out.by_code(
        "parley_relay_refusals_total",
        "Refused requests and upgrades",
        count.refused.iter().map(|(code, value)| (code.name(), value)),
    );
    out.by_code(
        "parley_relay_sockets_closed_total",
        "WebSockets that the relay closed",
        count.closed.iter().map(|(code, value)| (code.name(), value)),
    );
    out.counter(
        "parley_relay_log_lines_suppressed_total",
        "Log lines that were suppressed over log.lines",
        log::suppressed(),
    );
    if relay.settings.cluster.is_some() {
        parley_cluster::metrics::write(&mut out, &relay.links);
    }
    if let Some(media) = &relay.media {
        media.collect(&mut out);
    }
    out.text()
}
